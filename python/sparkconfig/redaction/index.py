"""Where the writings of values stand in a text: found by windows of letters and digits, then read through escapes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import chain

from sparkconfig.redaction.data import FLOOR
from sparkconfig.redaction.masking import in_mask, joined
from sparkconfig.redaction.patterns import Pattern, worth_registering
from sparkconfig.redaction.readings import ESCAPES, Budget, Readings, is_plain
from sparkconfig.redaction.views import Numbers, open_list, open_pairs, views

__all__ = ["Index"]

_WINDOW = 4
# Nanoseconds: searching a text for one needle, for each of its characters (longer needles are found faster), and
# looking up each window of a text.
_SEARCH, _SEARCH_CHAR, _SEARCH_CHAR_SHARE, _LOOK_UP_CHAR = 40.0, 0.06, 2.4, 200.0
_NEEDLE_LIMIT = 40
# The shortest encoded value, with the signs by which some encoders write those of base64.
_RUNS = re.compile(r"[A-Za-z0-9+/=_\\%&#;-]{10,}")
_CHUNK = 1 << 20
# Tables and plans cut values; this far before an ellipsis their beginnings are looked for.
_ELLIPSIS = re.compile("\\.{3,}|\u2026")
_CUT_LIMIT = 200


_Anchors = dict[str, list[tuple[Pattern, int]]]


class Index:
    """Immutable: patterns by the window of letters and digits that anchors each; encodings apart from plain texts."""

    def __init__(self, plain: _Anchors, encoded: _Anchors, bare: list[Pattern]) -> None:
        self._plain = plain
        self._encoded = encoded
        self._bare = bare  # without such a window

    def __bool__(self) -> bool:
        return bool(self._plain or self._encoded or self._bare)

    @cached_property
    def _needles(self) -> list[tuple[str, Pattern, int]]:
        """The longest run of letters and digits of each pattern, and where in the pattern it begins."""
        anchored = chain.from_iterable([*self._plain.values(), *self._encoded.values()])
        return [(run, pattern, at) for pattern, _ in anchored for run, at in (_longest_run(pattern.text),)]

    @cached_property
    def _needle_cost(self) -> float:
        return sum(_SEARCH_CHAR + _SEARCH_CHAR_SHARE / len(needle) for needle, _, _ in self._needles)

    def extended(self, patterns: Iterable[Pattern]) -> Index:
        """Return an index of these patterns too; this one stays as it is."""
        plain, encoded, bare = dict(self._plain), dict(self._encoded), list(self._bare)
        own: set[tuple[bool, str]] = set()
        for pattern in patterns:
            windows = _windows(pattern.text)
            if not windows:
                bare.append(pattern)
                continue
            kind = bool(pattern.alphabet)
            anchors = encoded if kind else plain
            offset, window = min(windows, key=lambda found: len(anchors.get(found[1], ())))
            if (kind, window) not in own:
                own.add((kind, window))
                anchors[window] = list(anchors.get(window, ()))
            anchors[window].append((pattern, offset))
        return Index(plain, encoded, bare)

    def find(self, text: str) -> list[tuple[int, int]]:
        """Return where patterns stand: starts and ends in order, none within a mask."""
        budget = Budget.of(text)
        found = self.matches(text, budget)
        for view, positions in views(text):
            found += [(positions[start], positions[end]) for start, end in self.matches(view, budget)]
        if "..." in text or "\u2026" in text:
            found += self._cut_short(text, budget)
        return found and [span for span in joined(found) if not in_mask(text, *span)]

    def beginning(self, text: str) -> tuple[int, int]:
        """How many of the last characters could be the beginning of a value, or of one before an ellipsis.

        Those of an encoding that may go on count too, and those of bytes that are written as numbers.

        Returns:
            Besides, how many more characters an encoding at the end may have: they need not be searched one by one.
        """
        if not self:
            return 0, 0
        unfinished = self._unfinished(text)
        going_on = max((len(text) - start for start, _ in unfinished), default=0)
        waiting = max(self._beginning(text), going_on, self._numbered(text))
        dots = len(text) - len(text.rstrip("."))
        if 0 < dots < len("...") and (before := self._beginning(text[:-dots])) >= FLOOR:
            waiting = max(waiting, before + dots)
        return waiting, max((left for _, left in unfinished), default=0)

    def _beginning(self, text: str) -> int:
        starts, heads, signs, longest = self._starts
        readings = Readings(text, Budget.of(text))
        end = len(text)
        for at in range(max(0, end - longest), end):
            if end - at < _WINDOW and text[at:] in heads:
                return end - at
            waiting = [
                each for width in range(1, _WINDOW + 1) for each in starts.get(text[at : at + width], ())
            ]
            if text[at] in ESCAPES:
                waiting += signs
            if any(readings.may_begin(each, at) for each in waiting):
                return end - at
        return 0

    def _unfinished(self, text: str) -> list[tuple[int, int]]:
        """Where encodings begin that the end of ``text`` cuts, and how many characters each of them still has."""
        found: list[tuple[int, int]] = []
        if self._open:
            self._open.matches(text, Budget.of(text), found)
        return found

    def _numbered(self, text: str) -> int:
        """How many are bytes written as numbers among which a value may have begun."""
        for numbers in (open_list(text), open_pairs(text)):
            if numbers and (start := self._begun(numbers, len(text))) < len(text):
                return len(text) - start
        return 0

    def _begun(self, numbers: Numbers, end: int) -> int:
        letters, positions, torn, cut, radix = numbers
        going_on = max((len(letters) - start for start, _ in self._unfinished(letters)), default=0)
        if waiting := max(self._beginning(letters), going_on):
            return positions[len(letters) - waiting]
        firsts, beginnings = self._firsts
        if torn and any(first.startswith(torn) for first in firsts):
            return positions[-1]
        return end - len(cut) if cut in beginnings[radix] else end

    @cached_property
    def _firsts(self) -> tuple[set[bytes], dict[int, set[str]]]:
        """The first characters of texts in UTF-8, and the beginnings of their first bytes as numbers."""
        starts, _, signs, _ = self._starts
        firsts = {text[0].encode("utf-8", "surrogatepass") for text in chain(starts, signs)}
        octets = {first[0] for first in firsts}
        numbers = {str(each) for octet in octets for each in (octet, octet - 256) if each >= -128}
        digits = {f"{octet:x}"[:1] for octet in octets if octet > 0xF}
        return firsts, {
            10: {number[:width] for number in numbers for width in range(1, len(number))} | numbers,
            16: digits | {digit.upper() for digit in digits},
        }

    @cached_property
    def _open(self) -> Index:
        """Of the patterns that are the beginnings of encodings."""
        encoded = chain.from_iterable(self._encoded.values())
        return Index({}, {}, []).extended(pattern for pattern, _ in encoded if pattern.rest)

    def _cut_short(self, text: str, budget: Budget) -> Iterator[tuple[int, int]]:
        """Beginnings of values before an ellipsis: tables, frames and plans show long texts so."""
        starts = self._starts[0]
        for ellipsis in _ELLIPSIS.finditer(text):
            end = ellipsis.end() - (1 if ellipsis[0] == "\u2026" else 3)
            base = max(0, end - _CUT_LIMIT)
            piece = text[base:end]
            budget.spend(len(piece) // 4)
            readings = Readings(piece, budget)
            # Whichever are fewer: what values begin with, or the places where they may begin.
            if len(starts) < _CUT_LIMIT:
                places = sorted((at, key) for key in starts for at in _occurrences(key, piece))
            else:
                places = [(at, piece[at : at + n]) for at in range(len(piece)) for n in range(1, _WINDOW + 1)]
            for at, key in places:
                if len(piece) - at >= FLOOR and any(
                    readings.may_begin(each, at, least=FLOOR, open_end=False) for each in starts.get(key, ())
                ):
                    if worth_registering(piece[at:]):
                        yield base + at, end
                    break

    @cached_property
    def _starts(self) -> tuple[dict[str, list[str]], set[str], list[str], int]:
        """Texts by their first letters, the beginnings of those, texts that begin with a sign, the longest length."""
        anchored = chain.from_iterable([*self._plain.values(), *self._encoded.values()])
        every = {pattern.text for pattern, _ in anchored} | {pattern.text for pattern in self._bare}
        starts: dict[str, list[str]] = {}
        for text in every:
            width = 1
            while is_plain(text[0]) and width < min(_WINDOW, len(text)) and is_plain(text[width]):
                width += 1
            starts.setdefault(text[:width], []).append(text)
        heads = {key[:width] for key in starts for width in range(1, len(key))}
        signs = [text for text in every if not is_plain(text[0])]
        # Each character may be written as six.
        return starts, heads, signs, 6 * max(map(len, every), default=0)

    def _places(self, text: str) -> Iterator[tuple[Pattern, int, int]]:
        """Where patterns may stand: each with an offset in it, and the place of that in ``text``."""
        if len(self._needles) * _SEARCH + self._needle_cost * len(text) <= _LOOK_UP_CHAR * len(text):
            for needle, pattern, offset in self._needles:
                if needle in text:
                    for at in _occurrences(needle, text):
                        yield pattern, offset, at
            return
        # An encoded value is an unbroken run; there are few of these in most texts.
        runs = "\n".join(_RUNS.findall(text))
        for anchors, where in ((self._plain, text), (self._encoded, runs)):
            for window in _looked_up(anchors, where) if where else ():
                for at in _occurrences(window, text):
                    for pattern, offset in anchors[window]:
                        yield pattern, offset, at

    def matches(
        self, text: str, budget: Budget, unfinished: list[tuple[int, int]] | None = None
    ) -> list[tuple[int, int]]:
        """Return where patterns stand in the text as it is, in any order.

        Args:
            text: what is searched.
            budget: what that may cost.
            unfinished: takes the encodings that the end of the text cuts: where each begins, and how many characters
                it still has.

        Raises:
            ScanOverloadError: the budget is spent.
        """
        readings = Readings(text, budget)
        found: list[tuple[int, int]] = []
        done: dict[int, int] = {}
        reached: dict[int, tuple[int, int]] = {}
        for pattern, offset, at in self._places(text):
            if at < done.get(id(pattern), 0):
                continue  # no other match of the same pattern can begin here
            if span := _verify(readings, pattern, offset, at):
                start, end = span
                if pattern.alphabet:
                    start -= start > 0 and text[start - 1] in pattern.alphabet
                    end += end < len(text) and text[end] in pattern.alphabet
                if pattern.rest:
                    core, last = reached.get(id(pattern), (0, 0))
                    # Where two matches share what follows, it is looked at once.
                    from_, left = (last, span[1] - core) if span[1] <= last else (span[1], pattern.rest + 1)
                    end, left = readings.run(pattern.alphabet, from_, left)
                    reached[id(pattern)] = span[1], end
                    if unfinished is not None and left and readings.is_cut(end):
                        unfinished.append((start, left))
                found.append((start, end))
                done[id(pattern)] = at + _shift(pattern.text)
        for pattern in self._bare:
            found.extend(_search_bare(readings, text, pattern.text))
        return found


def _occurrences(needle: str, text: str) -> Iterator[int]:
    at = text.find(needle)
    while at >= 0:
        yield at
        at = text.find(needle, at + 1)


def _looked_up(anchors: _Anchors, text: str) -> set[str]:
    """The windows that occur in ``text``: all of its own are made, and looked up."""
    grams: set[str] = set()
    for start in range(0, len(text), _CHUNK):
        chunk = text[start : start + _CHUNK + _WINDOW]
        grams.update(map("".join, zip(chunk, chunk[1:], chunk[2:], chunk[3:], strict=False)))
        grams &= anchors.keys()
    return grams


def _longest_run(text: str) -> tuple[str, int]:
    """The longest run of letters and digits, at most so long as a longer one is not found faster; and its place."""
    best = start = 0
    length = 0
    for index, char in enumerate(text):
        if not is_plain(char):
            start = index + 1
        elif index + 1 - start > length:
            best, length = start, index + 1 - start
            if length == _NEEDLE_LIMIT:
                break
    return text[best : best + length], best


def _windows(text: str) -> list[tuple[int, str]]:
    windows = []
    run = 0
    for index, char in enumerate(text[:512]):
        run = run + 1 if is_plain(char) else 0
        if run >= _WINDOW:
            at = index - _WINDOW + 1
            windows.append((at, text[at : index + 1]))
    return windows


def _verify(readings: Readings, pattern: Pattern, offset: int, at: int) -> tuple[int, int] | None:
    end = readings.match_right(pattern.text, offset + _WINDOW, at + _WINDOW)
    start = readings.match_left(pattern.text, offset, at) if end >= 0 else -1
    return (start, end) if start >= 0 else None


def _shift(text: str) -> int:
    """How far behind one match of ``text`` the next may begin: before its end if its end is its beginning too.

    A text that repeats itself within its half counts as one that does not, which keeps the search linear.
    """
    # The length of the longest end of each beginning that is a beginning of the whole.
    borders = [0] * len(text)
    for index in range(1, len(text)):
        border = borders[index - 1]
        while border and text[border] != text[index]:
            border = borders[border - 1]
        borders[index] = border + (text[border] == text[index])
    return max(len(text) - borders[-1], (len(text) + 1) // 2)


def _search_bare(readings: Readings, text: str, value: str) -> Iterable[tuple[int, int]]:
    starts = {value[0]} if is_plain(value[0]) else {value[0], "\\", "&", "%", "+"}
    for at, char in enumerate(text):
        if char in starts:
            end = readings.match_right(value, 0, at)
            if end >= 0:
                yield at, end
