"""Durations as Spark writes them: ``10s``, ``500ms``, ``1h``; of settings and of providers' params."""

from __future__ import annotations

import re

from sparkconfig._base.late import late
from sparkconfig._base.text import shorten

__all__ = ["milliseconds"]

_WRITTEN = late(r"([0-9]{1,15}) ?([a-z]*)", re.ASCII)
_UNITS = {"us": 0.001, "ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
_MOST_DAYS = 3650
"""Ten years: what is longer is a mistake, and more than a clock can wait for."""


def milliseconds(given: str, low: int = 0) -> int:
    """Read a duration; without a unit it is a number of milliseconds.

    Args:
        given: its text.
        low: the shortest that is allowed, in milliseconds.

    Raises:
        ValueError: it is none, or too short or too long; says what to write.
    """
    shown = shorten(given, 40)
    found = _WRITTEN.fullmatch(given.strip().lower())
    if found is None or (found[2] or "ms") not in _UNITS:
        if re.match(r"\s*-\s*\d", given):
            raise ValueError(f"expected at least {low} ms, got '{shown}'")
        raise ValueError(f"expected a duration such as 500ms, 10s, 5m or 1h, got '{shown}'")
    value = int(int(found[1]) * _UNITS[found[2] or "ms"])
    if value < low:
        meant = "" if found[2] or value <= 0 else f", which is {value} ms: write {value}s if you mean seconds"
        raise ValueError(f"expected at least {low} ms, got '{shown}'{meant}")
    if value > _MOST_DAYS * _UNITS["d"]:
        raise ValueError(f"expected at most {_MOST_DAYS}d, got '{shown}'")
    return value
