"""Redaction inside containers."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from sparkconfig.redaction.registry import REGISTRY

__all__ = ["redact_deep"]


def redact_deep(
    value: Any,  # noqa: ANN401 - whatever somebody shows
    *,
    deepest: int | None = None,
    other: Callable[[Any], Any] = lambda each: each,
) -> Any:  # noqa: ANN401
    """Return the same object if no registered value is in it, else a redacted copy.

    Args:
        value: a text, or mappings, lists, tuples and sets with texts in them.
        deepest: containers are searched this deep, deeper ones become the name of their type; None: all are searched.
        other: what becomes of objects that are neither.
    """
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if deepest is not None and deepest < 0:
        return f"<{type(value).__name__}>"
    if isinstance(value, str):
        return REGISTRY.redact(value)

    def inner(each: Any) -> Any:  # noqa: ANN401
        return redact_deep(each, deepest=None if deepest is None else deepest - 1, other=other)

    if isinstance(value, Mapping):
        items = list(value.items())
        pairs = {inner(key): inner(item) for key, item in items}
        old = [part for pair in items for part in pair]
        new = [part for pair in pairs.items() for part in pair]
        same = isinstance(value, dict) and len(new) == len(old) and all(map(operator.is_, new, old))
        return value if same else pairs
    if isinstance(value, (list, tuple, set, frozenset)):
        before = list(value)
        after = [inner(each) for each in before]
        return value if all(map(operator.is_, after, before)) else after
    return other(value)
