"""Values with which a login fails although they are the right ones; no text tells one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sparkconfig._base.late import late
from sparkconfig._base.text import shorten
from sparkconfig.language import references
from sparkconfig.resolution import messages

__all__ = ["Faults", "faults", "of_conf", "warnings"]

_LINE_END = (
    "ends with a line end, which is a part of it; write the value again without one (printf, echo -n), or set the"
    " provider's param strip.newline=true if it has one"
)
_BLANK = "begins or ends with white space, which is a part of it; write the value again without it"
_IN_URL = "has characters that a URL must escape ({signs}); give it in an option of its own, such as {option}"
# Where a reference stands in a URL, and what ends a value there or is decoded: before a host, between semicolons, else.
_PLACES = (
    (late(r"jdbc:oracle:\w+:[^/@]*/\"?$"), late(r"\"?@"), '/@"'),
    (late(r"://[^/?#]*$"), late(r"[^/?#]*@"), "%:/?#[]@"),
    (late(r"://.*;[^;=]*=$"), late(r""), "{};"),
    (late(r"://"), late(r""), "&%+"),
)


class Faults(NamedTuple):
    """What is odd about a value.

    Attributes:
        line_end: whether one line ends with a line end.
        blank: whether it begins or ends with other white space.
        signs: those of its characters that mean something in URLs. They are not shown.
    """

    line_end: bool
    blank: bool
    signs: frozenset[str]


def faults(value: str) -> Faults:
    """Look at a value; one of several lines, such as a key in PEM, may end as it likes."""
    line = value.rstrip("\r\n")
    several = len(line.strip().splitlines()) > 1
    signs = frozenset(value) & frozenset("".join(each for *_, each in _PLACES))
    return Faults(line != value and not several, line != line.strip() and not several, signs)


def warnings(key: str, reference: references.Reference, text: str, found: Faults) -> Iterator[str]:
    """What to say of a reference in the conf ``key``, by what :func:`faults` found in its value."""
    problems = [_LINE_END] if found.line_end else []
    problems += [_BLANK] if found.blank else []
    before, after = text[: reference.start], text[reference.end :]
    for begins, goes_on, signs in _PLACES:
        if begins.search(before) and goes_on.match(after):
            if found.signs & set(signs):
                option = "the options user and password" if "@" in signs else "the option password"
                problems.append(_IN_URL.format(signs=" ".join(signs), option=option))
            break
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
