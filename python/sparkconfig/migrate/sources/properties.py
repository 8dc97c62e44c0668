"""``spark-defaults.conf`` and other Java properties."""

from __future__ import annotations

import re

from sparkconfig.errors import ConfigurationError
from sparkconfig.formats import properties
from sparkconfig.formats.errors import FormatError
from sparkconfig.migrate.sources.pairs import commented
from sparkconfig.migrate.text import Document, Edit, Scope, Text, mapped

__all__ = ["read"]

_BLANK = " \t\f"
_LINE_END = re.compile(r"\r\n|\n|\r")
_UNICODE = re.compile(r"u([0-9a-fA-F]{4})")
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
    texts = [_text(chars, end) for chars, end in _lines(content)]
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


def _text(chars: list[tuple[str, int, bool]], end: int) -> Text:
    """One logical line: characters with their places, and whether each was escaped."""
    at = 0
    while at < len(chars) and (chars[at][2] or chars[at][0] not in "=:" + _BLANK):
        at += 1
    key = _joined(char for char, _, _ in chars[:at])
    at = _skip(chars, at)
    if at < len(chars) and not chars[at][2] and chars[at][0] in "=:":
        at = _skip(chars, at + 1)
    places = [place for _, place, _ in chars[at:]] + [end]
    value = _joined(char for char, _, _ in chars[at:])
    if len(value) != len(places) - 1:  # two escapes were one character
        return Text(key, value, places[0], end, lambda *_: None, kept="it holds characters beyond \\uFFFF")
    return Text(key, value, places[0], end, mapped(places))


def _joined(chars: object) -> str:
    text = "".join(chars)  # type: ignore[arg-type]
    if any("\ud800" <= char <= "\udfff" for char in text):
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return text


def _skip(chars: list[tuple[str, int, bool]], at: int) -> int:
    while at < len(chars) and not chars[at][2] and chars[at][0] in _BLANK:
        at += 1
    return at


def _lines(content: str) -> list[tuple[list[tuple[str, int, bool]], int]]:
    """Logical lines without comments: their characters, and where each line ends."""
    lines: list[tuple[list[tuple[str, int, bool]], int]] = []
    chars: list[tuple[str, int, bool]] = []
    goes_on = False
    at = 0
    while at < len(content):
        found = _LINE_END.search(content, at)
        end, following = (len(content), len(content)) if found is None else found.span()
        first = at
        while first < end and content[first] in _BLANK:
            first += 1
        if (goes_on and chars) or (first < end and content[first] not in "#!"):
            goes_on = _add(content, first, end, chars, last=following >= len(content))
            if not goes_on:
                lines.append((chars, end))
                chars = []
        at = following
    if chars:
        lines.append((chars, len(content)))
    return lines


def _add(content: str, at: int, end: int, chars: list[tuple[str, int, bool]], *, last: bool) -> bool:
    """Add a natural line; return whether the logical one goes on behind it."""
    while at < end:
        char = content[at]
        if char != "\\":
            chars.append((char, at, False))
            at += 1
            continue
        if at + 1 == end:
            return not last
        escape = _UNICODE.match(content, at + 1, end)
        if escape is not None:
            chars.append((chr(int(escape[1], 16)), at, True))
            at += 6
        else:
            chars.append((_CONTROL.get(content[at + 1], content[at + 1]), at, True))
            at += 2
    return False
