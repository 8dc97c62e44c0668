"""Name patterns: ``*`` stands for any text. Matched in time linear in the name, by hand."""

from __future__ import annotations

__all__ = ["Pattern"]


class Pattern:
    """A pattern such as ``spark.sql.*`` or ``fs.*.key``.

    Attributes:
        text: the pattern as it was given.
        exact: whether it holds no ``*``.
        weight: how specific it is: the number of characters that are not ``*``.
        prefix: the text before the first ``*``.
    """

    __slots__ = ("_parts", "exact", "prefix", "text", "weight")

    def __init__(self, text: str) -> None:
        self.text = text
        self._parts = text.split("*")
        self.exact = len(self._parts) == 1
        self.weight = sum(map(len, self._parts))
        self.prefix = self._parts[0]

    def matches(self, name: str) -> bool:
        """Whether the whole of ``name`` fits."""
        parts = self._parts
        if len(parts) == 1:
            return name == self.text
        first, last = parts[0], parts[-1]
        if len(name) < len(first) + len(last) or not name.startswith(first) or not name.endswith(last):
            return False
        position, end = len(first), len(name) - len(last)
        for part in parts[1:-1]:
            found = name.find(part, position, end)
            if found < 0:
                return False
            position = found + len(part)
        return True

    def __repr__(self) -> str:
        return f"Pattern({self.text!r})"
