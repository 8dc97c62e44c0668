"""``spark-defaults.conf`` and other Java properties."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sparkconfig.errors import ConfigurationError
from sparkconfig.formats import properties
from sparkconfig.formats.errors import FormatError
from sparkconfig.migrate.sources.pairs import commented
from sparkconfig.migrate.text import Document, Edit, Scope, Text

__all__ = ["read"]

_LINE_END = re.compile(r"\r\n|\n|\r")
#: A key, what separates it, and its value up to the end of its line or lines.
_GOES_ON = r"\\(?:\r\n|[\r\n])[ \t\f]*"
_BLANK = rf"(?:[ \t\f]|{_GOES_ON})*"
_ENTRY = re.compile(
    rf"(?<![^\r\n])[ \t\f]*(?![ \t\f#!\r\n]|\Z)(?P<key>(?:{_GOES_ON}|\\.|[^\\=: \t\f\r\n])*){_BLANK}(?:[=:]{_BLANK})?"
    rf"(?P<value>(?:{_GOES_ON}|\\.|[^\\\r\n])*)",
    re.DOTALL,
)
_CHARACTER = re.compile(
    r"\\u(?P<hex>[0-9a-fA-F]{4})|(?P<joined>" + _GOES_ON + r")|\\(?P<sign>.)|[^\\]", re.DOTALL
)
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def read(content: str) -> Document:
    """Read a file's content.

    Raises:
        ConfigurationError: it is malformed.
    """
    try:
        expected = properties.loads(content)
    except FormatError as error:
        raise ConfigurationError(str(error)) from None
    texts = [_text(content, entry) for entry in _ENTRY.finditer(content)]
    found = {text.key: text.value for text in texts}
    if found != expected:  # the reader that Spark's users rely on has the last word
        raise ConfigurationError("this properties file is written in a way that cannot be rewritten safely")
    # An earlier line with the same key has no effect, but its secret is real.
    everything = sorted([*texts, *commented(content, texts)], key=lambda text: text.start)
    scope = Scope(expected, [(0, len(content))], lambda confs: _added(content, confs))
    return Document(content, everything, "properties", {"": scope})


def _added(content: str, confs: dict[str, str]) -> Edit:
    first = _LINE_END.search(content)
    line_end = first[0] if first else "\n"
    start = "" if not content or content.endswith(("\n", "\r")) else line_end
    return Edit(len(content), len(content), start + properties.dump(confs).replace("\n", line_end))


def _text(content: str, entry: re.Match[str]) -> Text:
    key = _joined([*_characters(content, *entry.span("key"))])
    found = [*_characters(content, *entry.span("value"))]
    value, places = _joined(found), [*(place for _, place in found), entry.end()]
    if len(value) != len(found):  # two escapes are one character
        return Text(key, value, places[0], entry.end(), kept="it holds characters beyond \\uFFFF")
    return Text(
        key, value, places[0], entry.end(),
        lambda first, last, reference: Edit(places[first], places[last], reference),
    )  # fmt: skip


def _joined(found: list[tuple[str, int]]) -> str:
    return (
        "".join(char for char, _ in found)
        .encode("utf-16-le", "surrogatepass")
        .decode("utf-16-le", "surrogatepass")
    )


def _characters(content: str, start: int, end: int) -> Iterator[tuple[str, int]]:
    """What Java reads between two places, and where each character begins."""
    for found in _CHARACTER.finditer(content, start, end):
        if found["hex"]:
            yield chr(int(found["hex"], 16)), found.start()
        elif found["sign"]:
            yield _CONTROL.get(found["sign"], found["sign"]), found.start()
        elif not found["joined"]:
            yield found[0], found.start()
