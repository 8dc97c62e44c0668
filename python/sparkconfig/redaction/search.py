"""Where needles stand in a text and in each of its forms.

Adding a needle touches its own entries alone; searches go on meanwhile and take no lock. The JVM's mirror is
``Search.scala``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sparkconfig.redaction.beginnings import Beginnings
from sparkconfig.redaction.canonical import Form, forms
from sparkconfig.redaction.data import BEGINNING, ELLIPSES
from sparkconfig.redaction.forms import Needle, worth_registering
from sparkconfig.redaction.masking import joined
from sparkconfig.redaction.windows import Windows, raw

__all__ = ["OF_ENCODINGS", "Search"]

#: Signs that may stand beside a match of an encoding.
OF_ENCODINGS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")


class Search:
    """Needles, and where they stand in texts. One thread at a time may add; searches need not wait for it.

    Args:
        values: the first ones.

    Attributes:
        pending: values without needles: who shows a text makes these, and no use waits for them.
        beginnings: of all needles.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        self.pending = dict.fromkeys(values)
        self._needles: dict[str, tuple[Needle, ...]] = {}
        # The longer a window, the fewer cells are looked up, and the fewer of them are found in vain.
        self._windows = [Windows(8, 8), Windows(8, 4), Windows(4, 4), Windows(4, 1), Windows(1, 1)]
        self._used: list[Windows] = []
        self.beginnings = Beginnings()
        self._of_whole = Beginnings()

    def add(self, needle: Needle) -> None:
        """Look for one more needle."""
        text = needle.text
        there = self._needles.get(text, ())
        if needle in there:
            return
        if needle.whole:
            self._of_whole.add(text)
        if not there:
            self.beginnings.add(text)
            windows = next(each for each in self._windows if each.least <= len(text))
            windows.add(text)
            if windows not in self._used:
                self._used.append(windows)
        # At last: a needle that could not be added as a whole is added again.
        self._needles[text] = (*there, needle)

    def find(self, text: str) -> list[tuple[int, int]]:
        """Return where needles stand: starts and ends in order."""
        found = []
        for form in forms(text):
            found += [(form.raw(start), form.raw(end)) for start, end in self._in(form)]
            found += [(form.raw(start), form.raw(end)) for start, end in self._cut_short(form.text)]
        return joined(found)

    def _in(self, form: Form) -> Iterator[tuple[int, int]]:
        text = form.text
        letters = raw(text)
        for windows in self._used:
            for start, length in windows.find(letters):
                end = start + length
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
    """Whether ``tail`` stood in what writes the character at ``at``: with what follows, it is an escape."""
    end = min(at + 1, len(form.text))
    while form.before is not None:
        at, end, form = form.back(at), form.back(end), form.before
        if tail in form.text[at : end + len(tail) - 1]:
            return True
    return False
