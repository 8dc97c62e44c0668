"""A text with its escapes undone, round by round: in one of these forms a value stands as it is.

One round undoes one layer of every kind at once: backslashes (JSON, JavaScript, SQL, Java properties, Python), percent
signs and entities. Linear in the text. The JVM's mirror is ``Canonical.scala``; both read ``redaction.json``.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate

from sparkconfig._base.late import late
from sparkconfig.redaction.data import ENTITIES, ROUNDS

__all__ = ["Form", "forms"]

_OCTET = r"\\x[0-9A-Fa-f]{2}|\\[0-3][0-7]{2}|%[0-9A-Fa-f]{2}"
_BY_SIGN = {
    "\\": (
        r"\\(?:[^uUx0-3%&]|u+[dD][89abAB][0-9A-Fa-f]{2}\\+u+[dD][c-fC-F][0-9A-Fa-f]{2}|u+[0-9A-Fa-f]{4}"
        rf"|U[0-9A-Fa-f]{{8}}|x[0-9A-Fa-f]{{2}}(?:{_OCTET})*|[0-3][0-7]{{2}}(?:{_OCTET})*|(?=.))"
    ),
    "%": rf"%[0-9A-Fa-f]{{2}}(?:{_OCTET})*",
    "&": r"&(?:#(?:[xX]0*[0-9A-Fa-f]{1,6}|0*[0-9]{1,7})|[A-Za-z][A-Za-z0-9]{1,9});",
}
# For the signs of the escapes that a text has: `re` skips fastest what a pattern cannot begin with.
_ESCAPES = {
    signs: late(f"({'|'.join(_BY_SIGN[sign] for sign in signs)})", re.DOTALL)
    for signs in ("\\", "%", "&", "\\%", "\\&", "%&", "\\%&")
}
_OCTETS = late(_OCTET)
_DIGITS = late(r"[uU#xX]+([0-9A-Fa-f]+)")
_LAST_CODE = 0x10FFFF


class Form:
    """A text after some rounds.

    Attributes:
        text: the form.
        before: the form from which it was made; None: it is the text as it came.
    """

    def __init__(
        self, text: str, before: Form | None = None, escaped: Sequence[str] = (), written: Sequence[str] = ()
    ) -> None:
        self.text = text
        self.before = before
        # Pieces of the form before and of this one: a piece without escapes, one escape, and so on.
        self._escaped = escaped
        self._written = written
        self._places: list[int] = []
        self._origins: list[int] = []
        # Where the characters of an escape begin in it: of one that writes many, each may be asked for.
        self._within: dict[int, list[int]] = {}

    def back(self, at: int) -> int:
        """Return where in the form before the character at ``at`` begins, with all that writes it."""
        if not self._places:
            self._origins = list(accumulate(map(len, self._escaped), initial=0))
            self._places = list(accumulate(map(len, self._written), initial=0))
        # The first of several is a backslash that belongs to the character behind it.
        piece = bisect_left(self._places, at)
        if self._places[piece] == at:
            return self._origins[piece]
        piece -= 1
        inner = at - self._places[piece]
        escape = self._escaped[piece]
        if escape != self._written[piece]:
            if piece not in self._within:
                self._within[piece] = [begin for _, begin in _decoded(escape)]
            inner = self._within[piece][inner]
        return self._origins[piece] + inner

    def raw(self, at: int) -> int:
        """Return where in the text as it came the character at ``at`` begins."""
        form = self
        while form.before is not None:
            at, form = form.back(at), form.before
        return at


def forms(text: str) -> Iterator[Form]:
    """Yield the text as it is, and what each round makes of it, until nothing changes."""
    form = Form(text)
    yield form
    for _ in range(ROUNDS):
        signs = "".join([sign for sign in _BY_SIGN if sign in form.text and _ESCAPES[sign].search(form.text)])
        if not signs:
            return
        escaped = _ESCAPES[signs].split(form.text)
        written = escaped[:]
        written[1::2] = map(_written, escaped[1::2])
        following = "".join(written)
        if following == form.text:
            return
        form = Form(following, form, escaped, written)
        yield form


def _written(escape: str) -> str:
    """The characters that an escape stands for; itself: it is none after all."""
    if escape[0] == "\\" and len(escape) <= 2:
        return escape[1:]
    if _OCTETS.match(escape):
        return "".join(char for char, _ in _decoded(escape))
    if escape[0] == "&" and escape[1] != "#":
        return ENTITIES.get(escape[1:-1], escape)
    decimal = escape[0] == "&" and escape[2] not in "xX"
    code, *low = (int(digits, 10 if decimal else 16) for digits in _DIGITS.findall(escape))
    if low:
        code = 0x10000 + ((code - 0xD800) << 10) + low[0] - 0xDC00
    return chr(code) if code <= _LAST_CODE else escape


def _decoded(escape: str) -> list[tuple[str, int]]:
    """Octets as UTF-8, and where each character begins; those that are not, each as the character of its number."""
    octets = [(each[0], each.start()) for each in _OCTETS.finditer(escape)]
    raw = bytes(
        int(octet[1:], 8) if octet[1] in "0123" and octet[0] == "\\" else int(octet[-2:], 16)
        for octet, _ in octets
    )
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
