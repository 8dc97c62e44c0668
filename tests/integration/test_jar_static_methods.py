"""SQL's ``reflect`` calls public static methods by name: the jars have none that it could call."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.shim import all_jars
from support.static_methods import callable_from_sql

# What statements may call, each with the reason why it tells and changes nothing. Today: nothing at all.
HARMLESS: dict[str, str] = {}


def jars() -> list[Path]:
    return all_jars()


@pytest.mark.spark
def test_no_static_method_takes_only_what_sql_can_make() -> None:
    found = {f"{method.label}{method.descriptor}" for jar in jars() for method in callable_from_sql(jar)}
    assert sorted(found - HARMLESS.keys()) == []
