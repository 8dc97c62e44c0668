"""Where known texts may stand in another one, at the speed of C and however many they are.

Of each known text a few neighbouring windows are kept as numbers. Another text is cut into cells of a window's width,
and each of its cells is looked up: one of them is a window of whatever known text stands there. What is found may be
another text of the same letters; the caller compares.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Literal

__all__ = ["Windows"]

_FORMATS: dict[int, Literal["B", "I", "Q"]] = {1: "B", 4: "I", 8: "Q"}
# Of a long text so many places are compared, and the one whose letters differ most is taken.
_CHOICES = 8

# How far into a known text a window begins, and how long that text is.
_Place = tuple[int, int]


class Windows:
    """Windows of one width. One thread at a time may add; whoever looks need not wait for it.

    Args:
        width: of a window: 1, 4 or 8 characters.
        step: windows that begin so many places apart are looked up, and so many of each known text are kept.

    Attributes:
        least: the length of the shortest text that may be added.
    """

    def __init__(self, width: int, step: int) -> None:
        self.least = width + step - 1
        self._width = width
        self._step = step
        self._places: dict[int, tuple[_Place, ...]] = {}
        self._same: dict[_Place, _Place] = {}

    def add(self, text: str) -> None:
        """Keep the windows of a text."""
        for number, place in self._windows(text):
            there = self._places.get(number, ())
            if place not in there:
                self._places[number] = (*there, place)

    def find(self, raw: bytes) -> Iterator[tuple[int, int]]:
        """Yield where known texts may stand in what :func:`raw` makes of a text, and how long they are."""
        places = self._places
        if not places:
            return
        view, width = memoryview(raw), self._width
        for shift in range(0, width, self._step):
            end = len(raw) - (len(raw) - shift) % width
            if end <= shift:
                return
            cells = view[shift:end].cast(_FORMATS[width])
            if places.keys().isdisjoint(cells):
                continue
            for at, number in enumerate(cells):
                for offset, length in places.get(number, ()):
                    start = shift + at * width - offset
                    if 0 <= start <= len(raw) - length:
                        yield start, length

    def _windows(self, text: str) -> Iterator[tuple[int, _Place]]:
        letters = raw(text)
        last = len(letters) - self.least
        first = max(
            range(0, last + 1, last // _CHOICES + 1), key=lambda at: len(set(letters[at : at + self.least]))
        )
        for offset in range(first, first + self._step):
            place = offset, len(letters)
            yield (
                int.from_bytes(letters[offset : offset + self._width], sys.byteorder),
                self._same.setdefault(place, place),
            )


def raw(text: str) -> bytes:
    """A byte for each character: the last of its number, or whole scripts would look alike."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode("utf-32-le", "surrogatepass")[::4]
