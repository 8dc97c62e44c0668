"""What a stream holds back: the end of a text that could be the beginning of a value, or of an escape.

The JVM's mirror is ``Tail.scala``.
"""

from __future__ import annotations

from sparkconfig._base.late import late
from sparkconfig.redaction.canonical import forms
from sparkconfig.redaction.data import BEGINNING, LONGEST_CUT_ESCAPE, LONGEST_TAIL
from sparkconfig.redaction.search import OF_ENCODINGS, Search

__all__ = ["tail"]

_CUT_ESCAPE = late(rf"[\\%&][A-Za-z0-9#;\\%&]{{0,{LONGEST_CUT_ESCAPE - 1}}}\Z")
_CUT_ELLIPSIS = late(r"(?<!\.)\.{1,2}\Z")


def tail(search: Search, text: str) -> int:
    """Return how many of the last characters wait for what comes next."""
    end = text[-LONGEST_TAIL:]
    begun = cut.start() if (cut := _CUT_ESCAPE.search(end)) else len(end)
    ends = [end, *(end[:at] for at in range(begun, len(end)) if end[at] in "\\%&")]
    start = min(_start(search, each) for each in ends)
    # A sign of an encoding beside a needle belongs to it.
    start -= 0 < start < len(end) and end[start - 1] in OF_ENCODINGS
    return len(end) - start


def _start(search: Search, text: str) -> int:
    start = len(text)
    for form in forms(text):
        start = min(start, form.raw(_begun(search, form.text)))
        if dots := _CUT_ELLIPSIS.search(form.text):
            begun = _begun(search, form.text[: dots.start()])
            if dots.start() - begun >= BEGINNING["least"]:
                start = min(start, form.raw(begun))
    return start


def _begun(search: Search, text: str) -> int:
    """Where the longest end of a text begins that is the beginning of a needle; half a character waits as well."""
    end = len(text) - ("\ud800" <= text[-1:] <= "\udbff")
    return next(search.beginnings.starts(text[:end]), end)
