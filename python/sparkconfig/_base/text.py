"""Names from untrusted texts, made fit for messages."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["counted", "escaped", "nearest", "shorten"]


def shorten(text: str, limit: int = 120) -> str:
    """Make a name or path from untrusted text fit for a message: one line, printable, at most ``limit``."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    if cut.isprintable():
        return cut
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in cut)


def escaped(text: str) -> str:
    """Return a text for a terminal: what would move the cursor, or change colours or the title, is written out."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def counted(count: int, what: str) -> str:
    """Return ``1 key`` or ``2 keys``."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return the name that may have been meant, or nothing."""
    from difflib import get_close_matches  # of use only where somebody has mistyped a name

    return next(iter(get_close_matches(word, list(known), 1, cutoff)), "")
