"""Where needles stand in a text: one look at the text as it is, and forms only of a text that may hold one.

A needle is found by an anchor, a window of letters and digits in it. Adding a needle touches its own entries alone;
searches go on meanwhile and take no lock. The JVM's mirror is ``Search.scala``.
"""

from __future__ import annotations

import re
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator

from sparkconfig.redaction.canonical import Form, forms, has_escapes, hides_letters
from sparkconfig.redaction.data import BEGINNING
from sparkconfig.redaction.forms import Needle, worth_registering
from sparkconfig.redaction.masking import in_mask, joined

__all__ = ["OF_ENCODINGS", "Search"]

_LONG, _SHORT = 8, 4
_RUNS = re.compile(r"[^\W_]{4,}")
# A list of bytes: its numbers have too few digits for an anchor.
_LISTS = re.compile(r"-?[0-9A-F]{1,3}(?:(?:, ?| )-?[0-9A-F]{1,3}){7,}")
_NUMBERS = 12
# So few anchors are looked for one by one.
_FEW = 40
_FEW_LISTS = 200
# Of a longer needle the first windows are enough to choose from.
_CHOICE = 256
_ELLIPSIS = re.compile("\\.{3,}|\u2026")
#: Signs that may stand beside a match of an encoding.
OF_ENCODINGS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")

# Where a piece may be the beginning of a needle: needles in order, by their first characters.
_START = 3
# An insertion of another thread may move what is looked at.
_MOVED = 16
# An anchor with more needles than this is exchanged for a shorter one with fewer.
_CROWD = 8

_Table = dict[str, list[Needle]]


class Search:
    """Needles, and where they stand in texts. One thread at a time may add or remove; searches need not wait for it.

    Attributes:
        longest: the length of the longest needle so far.
    """

    def __init__(self) -> None:
        self._known: dict[Needle, tuple[_Table, str]] = {}
        self._uses: dict[Needle, int] = {}
        self._long: _Table = {}
        self._short: _Table = {}
        self._lists: _Table = {}
        self._bare: _Table = {}
        self._starts: dict[str, list[str]] = {}
        self._shown_whole: dict[str, list[str]] = {}
        self.longest = 0

    def __len__(self) -> int:
        return len(self._known)

    def add(self, needle: Needle) -> None:
        """Look for one more needle; one that is added twice is removed twice."""
        self._uses[needle] = self._uses.get(needle, 0) + 1
        if needle in self._known:
            return
        table, anchor = self._place(needle.text)
        self.longest = max(self.longest, len(needle.text))
        for starts in (self._starts, self._shown_whole) if needle.whole else (self._starts,):
            for width in range(1, _START):
                starts.setdefault(needle.text[:width], [])
            insort(starts.setdefault(needle.text[:_START], []), needle.text)
        table.setdefault(anchor, []).append(needle)
        self._known[needle] = table, anchor

    def remove(self, needle: Needle) -> None:
        """Look for one needle less, unless it was added once more."""
        self._uses[needle] -= 1
        if self._uses[needle]:
            return
        del self._uses[needle]
        table, anchor = self._known.pop(needle)
        # Searches may be reading the old list.
        left = [each for each in table[anchor] if each != needle]
        if left:
            table[anchor] = left
        else:
            del table[anchor]
        for starts in (self._starts, self._shown_whole) if needle.whole else (self._starts,):
            starts[needle.text[:_START]].remove(needle.text)

    def begins(self, piece: str, *, whole: bool = False) -> bool:
        """Whether a needle begins with this piece; ``whole``: one that is not an encoding."""
        starts = self._shown_whole if whole else self._starts
        texts = starts.get(piece[:_START])
        if texts is None or len(piece) < _START:
            return texts is not None
        at = bisect_left(texts, piece)
        return any(text.startswith(piece) for text in texts[at : at + _MOVED])

    def find(self, text: str) -> list[tuple[int, int]]:
        """Return where needles stand: starts and ends in order, none within a mask."""
        found = list(self.matches(text))
        return found and [span for span in joined(found) if not in_mask(text, *span)]

    def matches(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where needles stand, in any order, several times perhaps."""
        cut = "..." in text or "\u2026" in text
        if not has_escapes(text):
            form = Form(text)
            yield from self._in(form)
            if cut:
                yield from self._cut_short(form)
        elif cut or self._bare or hides_letters(text) or any(self._hit(text)):
            for form in forms(text):
                for start, end in self._in(form):
                    yield form.raw(start), form.raw(end)
                for start, end in self._cut_short(form) if cut else ():
                    yield form.raw(start), form.raw(end)

    def _place(self, text: str) -> tuple[_Table, str]:
        best: tuple[_Table, str] | None = None
        crowd = 0
        for width, table in ((_LONG, self._long), (_SHORT, self._short)):
            for anchor in _windows(_RUNS.findall(text[:_CHOICE]), width):
                there = len(table.get(anchor, ()))
                if best is None or there < crowd:
                    best, crowd = (table, anchor), there
            if best is not None and crowd < _CROWD:
                break
        if best is not None:
            return best
        return (self._lists, text[:_NUMBERS]) if _LISTS.match(text) else (self._bare, text)

    def _hit(self, text: str) -> Iterator[Needle]:
        """The needles with an anchor in this text."""
        runs: set[str] | None = None
        for width, table in ((_LONG, self._long), (_SHORT, self._short)):
            if len(table) <= _FEW:
                anchors: Iterable[str] = [anchor for anchor in list(table) if anchor in text]
            else:
                runs = set(_RUNS.findall(text)) if runs is None else runs
                anchors = _windows(runs, width) & table.keys()
            for anchor in anchors:
                yield from table.get(anchor, ())
        if len(self._lists) <= _FEW_LISTS:
            for anchor in [anchor for anchor in list(self._lists) if anchor in text]:
                yield from self._lists.get(anchor, ())
        else:
            for region in _LISTS.findall(text):
                for at in range(len(region) - _NUMBERS + 1):
                    yield from self._lists.get(region[at : at + _NUMBERS], ())
        for anchor in list(self._bare):
            yield from self._bare.get(anchor, ())

    def _in(self, form: Form) -> Iterator[tuple[int, int]]:
        text = form.text
        for needle in dict.fromkeys(self._hit(text)):
            if needle.head and form.before is None:
                continue
            length = len(needle.text)
            at = text.find(needle.text)
            while at >= 0:
                start, end = at, at + length
                if needle.encoded:
                    start -= start > 0 and text[start - 1] in OF_ENCODINGS
                    end += end < len(text) and text[end] in OF_ENCODINGS
                if not needle.head or _behind(form, at, needle.head):
                    yield start, end
                at = text.find(needle.text, at + 1)

    def _cut_short(self, form: Form) -> Iterator[tuple[int, int]]:
        """Beginnings of values before an ellipsis: tables, frames and plans show long texts so."""
        last = 0
        for ellipsis in _ELLIPSIS.finditer(form.text):
            end = ellipsis.end() - (1 if ellipsis[0] == "\u2026" else 3)
            for at in range(max(last, end - BEGINNING["within"]), end - BEGINNING["least"] + 1):
                piece = form.text[at:end]
                if self.begins(piece, whole=True) and worth_registering(piece):
                    yield at, end
                    break
            last = ellipsis.end()


def _windows(runs: Iterable[str], width: int) -> set[str]:
    return {run[at : at + width] for run in runs for at in range(len(run) - width + 1)}


def _behind(form: Form, at: int, head: str) -> bool:
    """Whether ``head`` stood before the character at ``at`` in an earlier form, and an escape has taken it."""
    while form.before is not None:
        at, form = form.back(at), form.before
        if form.text.endswith(head, 0, at):
            return True
    return False
