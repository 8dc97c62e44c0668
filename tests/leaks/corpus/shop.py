"""What each kind of job gets: a session, secrets, and texts that hold them."""

from __future__ import annotations

import json
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Conf keys under which a job finds its secrets; in clear, or as references.
KEY = re.compile(r"spark\.shop\.(\w+)\.(?:pwd|apikey)")


@dataclass(frozen=True)
class Shop:
    """What a job runs in.

    Attributes:
        spark: a classic session.
        values: secrets by name.
        options: what the job writes into options: references, or the secrets where there are none.
        folder: for checkpoints and tables.
        jdbc: the address of a database whose role ``audit`` has the secret ``awkward`` as password.
        together: how many secrets are in one text.
    """

    spark: Any
    values: dict[str, str]
    options: dict[str, str]
    folder: Path
    jdbc: str
    together: int = 8

    @property
    def texts(self) -> list[str]:
        """All secrets, several in each text, so that pages are many but not endless."""
        values = list(self.values.values())
        return [" | ".join(values[at : at + self.together]) for at in range(0, len(values), self.together)]


def open_shop(spark: Any, folder: Path, jdbc: str, together: int = 8) -> Shop:
    """Find the secrets of an application in its confs."""
    found = {
        match[1]: spark.conf.get(key)
        for key, _ in spark.sparkContext.getConf().getAll()
        if (match := KEY.fullmatch(key))
    }
    values = {name: _part(name, _value(text)) for name, text in sorted(found.items())}
    return Shop(spark, values, found, folder, jdbc, together)


def _part(name: str, value: str) -> str:
    """What a job shows of a value: not always the whole of it."""
    if name == "composed":
        return value.rpartition("password=")[2]
    if name == "document":
        return str(json.loads(value)["password"])
    return value.strip() if name == "trimmed" else value


def _value(text: str) -> str:
    if "${files:" not in text:
        return text
    from sparkconfig._spark.driver import current

    return current(text).reveal()


def sql_literal(text: str) -> str:
    """The inside of a quoted SQL string."""
    return text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")


@contextmanager
def failing() -> Iterator[None]:
    """A part that fails, whose author prints the traceback."""
    try:
        yield
    except Exception:
        traceback.print_exc()
    else:
        sys.stdout.write("UNEXPECTED: a job that should fail did not\n")
        raise AssertionError("this job should have failed")
