"""Other readings of a whole text: where letters and digits themselves are escaped, or bytes are written as numbers.

The same rules as ``Views.scala``. A view has the position in the text of each of its characters, and of its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

__all__ = ["Numbers", "open_list", "open_pairs", "views"]

# Escapes of ASCII letters and digits; an introducer may be escaped itself. Each begins with a sign of its own, which
# is what makes the search fast where there is none. Of a run of backslashes the last one is looked for: each of them
# would look at all behind it.
_ESCAPES = {
    "\\": re.compile(
        r"\\(?:u+00([3-7][0-9A-Fa-f])|U000000([3-7][0-9A-Fa-f])|x([3-7][0-9A-Fa-f])|(?P<octal>[01][0-7]{2}))"
    ),
    "%": re.compile(r"%(?:25)*([3-7][0-9A-Fa-f])"),
    "&": re.compile(r"&(?:amp;)*#(?:[xX]0*([3-7][0-9A-Fa-f])|0*(?P<decimal>[0-9]{2,3}));"),
}
_SIGNS = tuple(_ESCAPES.items())
_NUMBERS = re.compile(r"\[-?[0-9]{1,3}(?:, ?-?[0-9]{1,3}){7,}")
# A stream has shown the beginning of the list, or of its number, before.
_LATER_NUMBERS = re.compile(r"[, ]{0,2}-?[0-9]{1,3}(?:, ?-?[0-9]{1,3}){7,}")
_NUMBER = re.compile(r"-?[0-9]+")
_COLONS = re.compile(r":[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}:")
_PAIRS = re.compile(r"(?<![0-9A-Fa-f])[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){7,}(?![0-9A-Fa-f])")
_PAIR = re.compile(r"[0-9A-Fa-f]{2}")
# What a text ends with while it is written. What is longer than this does not wait for its end.
_LONGEST_OPEN = 1 << 14
_OPEN_LIST = re.compile(r"[, ]{0,2}((?:-?[0-9]{1,3}, ?)*)(-?[0-9]{0,3})")
_LISTED = re.compile(r"(-?[0-9]+), ?")
_CUT_PAIR = re.compile(r":([0-9A-Fa-f]{0,2})\Z")


class Numbers(NamedTuple):
    """Bytes at the end of a text, written as numbers, that may go on.

    Attributes:
        letters: what they are in UTF-8.
        positions: where in the text each of them begins, and what follows them.
        torn: bytes behind them that are the beginning of a character.
        cut: the beginning of one more number.
        radix: of the numbers.
    """

    letters: str
    positions: list[int]
    torn: bytes
    cut: str
    radix: int


def views(text: str) -> Iterable[tuple[str, list[int]]]:
    """The views of ``text`` that may hold what the text itself does not; nearly always none."""
    if "[" in text or _COLONS.search(text) or _LATER_NUMBERS.match(text):
        return _views(text)
    for sign, pattern in _SIGNS:
        if sign in text and pattern.search(text):
            return _views(text)
    return ()


def open_list(text: str) -> Numbers | None:
    """The list of bytes at the end of ``text`` that may go on; None: there is none."""
    start = len(text.rstrip("0123456789, -"))
    if start and text[start - 1] != "[":
        return None
    least = len(text) - _LONGEST_OPEN
    if start < least and (start := text.find(",", least) + 1) == 0:
        return None
    found = _OPEN_LIST.fullmatch(text, start)
    if found is None or found.start(2) == len(text) == start:
        return None
    # A number of three digits is whole.
    cut = found[2] if len(found[2].lstrip("-")) < 3 else ""
    until = found.start(2) if cut else len(text)
    octets = [(int(each[1]), each.start(), each.end(1)) for each in _LISTED.finditer(text, start, until)]
    if found[2] and not cut:
        octets.append((int(found[2]), found.start(2), len(text)))
    if not all(-128 <= number <= 255 for number, _, _ in octets):
        return None
    return _open([(number & 255, first, end) for number, first, end in octets], until, cut, 10)


def open_pairs(text: str) -> Numbers | None:
    """The pairs of hexadecimal digits at the end of ``text``, of which the last may be cut; None: there are none."""
    found = _CUT_PAIR.search(text, max(0, len(text) - 3))
    if found is None:
        return None
    until = first = found.start(1)
    least = len(text) - _LONGEST_OPEN
    while first >= max(3, least) and text[first - 1] == ":" and _PAIR.fullmatch(text, first - 3, first - 1):
        first -= 3
    if first and text[first - 1] in "0123456789abcdefABCDEF":
        first += 3
    if first >= until:
        return None
    starts = [*range(first, until, 3), *([until] if len(found[1]) == 2 else [])]
    cut = found[1] if len(found[1]) == 1 else ""
    octets = [(int(text[start : start + 2], 16), start, start + 2) for start in starts]
    return _open(octets, len(text) - len(cut), cut, 16)


def _open(octets: list[tuple[int, int, int]], until: int, cut: str, radix: int) -> Numbers:
    torn = _torn(bytes(octet for octet, _, _ in octets))
    whole = octets[: len(octets) - len(torn)]
    letters, positions = _decoded(whole) if whole else ("", [until])
    positions[-1] = octets[len(whole)][1] if torn else until
    return Numbers(letters, positions, torn, cut, radix)


def _torn(octets: bytes) -> bytes:
    """The last bytes, if they are the beginning of a character in UTF-8."""
    for count in range(1, min(3, len(octets)) + 1):
        if octets[-count] & 0xC0 != 0x80:
            return octets[-count:] if _width(octets[-count]) > count else b""
    return b""


def _width(lead: int) -> int:
    return 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


def _views(text: str) -> Iterator[tuple[str, list[int]]]:
    if view := _unescaped(text):
        yield view
    later = _LATER_NUMBERS.match(text)
    for region in [*([later] if later else []), *(_NUMBERS.finditer(text) if "[" in text else ())]:
        numbers = [
            (int(n[0]), region.start() + n.start(), region.start() + n.end())
            for n in _NUMBER.finditer(region[0])
        ]
        if all(-128 <= number <= 255 for number, _, _ in numbers):
            yield _decoded([(number & 255, start, end) for number, start, end in numbers])
    if _COLONS.search(text):
        for region in _PAIRS.finditer(text):
            yield _decoded(
                [(int(n[0], 16), region.start() + n.start(), region.start() + n.end())
                 for n in _PAIR.finditer(region[0])]
            )  # fmt: skip


def _unescaped(text: str) -> tuple[str, list[int]] | None:
    """The text with its escaped letters and digits in clear; None: it has none. Other escapes stay."""
    escapes = sorted(
        (found.start(), found.end(), char)
        for sign, pattern in _ESCAPES.items()
        if sign in text
        for found in pattern.finditer(text)
        if (char := _escaped(found))
    )
    if not escapes:
        return None
    out: list[str] = []
    positions: list[int] = []
    at = 0
    for start, end, char in escapes:
        first = start
        while first > at and text[first - 1] == text[start] == "\\":
            first -= 1
        out += [text[at:first], char]
        positions += range(at, first + 1)
        at = end
    out.append(text[at:])
    positions += range(at, len(text) + 1)
    return "".join(out), positions


def _escaped(found: re.Match[str]) -> str:
    """The letter or digit of an escape; empty if it is another character."""
    digits, kind = found[found.lastindex or 0], found.lastgroup
    char = chr(int(digits, 8 if kind == "octal" else 10 if kind == "decimal" else 16))
    return char if char.isascii() and char.isalnum() else ""


def _decoded(octets: list[tuple[int, int, int]]) -> tuple[str, list[int]]:
    """The text that bytes are in UTF-8; each has its start and its end."""
    raw = bytes(octet for octet, _, _ in octets)
    out: list[str] = []
    positions: list[int] = []
    at = 0
    while at < len(raw):
        width = _width(raw[at])
        try:
            char = raw[at : at + width].decode("utf-8")
        except UnicodeDecodeError:
            char, width = "\ufffd", 1
        out.append(char)
        positions += [octets[at][1]] * len(char)
        at += width
    return "".join(out), [*positions, octets[-1][2]]
