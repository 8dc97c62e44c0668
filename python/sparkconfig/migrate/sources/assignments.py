"""Lines that set a key, in comments and here-documents: what a file would say if they were not commented out."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator

from sparkconfig.migrate.text import Text

__all__ = ["COMMENTED", "assignments", "commented"]

COMMENTED = "it is commented out and still in clear: remove the line"
# With a blank between them only after a dotted key: "password for the shop" is prose.
_COMMENT = re.compile(r"^[ \t]*[#!].*$", re.MULTILINE)
_LINE = re.compile(
    r"[ \t]*(?:#[# \t]*|![ \t]*|--[ \t]*|//[ \t]*)?(?:export[ \t]+)?(?P<quote>[\"']?)"
    r"(?P<key>[A-Za-z_][\w-]*(?P<dotted>(?:\.[\w-]+)+)?)(?P=quote)"
    r"(?P<sign>[ \t]*[=:][ \t]*|[ \t]+)(?P<value>\S.*?)[ \t\r]*,?"
)
_QUOTED = re.compile(r"(?P<quote>[\"'])(?P<inner>.*)(?P=quote)")


def assignments(content: str, start: int, end: int, kept: str) -> Iterator[Text]:
    """Return the value of each line between two places that sets a key."""
    at = start
    for line in content[start:end].splitlines(keepends=True):
        found = _LINE.fullmatch(line.rstrip("\n"))
        if found is not None and (found["dotted"] or found["sign"].strip()):
            value = found["value"]
            quoted = _QUOTED.fullmatch(value)
            where = at + found.start("value")
            yield Text(
                found["key"],
                quoted["inner"] if quoted else value,
                where,
                where + len(value),
                kept=kept,
                conf=False,
            )
        at += len(line)


def commented(content: str, texts: list[Text]) -> Iterator[Text]:
    """Return what is commented out in properties and YAML: lines that begin with a sign and belong to no text."""
    starts = sorted((text.start, text.end) for text in texts)
    for line in _COMMENT.finditer(content):
        before = bisect.bisect_right(starts, (line.start(), len(content))) - 1
        if before < 0 or starts[before][1] <= line.start():
            yield from assignments(content, *line.span(), COMMENTED)
