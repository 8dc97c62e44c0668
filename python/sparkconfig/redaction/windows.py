"""Where known texts may stand in another one, at the speed of C and however many they are.

Of each known text a few neighbouring windows are kept as numbers. Another text is cut into cells of a window's width,
and each of its cells is looked up: one of them is a window of whatever known text stands there. What is found may be
another text of the same letters; the caller compares. A character beyond Latin-1 counts as a question mark.
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
    """Windows of one width. One thread at a time may add or remove; whoever looks need not wait for it.

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
        # Windows that several known texts share at the same place: how many more than one.
        self._more: dict[tuple[int, _Place], int] = {}
        self._same: dict[_Place, _Place] = {}

    def add(self, text: str) -> None:
        """Keep the windows of a text."""
        for number, place in self._windows(text):
            there = self._places.get(number, ())
            if place in there:
                self._more[number, place] = self._more.get((number, place), 0) + 1
            else:
                self._places[number] = (*there, place)

    def remove(self, text: str) -> None:
        """Forget the windows of a text that was added."""
        for number, place in self._windows(text):
            if more := self._more.pop((number, place), 0):
                if more > 1:
                    self._more[number, place] = more - 1
            elif left := tuple(each for each in self._places[number] if each != place):
                self._places[number] = left
            else:
                del self._places[number]

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
    """A byte for each character."""
    return text.encode("latin-1", "replace")
