"""A text with its escapes undone, round by round: in one of these forms a value stands as it is.

One round undoes one layer of every kind at once: backslashes (JSON, JavaScript, SQL, Java properties, Python), percent
signs and entities. Linear in the text. The JVM's mirror is ``Canonical.scala``; both read ``redaction.json``.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sparkconfig.redaction.data import ENTITIES, ROUNDS

__all__ = ["Form", "forms", "has_escapes", "hides_letters"]

_SIGN = re.compile(r"[\\%&]")
# What may write a letter, a digit, or the sign of another escape: only then a value's letters may not stand there raw.
_HIDING = re.compile(
    r"\\(?:[uUx]|[0-3][0-7]{2})|%(?:2[56]|3[0-9]|4[1-9A-Fa-f]|5[0-9AaCc]|6[1-9A-Fa-f]|7[0-9Aa]|[89A-Fa-f])"
    r"|&(?!lt;|gt;|quot;|apos;|nbsp;)[A-Za-z#\\]"
)
_ESCAPE = re.compile(
    r"\\(?:(?P<backslash>\\)|u+(?P<high>[dD][89abAB][0-9A-Fa-f]{2})\\+u+(?P<low>[dD][c-fC-F][0-9A-Fa-f]{2})"
    r"|u+(?P<unit>[0-9A-Fa-f]{4})|U(?P<code>[0-9A-Fa-f]{8}))"
    r"|(?P<octets>(?:\\x[0-9A-Fa-f]{2}|\\[0-3][0-7]{2}|%[0-9A-Fa-f]{2})+)"
    r"|&(?:#(?:[xX]0*(?P<hex>[0-9A-Fa-f]{1,6})|0*(?P<decimal>[0-9]{1,7}))|(?P<name>[A-Za-z][A-Za-z0-9]{1,9}));"
    r"|(?P<quoting>\\)(?=.)",
    re.DOTALL,
)
_OCTET = re.compile(r"\\x([0-9A-Fa-f]{2})|\\([0-3][0-7]{2})|%([0-9A-Fa-f]{2})")
_LAST_CODE = 0x10FFFF


class Form(NamedTuple):
    """A text after some rounds.

    Attributes:
        text: the form.
        before: the form from which it was made; None: it is the text as it came.
        places: where in this form pieces begin that stand in the one before without a gap, in order.
        origins: where each of them begins in the form before.
    """

    text: str
    before: Form | None = None
    places: Sequence[int] = ()
    origins: Sequence[int] = ()

    def back(self, at: int) -> int:
        """Return where in the form before the character at ``at`` begins, with all that writes it."""
        piece = bisect_right(self.places, at) - 1
        return at if piece < 0 else self.origins[piece] + at - self.places[piece]

    def raw(self, at: int) -> int:
        """Return where in the text as it came the character at ``at`` begins."""
        form = self
        while form.before is not None:
            at, form = form.back(at), form.before
        return at


def has_escapes(text: str) -> bool:
    """Whether a round could change the text."""
    return _SIGN.search(text) is not None


def hides_letters(text: str) -> bool:
    """Whether letters or digits of a value may be written as something else."""
    return _HIDING.search(text) is not None


def forms(text: str) -> Iterator[Form]:
    """Yield the text as it is, and what each round makes of it, until nothing changes."""
    form = Form(text)
    yield form
    for _ in range(ROUNDS):
        if not has_escapes(form.text):
            return
        following = _round(form)
        if following is None:
            return
        form = following
        yield form


def _round(form: Form) -> Form | None:
    text = form.text
    out: list[str] = []
    places: list[int] = []
    origins: list[int] = []
    at = length = 0
    quoted = False
    for found in _ESCAPE.finditer(text):
        start, end = found.span()
        written = _written(found)
        if written is None:
            continue
        if start > at:
            if quoted:  # the character belongs to its backslash
                places.append(length + 1)
                origins.append(at + 1)
            out.append(text[at:start])
            length += start - at
            quoted = False
        at = end
        for char, origin in written:
            if not quoted:
                places.append(length)
                origins.append(origin)
            quoted = not char
            out.append(char)
            length += len(char)
        if not quoted:
            places.append(length)
            origins.append(end)
    if not places:
        return None
    if quoted:
        places.append(length + 1)
        origins.append(at + 1)
    out.append(text[at:])
    return Form("".join(out), form, places, origins)


def _written(found: re.Match[str]) -> list[tuple[str, int]] | None:
    """The characters of one escape, and where each begins; None: it is no escape after all."""
    kind, start = found.lastgroup, found.start()
    if kind == "quoting":
        return [("", start)]
    if kind == "octets":
        return _decoded(found)
    if kind == "backslash":
        char: str | None = "\\"
    elif kind == "low":
        high, low = int(found["high"], 16), int(found["low"], 16)
        char = chr(0x10000 + ((high - 0xD800) << 10) + low - 0xDC00)
    elif kind == "name":
        char = ENTITIES.get(found["name"])
    else:
        code = int(found[kind or 0], 10 if kind == "decimal" else 16)
        char = chr(code) if 0 < code <= _LAST_CODE else None
    return None if char is None else [(char, start)]


def _decoded(found: re.Match[str]) -> list[tuple[str, int]]:
    """Octets as UTF-8; those that are not, each as the character of its number."""
    octets = [
        (int(each[2], 8) if each[2] else int(each[1] or each[3], 16), each.start())
        for each in _OCTET.finditer(found.string, found.start(), found.end())
    ]
    raw = bytes(octet for octet, _ in octets)
    out: list[tuple[str, int]] = []
    at = 0
    while at < len(raw):
        width = 1 if raw[at] < 0xC0 else 2 if raw[at] < 0xE0 else 3 if raw[at] < 0xF0 else 4
        try:
            char = raw[at : at + width].decode("utf-8")
        except UnicodeDecodeError:
            char, width = chr(raw[at]), 1
        out.append((char, octets[at][1]))
        at += width
    return out
