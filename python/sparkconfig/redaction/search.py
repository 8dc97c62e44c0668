"""Where needles stand in a text and in each of its forms.

Adding a needle touches its own entries alone; searches go on meanwhile and take no lock. The JVM's mirror is
``Search.scala``.
"""

from __future__ import annotations

from collections.abc import Iterator

from sparkconfig.redaction.beginnings import Beginnings
from sparkconfig.redaction.canonical import Form, forms
from sparkconfig.redaction.data import BEGINNING, ELLIPSES
from sparkconfig.redaction.forms import Needle, worth_registering
from sparkconfig.redaction.masking import in_mask, joined
from sparkconfig.redaction.windows import Windows, raw

__all__ = ["OF_ENCODINGS", "Search"]

#: Signs that may stand beside a match of an encoding.
OF_ENCODINGS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")


class Search:
    """Needles, and where they stand in texts. One thread at a time may add or remove; searches need not wait for it.

    Attributes:
        beginnings: of all needles.
    """

    def __init__(self) -> None:
        self._needles: dict[str, tuple[Needle, ...]] = {}
        # Needles that several values have: how many more than one.
        self._more: dict[Needle, int] = {}
        # The longer a window, the fewer cells are looked up, and the fewer of them are found in vain.
        self._windows = [Windows(8, 8), Windows(8, 4), Windows(4, 4), Windows(4, 1), Windows(1, 1)]
        self._used: list[Windows] = []
        self.beginnings = Beginnings()
        self._of_whole = Beginnings()

    def __len__(self) -> int:
        return len(self._needles)

    def add(self, needle: Needle) -> None:
        """Look for one more needle; one that is added twice is removed twice."""
        text = needle.text
        there = self._needles.get(text, ())
        if needle in there:
            self._more[needle] = self._more.get(needle, 0) + 1
            return
        if needle.whole:
            self._of_whole.add(text)
        self._needles[text] = (*there, needle)
        if not there:
            self.beginnings.add(text)
            windows = self._windows_for(text)
            windows.add(text)
            if windows not in self._used:
                self._used.append(windows)

    def remove(self, needle: Needle) -> None:
        """Look for one needle less, unless it was added once more."""
        text = needle.text
        if more := self._more.pop(needle, 0):
            if more > 1:
                self._more[needle] = more - 1
            return
        if needle.whole:
            self._of_whole.remove(text)
        left = tuple(each for each in self._needles[text] if each != needle)
        if left:
            self._needles[text] = left
        else:
            del self._needles[text]
            self.beginnings.remove(text)
            self._windows_for(text).remove(text)

    def find(self, text: str) -> list[tuple[int, int]]:
        """Return where needles stand: starts and ends in order, none within a mask."""
        found = []
        for form in forms(text):
            found += [(form.raw(start), form.raw(end)) for start, end in self._in(form)]
            found += [(form.raw(start), form.raw(end)) for start, end in self._cut_short(form.text)]
        return found and [span for span in joined(found) if not in_mask(text, *span)]

    def _windows_for(self, text: str) -> Windows:
        return next(windows for windows in self._windows if windows.least <= len(text))

    def _in(self, form: Form) -> Iterator[tuple[int, int]]:
        text = form.text
        for first, last in form.fresh(self.beginnings.longest):
            letters = raw(text[first:last])
            for windows in self._used:
                for at, length in windows.find(letters):
                    start, end = first + at, first + at + length
                    for needle in self._needles.get(text[start:end], ()):
                        if needle.head and not _behind(form, start, needle.head):
                            continue
                        if needle.tail and not _before(form, end, needle.tail):
                            continue
                        if needle.encoded:
                            yield (
                                start - (start > 0 and text[start - 1] in OF_ENCODINGS),
                                end + (end < len(text) and text[end] in OF_ENCODINGS),
                            )
                        else:
                            yield start, end

    def _cut_short(self, text: str) -> Iterator[tuple[int, int]]:
        """Beginnings of values before an ellipsis: tables, frames and plans show long texts so."""
        last = 0
        for end, behind in _ellipses(text):
            first = max(last, end - BEGINNING["within"])
            for at in self._of_whole.starts(text[first:end], BEGINNING["least"]):
                if worth_registering(text[first + at : end]):
                    yield first + at, end
                    break
            last = behind


def _ellipses(text: str) -> Iterator[tuple[int, int]]:
    """Starts and ends in order; of a row of dots the last three count."""
    found = []
    for sign in ELLIPSES:
        end = 0
        while (start := text.find(sign, end)) >= 0:
            end = start + len(sign)
            while text.startswith(sign[0], end):
                end += 1
            found.append((end - len(sign), end))
    yield from sorted(found)


def _behind(form: Form, at: int, head: str) -> bool:
    """Whether ``head`` stood before a character, or in what writes it, in an earlier form: an escape has taken it."""
    last = at
    while form.before is not None:
        at, last, form = form.back(at), form.back(last + 1) - 1, form.before
        if head in form.text[max(0, at - len(head)) : last]:
            return True
    return False


def _before(form: Form, at: int, tail: str) -> bool:
    """Whether ``tail`` began what writes the character at ``at``: with what follows, it is an escape."""
    while form.before is not None:
        at, form = form.back(at), form.before
        if form.text.startswith(tail, at):
            return True
    return False
