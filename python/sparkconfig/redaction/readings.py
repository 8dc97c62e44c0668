"""Reading one character of a text in every way an encoder may have written it.

The same rules as ``Readings.scala``: raw, after a backslash (JSON, JavaScript, SQL, Java properties, Python), as an
entity (XML, HTML) or percent-encoded, in stacks of layers. ASCII letters and digits are always raw: no encoder in
use rewrites them.
"""

from __future__ import annotations

import re
from functools import cache
from html.entities import name2codepoint

from sparkconfig.redaction.data import ENTITIES, STEPS, STEPS_PER_CHARACTER

__all__ = ["ESCAPES", "Budget", "Readings", "ScanOverloadError", "is_plain"]

#: Layers of escapes that are read; Spark's pages stack three.
DEPTH = 4
#: The longest writing of one character that is looked for leftwards.
WIDEST = 64
#: The longest beginning of an escape that waits for its rest at the end of a text.
_LONGEST_CUT = 12
#: Readings that are remembered at once.
_MOST_KNOWN = 1 << 15
#: Readings of one character that are followed at once; more add nothing but work.
CAP = 48

#: What every escape begins with.
ESCAPES = "\\&%"
_CONTROLS = {"n": 0x0A, "r": 0x0D, "t": 0x09, "b": 0x08, "f": 0x0C, "v": 0x0B, "a": 0x07}
_NAMES = {**ENTITIES, **{name: chr(code) for name, code in name2codepoint.items()}}
#: Signs that a language writes twice inside a quoted text: SQL, CSV, identifiers, ODBC.
_DOUBLED = "'\"`}]"
#: What no encoder rewrites is compared at once: values may have thousands of such characters.
_PLAIN_RUN = re.compile("[A-Za-z0-9]+")
#: How shells write a quote inside quotes.
_SHELL_QUOTES = ("'\"'\"'", "'\\''")


class ScanOverloadError(Exception):
    """A text would cost more than linear time; its sink shows a notice instead of the text."""


class Budget:
    """The work that one scan may do, in character steps; keeps hostile texts linear."""

    def __init__(self, steps: int) -> None:
        self._left = steps

    @classmethod
    def of(cls, text: str) -> Budget:
        """Return the budget of ``text``."""
        return cls(STEPS + STEPS_PER_CHARACTER * len(text))

    def spend(self, steps: int) -> None:
        """Take ``steps`` away; raises ScanOverloadError when none are left."""
        self._left -= steps
        if self._left < 0:
            raise ScanOverloadError("redaction gave up on a hostile text")


@cache
def _run_of(alphabet: frozenset[str]) -> re.Pattern[str]:
    return re.compile(f"[{re.escape(''.join(sorted(alphabet)))}]+")


def is_plain(char: str) -> bool:
    """Whether no encoder rewrites ``char``."""
    return char.isascii() and char.isalnum()


class Readings:
    """The readings of one text."""

    def __init__(self, text: str, budget: Budget) -> None:
        self._text = text
        self._length = len(text)
        self._budget = budget
        # Layers ask the same again and again: of a run of backslashes, each for all behind it.
        self._known: dict[tuple[int, str, int], set[int]] = {}

    def match_right(self, value: str, start: int, at: int) -> int:
        """Match ``value[start:]`` from ``at`` on; return the furthest end in the text, or -1."""
        now = {at}
        index = start
        while index < len(value):
            following: set[int] = set()
            if run := _PLAIN_RUN.match(value, index):
                plain = run.group()
                following = {
                    position + len(plain) for position in now if self._text.startswith(plain, position)
                }
                index = run.end()
            else:
                char = value[index]
                for position in now:
                    following |= self._ends(position, char, DEPTH)
                    if char in _DOUBLED and 0 < index < len(value) - 1:
                        self._doubled(following, char, self._ends)
                index += 1
            self._budget.spend(len(now))
            if not following:
                return -1
            now = set(sorted(following)[:CAP])
        return max(now)

    def may_begin(self, value: str, at: int, *, least: int = 1, open_end: bool = True) -> bool:
        """Whether the text from ``at`` to its end could be the beginning of ``value``, in any writing.

        Args:
            value: what may begin there.
            at: where in the text.
            least: the fewest characters of it.
            open_end: whether the text goes on: then its last escape may be cut too.
        """
        now = {at}
        for index, char in enumerate(value):
            if self._length in now:
                return index >= least
            # How the letters of a value are escaped is not looked at here.
            if open_end and not is_plain(char) and any(self._is_cut_escape(position) for position in now):
                return True
            following: set[int] = set()
            for position in now:
                if is_plain(char):
                    if self._text.startswith(char, position):
                        following.add(position + 1)
                else:
                    following |= self._ends(position, char, DEPTH)
                    if char in _DOUBLED and 0 < index < len(value) - 1:
                        self._doubled(following, char, self._ends)
            self._budget.spend(len(now))
            if not following:
                return False
            now = set(sorted(following)[:CAP])
        return False

    def run(self, alphabet: frozenset[str], at: int, most: int) -> tuple[int, int]:
        """Follow characters of an alphabet, its signs in any writing.

        Returns:
            Where they end in the text, and how many of ``most`` are left.
        """
        signs = [char for char in alphabet if not is_plain(char)]
        while most and at < self._length:
            if self._text[at] in alphabet:
                found = _run_of(alphabet).match(self._text, at, min(self._length, at + most))
                following = found.end() if found else at
                at, most = following, most - (following - at)
            else:
                escaped = self._text[at] in ESCAPES and max(
                    (end for sign in signs for end in self._ends(at, sign, DEPTH)), default=0
                )
                if not escaped:
                    break
                at, most = escaped, most - 1
        return at, most

    def is_cut(self, at: int) -> bool:
        """Whether the text ends at ``at``, or with an escape that begins there and may go on."""
        return at == self._length or self._is_cut_escape(at)

    def _is_cut_escape(self, at: int) -> bool:
        if self._length - at > _LONGEST_CUT or self._text[at : at + 1] not in tuple(ESCAPES):
            return False
        return all(is_plain(char) or char in "\\&%#;" for char in self._text[at:])

    def match_left(self, value: str, until: int, at: int) -> int:
        """Match ``value[:until]`` ending at ``at``; return the earliest start in the text, or -1."""
        now = {at}
        for index in range(until - 1, -1, -1):
            char = value[index]
            before: set[int] = set()
            for position in now:
                if is_plain(char):
                    if position and self._text[position - 1] == char:
                        before.add(position - 1)
                else:
                    before |= self._starts(position, char, DEPTH)
                    if char in _DOUBLED and 0 < index < len(value) - 1:
                        self._doubled(before, char, self._starts)
            self._budget.spend(len(now))
            if not before:
                return -1
            now = set(sorted(before)[-CAP:])
        return min(now)

    def _doubled(self, found: set[int], char: str, step: object) -> None:
        """A quote inside a text is written twice; at a value's own ends the second may close the text."""
        fresh = set(found)
        while fresh and len(found) < CAP:
            more: set[int] = set()
            for position in fresh:
                more |= step(position, char, DEPTH)  # type: ignore[operator]
            fresh = more - found
            found |= more

    def _starts(self, end: int, char: str, depth: int) -> set[int]:
        return {
            start
            for start in range(max(0, end - WIDEST), end)
            if (start == end - 1 or self._text[start] in ESCAPES or self._text[start] == char == "'")
            and end in self._ends(start, char, depth)
        }

    def _ends(self, at: int, char: str, depth: int) -> set[int]:
        """Every position at which a reading of ``char`` that starts at ``at`` ends; the caller keeps it as it is."""
        place = (at, char, depth)
        found = self._known.get(place)
        if found is None:
            found = self._read(at, char, depth)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[place] = found
        return found

    def _read(self, at: int, char: str, depth: int) -> set[int]:
        found: set[int] = set()
        if not 0 <= at < self._length:
            return found
        self._budget.spend(1)
        first = self._text[at]
        if first == char:
            found.add(at + 1)
        if depth == 0:
            return found
        if char in " '":
            found |= self._peculiar(at, char, depth)
        # Whatever the layers, the outermost one was written raw, so an encoding starts with one of these.
        if first in ESCAPES:
            for position in self._ends(at, "\\", depth - 1):
                found |= self._after_backslash(position, char, depth)
            for position in self._ends(at, "&", depth - 1):
                found |= self._after_ampersand(position, char, depth)
            for position in self._ends(at, "%", depth - 1):
                found |= self._percent_bytes(position, char.encode("utf-8", "surrogatepass"), depth)
                if "\x80" <= char <= "\xff" and self._number(position, 2, 16) == ord(char):
                    found.add(position + 2)
        return found

    def _peculiar(self, at: int, char: str, depth: int) -> set[int]:
        """Form encoding writes a blank as a plus; shells leave their quotes to write one."""
        if char == " ":
            return self._ends(at, "+", depth - 1)
        if depth < DEPTH:
            return set()
        return {at + len(written) for written in _SHELL_QUOTES if self._text.startswith(written, at)}

    def _after_backslash(self, at: int, char: str, depth: int) -> set[int]:
        found = set(self._ends(at, char, depth - 1))
        letter = self._text[at : at + 1]
        code = ord(char)
        if letter and _CONTROLS.get(letter) == code:
            found.add(at + 1)
        if letter == "u":
            found |= self._after_u(at, code, depth)
        if letter == "x" and self._number(at + 1, 2, 16) == code:
            found.add(at + 3)
        if letter == "U" and self._number(at + 1, 8, 16) == code:
            found.add(at + 9)
        if letter and letter in "0123" and self._number(at, 3, 8) == code:
            found.add(at + 3)
        if code >= 0x80 and letter and letter in "x23":
            found |= self._escaped_bytes(at, char.encode("utf-8", "surrogatepass"), depth)
        return found

    def _escaped_bytes(self, at: int, octets: bytes, depth: int) -> set[int]:
        r"""UTF-8 as ``\xNN`` or octal: Python's bytes, protobuf's texts."""
        now = {at}
        for index, octet in enumerate(octets):
            now = {position + 3 for position in now if self._octet(position) == octet}
            if index < len(octets) - 1:
                now = {end for position in now for end in self._ends(position, "\\", depth - 1)}
        return now

    def _after_u(self, at: int, code: int, depth: int) -> set[int]:
        digits = at + 1
        while self._text.startswith("u", digits):
            digits += 1
        if code < 0x10000:
            return {digits + 4} if self._number(digits, 4, 16) == code else set()
        high, low = divmod(code - 0x10000, 0x400)
        if self._number(digits, 4, 16) != 0xD800 + high:
            return set()
        return {
            position + 5
            for position in self._ends(digits + 4, "\\", depth - 1)
            if self._text.startswith("u", position) and self._number(position + 1, 4, 16) == 0xDC00 + low
        }

    def _after_ampersand(self, at: int, char: str, depth: int) -> set[int]:
        found: set[int] = set()
        word = self._word(at)
        if word:
            if _NAMES.get(word) == char or (word == "nbsp" and char == " "):
                found |= self._ends(at + len(word), ";", depth - 1)
            return found
        for position in self._ends(at, "#", depth - 1):
            word = self._word(position)
            digits, radix = (word[1:], 16) if word[:1] in ("x", "X") else (word, 10)
            if digits and len(digits) <= 7 and _parse(digits, radix) == ord(char):
                found |= self._ends(position + len(word), ";", depth - 1)
        return found

    def _octet(self, at: int) -> int:
        if self._text.startswith("x", at):
            return self._number(at + 1, 2, 16)
        return self._number(at, 3, 8)

    def _percent_bytes(self, at: int, octets: bytes, depth: int) -> set[int]:
        now = {at}
        for index, octet in enumerate(octets):
            now = {position + 2 for position in now if self._number(position, 2, 16) == octet}
            if index < len(octets) - 1:
                now = {end for position in now for end in self._ends(position, "%", depth - 1)}
        return now

    def _word(self, at: int) -> str:
        end = at
        while end < min(self._length, at + 10) and is_plain(self._text[end]):
            end += 1
        return self._text[at:end]

    def _number(self, at: int, digits: int, radix: int) -> int:
        piece = self._text[at : at + digits]
        return _parse(piece, radix) if len(piece) == digits else -1


def _parse(digits: str, radix: int) -> int:
    # int() also reads signs, underscores and other scripts' digits.
    if not all(is_plain(digit) for digit in digits):
        return -1
    try:
        return int(digits, radix)
    except ValueError:
        return -1
