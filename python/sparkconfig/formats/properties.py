r"""Java ``.properties``, exactly as ``java.util.Properties.load`` reads a UTF-8 reader.

Kafka's file provider reads this way: strict UTF-8 (a malformed byte is an error, even in a comment), a byte
order mark is a part of the first key, and ``\uXXXX`` escapes are UTF-16 code units.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sparkconfig._base.late import late
from sparkconfig.formats.errors import FormatError

__all__ = ["dump", "load", "loads"]

_BLANK = " \t\f"
_SEPARATOR = late(r"[=: \t\f]")
# The end of a key is the first separator that is not escaped; each character matches in one way, so the
# search is linear.
_KEY = late(r"[^\\=: \t\f]*(?:\\.[^\\=: \t\f]*)*", re.DOTALL)
# A whole line of a text without backslashes. The blanks that begin it are not part of what follows them, so that each
# line matches in one way.
_LINE = late(r"^[ \t\f]*(?![#! \t\f\n]|\Z)([^=: \t\f\n]*)[ \t\f]*(?:[=:][ \t\f]*)?(.*)$", re.MULTILINE)
_ESCAPE = late(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_SURROGATE = late(r"[\ud800-\udfff]")


def load(content: bytes) -> dict[str, str]:
    r"""Read a file's content.

    Raises:
        FormatError: malformed UTF-8, or a malformed ``\uXXXX``.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
    else:
        return loads(text)
    raise FormatError(f"line {line} is not UTF-8 text")


def loads(text: str) -> dict[str, str]:
    r"""Read a text; the last of equal keys wins.

    Raises:
        FormatError: a malformed ``\uXXXX``.
    """
    if "\\" not in text:
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        return dict(_LINE.findall(text))
    found: dict[str, str] = {}
    for line in _logical_lines(text):
        if "\\" not in line:
            match = _SEPARATOR.search(line)
            end = len(line) if match is None else match.start()
            found[line[:end]] = _value(line, end)
        else:
            match = _KEY.match(line)
            end = 0 if match is None else match.end()
            found[_unescape(line[:end])] = _unescape(_value(line, end))
    return found


def _value(line: str, end: int) -> str:
    """What follows the key that ends at ``end``: blanks, one ``=`` or ``:``, and blanks are the separator."""
    rest = line[end:].lstrip(_BLANK)
    return rest[1:].lstrip(_BLANK) if rest[:1] in ("=", ":") else rest


def _logical_lines(text: str) -> Iterator[str]:
    """Lines without comments and blank ones, continuation lines joined, leading blanks removed."""
    ends_with_two = text.endswith("\r\n")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    last = len(lines) - (2 if not lines[-1] else 1)  # index of the line that the file's end follows
    parts: list[str] = []
    for index, natural in enumerate(lines):
        line = natural.lstrip(_BLANK)
        if not parts and (not line or line[0] in "#!"):
            continue
        if line.endswith("\\") and (len(line) - len(line.rstrip("\\"))) % 2:
            if index < last:
                # A lone backslash adds nothing: Java then still is at the start of a logical line, where the
                # next line may be a comment.
                if len(line) > 1:
                    parts.append(line[:-1])
                continue
            line = line[:-1]  # the end of the file ends the line, too, even an empty one
            if not line and not parts and ends_with_two:
                continue  # but Java sees the file go on behind the first of the two
        yield "".join([*parts, line])
        parts.clear()


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    plain = _ESCAPE.sub(_character, text)
    if _SURROGATE.search(plain):  # Java's characters are UTF-16: two escapes may be one character
        plain = plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return plain


def _character(match: re.Match[str]) -> str:
    escape = match[1]
    if len(escape) == 5:
        return chr(int(escape[1:], 16))
    if escape == "u":
        raise FormatError(r"a \u is not followed by four hexadecimal digits")
    return _CONTROL.get(escape, escape)


def dump(values: dict[str, str]) -> str:
    """Write what :func:`loads` reads back; one line for each key, in the order given."""
    return "".join(f"{_escape(key, key=True)}={_escape(value, key=False)}\n" for key, value in values.items())


def _escape(text: str, *, key: bool) -> str:
    parts: list[str] = []
    for index, character in enumerate(text):
        if character == "\\" or (character in "=:#! " and (key or index == 0)):
            parts.append("\\" + character)
        elif character < " " or character == "\x7f" or "\ud800" <= character <= "\udfff":
            parts.append(f"\\u{ord(character):04x}")
        else:
            parts.append(character)
    return "".join(parts)
