"""What 0.1.0 had and is gone: each name gives an error that says what to write, and no value."""

from __future__ import annotations

import pytest

from sparkconfig._base.gone import GONE
from sparkconfig.errors import ConfigurationError
from sparkconfig.providers.registry import find_class
from sparkconfig.settings.schema import parse

VALUE = "gone-canary-77"


@pytest.mark.parametrize("name", [name for name in GONE if not name.startswith(("--", "command "))])
def test_each_names_its_successor(name: str) -> None:
    """Commands and their options: tests/unit/cli/test_usage.py."""
    alias, _, param = name.partition(".")
    param, _, text = param.partition("=")

    def ask() -> None:
        if name.startswith("spark."):
            parse({name: VALUE})
        find_class(alias.removeprefix("provider "))().configure({param: text or VALUE})

    with pytest.raises(ConfigurationError) as caught:
        ask()
    assert GONE[name] in str(caught.value)
    assert VALUE not in str(caught.value)
