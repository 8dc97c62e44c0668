r"""``.env`` files: ``NAME=value`` lines, as most tools write them.

``export`` before a name and ``#`` comments are allowed. An unquoted value ends at `` #`` and is trimmed; in
single quotes everything is literal; in double quotes ``\n \r \t \" \\ \$`` are escapes; quoted values may span
lines. Nothing is expanded: a ``$`` is a ``$``.
"""

from __future__ import annotations

import re

from sparkconfig.formats.errors import FormatError

__all__ = ["load"]

_NAME = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*")
_DOUBLE = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"', re.DOTALL)
_SINGLE = re.compile(r"'([^']*)'")
_REST = re.compile(r"[ \t]*(?:#[^\n]*)?(?:\n|$)")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "$": "$"}


def load(content: bytes) -> dict[str, str]:
    """Read a file's content, UTF-8 with or without a byte order mark; the last of equal names wins.

    Raises:
        FormatError: not UTF-8, or a line that is not an assignment; names the line.
    """
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError:
        text = None
    if text is None:
        raise FormatError("the content is not UTF-8 text")
    found: dict[str, str] = {}
    position = 0
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        line = text[position:end].strip(" \t")
        if not line or line.startswith("#"):
            position = end + 1
            continue
        name = _NAME.match(text, position, end)
        if name is None:
            raise _wrong(text, position, "is not NAME=value")
        value, position = _value(text, name.end(), end)
        found[name[1]] = value
    return found


def _value(text: str, start: int, end: int) -> tuple[str, int]:
    """The value that begins at ``start``, on a line that ends at ``end``, and where the next line begins."""
    quote = text[start : start + 1]
    if quote not in ("'", '"'):
        raw = text[start:end]
        comment = re.search(r"(?:^|[ \t])#", raw)
        return (raw if comment is None else raw[: comment.start()]).rstrip(" \t"), end + 1
    match = (_DOUBLE if quote == '"' else _SINGLE).match(text, start)
    if match is None:
        raise _wrong(text, start, "opens a quote that is never closed")
    rest = _REST.match(text, match.end())
    if rest is None:
        raise _wrong(text, match.end(), "has text behind the closing quote")
    inner = match[1]
    if quote == '"':
        inner = _ESCAPE.sub(lambda escape: _ESCAPES.get(escape[1], escape[0]), inner)
    return inner, rest.end()


def _wrong(text: str, position: int, problem: str) -> FormatError:
    line = text.count("\n", 0, position) + 1
    return FormatError(f"line {line} {problem}")
