"""Values with which a login fails although they are the right ones; no text tells one."""

from __future__ import annotations

from collections.abc import Iterator

from sparkconfig._base.text import shorten
from sparkconfig.language import references
from sparkconfig.resolution import messages

__all__ = ["faults", "of_conf", "warnings"]

_LINE_END = (
    "ends with a line end, which is a part of it; write the value again without one (printf, echo -n), or set the"
    " provider's param strip.newline=true if it has one"
)
_URL = (
    "has characters that a URL must escape (& % +); give it in an option or property of its own, such as the option"
    " password"
)


def faults(value: str) -> tuple[bool, bool]:
    """Whether a value ends with a line end, and whether it would have to be escaped in a URL."""
    return (
        value.endswith(("\n", "\r")) and len(value.splitlines()) == 1,
        any(sign in value for sign in "&%+"),
    )


def warnings(key: str, reference: references.Reference, text: str, found: tuple[bool, bool]) -> Iterator[str]:
    """What to say of a reference in the conf ``key``, by what :func:`faults` found in its value."""
    problems = [_LINE_END] if found[0] else []
    problems += [_URL] if found[1] and "://" in text[: reference.start] else []
    for problem in problems:
        yield f"{shorten(key)}: the value of {messages.written(reference)} {problem}"


def of_conf(key: str, text: str, value: str) -> Iterator[str]:
    """The same of a conf with one reference and its resolved value."""
    found = list(references.scan(text))
    if len(found) != 1 or "$[" in text:
        return
    begin, end = text[: found[0].start], text[found[0].end :]
    if len(value) >= len(begin) + len(end) and value.startswith(begin) and value.endswith(end):
        yield from warnings(key, found[0], text, faults(value[len(begin) : len(value) - len(end)]))
