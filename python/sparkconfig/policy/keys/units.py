"""Spark's sizes, times and numbers, as values that can be compared.

Read as Spark reads them (``JavaUtils.byteStringAs`` and ``timeStringAs``): ``8g``, ``512m``, ``30s``; a plain
number has the unit of its key: ``spark.executor.memory=4096`` is 4 GiB, ``spark.network.timeout=120`` two minutes.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

from sparkconfig.policy.keys.keys import canonical, default_units, fold

__all__ = ["KINDS", "Unit", "parse_number", "unit_named", "unit_of"]

_SIZES = {
    "b": 1,
    "k": 1 << 10,
    "kb": 1 << 10,
    "kib": 1 << 10,
    "m": 1 << 20,
    "mb": 1 << 20,
    "mib": 1 << 20,
    "g": 1 << 30,
    "gb": 1 << 30,
    "gib": 1 << 30,
    "t": 1 << 40,
    "tb": 1 << 40,
    "tib": 1 << 40,
    "p": 1 << 50,
    "pb": 1 << 50,
    "pib": 1 << 50,
}
# In microseconds.
_TIMES = {
    "us": 1,
    "ms": 1000,
    "s": 1_000_000,
    "m": 60_000_000,
    "min": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
}

KINDS = {"size": _SIZES, "time": _TIMES}
_NUMBER = re.compile(r"[+-]?[0-9]{1,30}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,2})?")
_QUANTITY = re.compile(r"([+-]?[0-9]{1,30}(?:\.[0-9]{1,30})?)\s{0,3}([a-z]{1,3})?")
_ALIASES = {
    "bytes": ("size", "b"),
    "milliseconds": ("time", "ms"),
    "seconds": ("time", "s"),
    "minutes": ("time", "min"),
}


class Unit(NamedTuple):
    """How a quantity is read: ``kind`` is ``size``, ``time`` or ``number``; ``default`` is a plain number's unit."""

    kind: str
    default: str = ""

    def parse(self, text: str) -> Decimal | None:
        """The quantity in base units (bytes, microseconds), or None if the text is not a quantity."""
        if self.kind == "number":
            return parse_number(text)
        found = _QUANTITY.fullmatch(text.strip().lower())
        factor = None if found is None else KINDS[self.kind].get(found[2] or self.default)
        return None if found is None or factor is None else Decimal(found[1]) * factor


def parse_number(text: str) -> Decimal | None:
    """A decimal number, or None; not NaN, not Infinity, nothing that takes long to compute with."""
    stripped = text.strip()
    return Decimal(stripped) if _NUMBER.fullmatch(stripped) else None


def unit_named(name: str) -> Unit | None:
    """The unit that a policy names: ``number``, ``b`` .. ``pib``, ``ms``, ``s``, ``min``, ``h``, ``d``."""
    word = name.strip().lower()
    if word == "number":
        return Unit("number")
    if word in _ALIASES:
        return Unit(*_ALIASES[word])
    if word == "m":  # a minute or a mebibyte
        return None
    for kind, table in KINDS.items():
        if word in table:
            return Unit(kind, word)
    return None


def unit_of(key: str) -> Unit | None:
    """The unit in which Spark itself reads ``key``, or None if Spark knows no unit for it."""
    word = default_units().get(fold(key)) or default_units().get(fold(canonical(key)))
    return None if word is None else unit_named(word)
