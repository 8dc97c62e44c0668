"""Which ends of a text are the beginning of a known text."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator

__all__ = ["Beginnings"]

# Known texts are in order, by their first characters.
_FIRST = 4
# An insertion of another thread may move what is looked at.
_MOVED = 16


class Beginnings:
    """Known texts. One thread at a time may add; whoever looks need not wait for it.

    Attributes:
        longest: the length of the longest one so far.
    """

    def __init__(self) -> None:
        self._known: dict[str, list[str]] = {}
        self._short: set[str] = set()
        self.longest = 0

    def add(self, text: str) -> None:
        """Add a text that is not known."""
        self.longest = max(self.longest, len(text))
        insort(self._known.setdefault(text[:_FIRST], []), text)
        self._short.update(text[:width] for width in range(1, _FIRST))

    def starts(self, text: str, least: int = 1) -> Iterator[int]:
        """Yield from where on ``text``, of which at least so much is left, is a beginning; the first one first."""
        end, known = len(text), self._known
        for at in range(max(0, end - self.longest), end - max(least, _FIRST) + 1):
            if text[at : at + _FIRST] in known and self._begins(text[at:]):
                yield at
        for at in range(max(0, end - _FIRST + 1), end - least + 1):
            if text[at:] in self._short:
                yield at

    def _begins(self, piece: str) -> bool:
        texts = self._known.get(piece[:_FIRST], [])
        at = bisect_left(texts, piece)
        return any(text.startswith(piece) for text in texts[at : at + _MOVED])
