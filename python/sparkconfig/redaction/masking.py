"""What replaces values, and how it is put there."""

from __future__ import annotations

__all__ = ["MASK", "WITHHELD", "joined", "replace"]

#: What replaces a value; Spark's own.
MASK = "*********(redacted)"
#: What replaces a text that could not be searched.
WITHHELD = "*********(redacted: this text could not be searched for secrets and is withheld)"


def joined(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sort matches (start, end), and make one of those that overlap."""
    apart: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if apart and start < apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart


def replace(text: str, found: list[tuple[int, int]]) -> str:
    """Put the mask in the place of each match; the matches are those of :func:`joined`."""
    out = []
    at = 0
    for start, end in found:
        # A match that begins behind an escaping backslash takes it along, so that JSON stays JSON.
        first = start - _backslashes_before(text, start) % 2
        out += [text[at:first], MASK]
        at = end
        if text[end - 1] == "\\":
            # One that ends among backslashes takes whole escapes: the last may belong to a closing quote.
            while text.startswith("\\", at):
                at += 1
            run = _backslashes_before(text, at)
            at -= run > 1 and run % 2
    return "".join([*out, text[at:]])


def _backslashes_before(text: str, end: int) -> int:
    start = end
    while start and text[start - 1] == "\\":
        start -= 1
    return end - start
