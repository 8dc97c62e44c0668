"""Other readings of a whole text: where letters and digits themselves are escaped, or bytes are written as numbers.

The same rules as ``Views.scala``. A view has the position in the text of each of its characters, and of its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

__all__ = ["open_list", "open_pairs", "views"]

_FEWEST = 8
# Escapes of ASCII letters and digits; an introducer may be escaped itself. Each begins with a sign of its own, which
# is what makes the search fast where there is none.
_ESCAPES = {
    "\\": re.compile(
        r"\\\\*(?:u+00([3-7][0-9A-Fa-f])|U000000([3-7][0-9A-Fa-f])|x([3-7][0-9A-Fa-f])|(?P<octal>[01][0-7]{2}))"
    ),
    "%": re.compile(r"%(?:25)*([3-7][0-9A-Fa-f])"),
    "&": re.compile(r"&(?:amp;)*#(?:[xX]0*([3-7][0-9A-Fa-f])|0*(?P<decimal>[0-9]{2,3}));"),
}
_SIGNS = tuple(_ESCAPES.items())
_NUMBERS = re.compile(r"\[-?[0-9]{1,3}(?:, ?-?[0-9]{1,3}){7,}")
_NUMBER = re.compile(r"-?[0-9]+")
_COLONS = re.compile(r":[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}:")
_PAIRS = re.compile(r"(?<![0-9A-Fa-f])[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){7,}(?![0-9A-Fa-f])")
_PAIR = re.compile(r"[0-9A-Fa-f]{2}")
# What a text ends with while it is written. What is longer than this does not wait for its end.
_LONGEST_OPEN = 1 << 14
_OPEN_LIST = re.compile(r"\[((?:-?[0-9]{1,3}, ?)*)-?[0-9]{0,3}\Z")
_CUT_PAIR = re.compile(r":([0-9A-Fa-f]{0,2})\Z")


def views(text: str) -> Iterable[tuple[str, list[int]]]:
    """The views of ``text`` that may hold what the text itself does not; nearly always none."""
    if "[" in text or _COLONS.search(text):
        return _views(text)
    for sign, pattern in _SIGNS:
        if sign in text and pattern.search(text):
            return _views(text)
    return ()


def open_list(text: str) -> int:
    """Where a list of bytes begins that the end of ``text`` does not close; -1: there is none."""
    at = text.rfind("[", max(0, len(text) - _LONGEST_OPEN))
    found = _OPEN_LIST.match(text, at) if at >= 0 else None
    return at if found and all(-128 <= int(number) <= 255 for number in _NUMBER.findall(found[1])) else -1


def open_pairs(text: str) -> tuple[str, list[int]] | None:
    """The view of the pairs at the end of ``text``, of which the last may be cut; None: there are none."""
    cut = _CUT_PAIR.search(text, max(0, len(text) - 3))
    if cut is None:
        return None
    until = first = cut.start(1)
    least = len(text) - _LONGEST_OPEN
    while first >= max(3, least) and text[first - 1] == ":" and _PAIR.fullmatch(text, first - 3, first - 1):
        first -= 3
    if first and text[first - 1] in "0123456789abcdefABCDEF":
        first += 3
    if first >= until:
        return None
    starts = [*range(first, until, 3), *([until] if len(cut[1]) == 2 else [])]
    return _decoded([(int(text[start : start + 2], 16), start, start + 2) for start in starts])


def _views(text: str) -> Iterator[tuple[str, list[int]]]:
    if view := _unescaped(text):
        yield view
    if "[" in text:
        for region in _NUMBERS.finditer(text):
            numbers = [(int(n[0]), region.start() + n.start(), region.start() + n.end())
                       for n in _NUMBER.finditer(region[0])]  # fmt: skip
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
        out += [text[at:start], char]
        positions += range(at, start + 1)
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
        lead = raw[at]
        width = 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
        try:
            char = raw[at : at + width].decode("utf-8")
        except UnicodeDecodeError:
            char, width = "\ufffd", 1
        out.append(char)
        positions += [octets[at][1]] * len(char)
        at += width
    return "".join(out), [*positions, octets[-1][2]]
