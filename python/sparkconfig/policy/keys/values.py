"""Values as text, and when two texts mean the same to Spark."""

from __future__ import annotations

import numbers
import re
from decimal import Decimal

from sparkconfig.policy.keys.units import Unit, parse_number
from sparkconfig.secret import Secret

__all__ = ["NotText", "looks_secret", "same", "text_of"]

_SECRET_NAME = re.compile(
    r"(secret|passw|token|credential|api.?key|access.?key|private.?key|account.?key|jaas|sas\b)",
    re.IGNORECASE,
)


class NotText(Exception):  # noqa: N818 - a signal between two modules, not an error that users see
    """The value is not text and has no text form that Spark would give it."""


def text_of(value: object) -> str | None:
    """The text that Spark would hold for ``value``; None for null.

    Raises:
        NotText: the value is a list, a map or another object.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Secret):
        return value.reveal()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, numbers.Number) and isinstance(value, int | float | Decimal):
        return str(value)
    raise NotText


def same(left: str, right: str, unit: Unit | None) -> bool:
    """Whether Spark would read both texts as one value: blanks around, ``TRUE``, ``010``, ``1g`` = ``1024m``."""
    left, right = left.strip(), right.strip()
    if left == right:
        return True
    if right.lower() in ("true", "false"):
        return left.lower() == right.lower()
    if unit is not None:
        ours, theirs = unit.parse(left), unit.parse(right)
        return ours is not None and ours == theirs
    numbers_ = parse_number(left), parse_number(right)
    return numbers_[0] is not None and numbers_[0] == numbers_[1]


def looks_secret(name: str) -> bool:
    """Whether values under this name should not even be hinted at by quoting what a policy allows."""
    return _SECRET_NAME.search(name) is not None
