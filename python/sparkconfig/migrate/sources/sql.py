"""Spark SQL: its literals, and what ``SET`` sets. They are reported, place by place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sparkconfig.migrate.sources.assignments import COMMENTED, assignments
from sparkconfig.migrate.text import Document, Text

__all__ = ["read", "texts_of"]

_TOKEN = re.compile(
    r"(?P<comment>--[^\n]*|/\*.*?\*/)|(?P<space>\s+)|(?P<prefix>[rR])?(?P<quote>'|\")|`(?P<ident>[^`]*)`"
    r"|(?P<word>[A-Za-z_][\w.-]*)|(?P<sign>.)",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|[0-3][0-7]{2}|.)", re.DOTALL)
_CONTROL = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a", "%": "\\%", "_": "\\_"}
_WITH_OPTIONS = ("OPTIONS", "TBLPROPERTIES", "DBPROPERTIES")
_SET = re.compile(r"(?:^|;)\s*SET\s+([A-Za-z][\w.-]*)\s*=([^;\n]*)", re.IGNORECASE)
_LITERAL = "a literal of the statement, which Spark takes as text: only the values in OPTIONS (...) can hold references"
_OPTION = "seal the value, and write {reference} in its place"
_RUNTIME = (
    "set it in spark-defaults.conf or with --conf, as {reference}; what is set on a running session reaches some"
    " readers as it is written"
)


@dataclass(repr=False)
class _Token:
    kind: str
    value: str
    start: int
    end: int


def read(content: str) -> Document:
    """Read a file of statements."""
    return Document(content, texts_of(content), "sql")


def texts_of(content: str) -> list[Text]:
    """Return the texts of statements, in order."""
    everything = list(_tokens(content))
    tokens = [token for token in everything if token.kind != "comment"]
    strings = [token for token in tokens if token.kind == "string"]
    runtime = [
        found
        for found in _SET.finditer(content)
        if not any(token.start <= found.start(1) < token.end for token in strings)
    ]
    texts = [Text(found[1], found[2].strip(), *found.span(2), kept=_RUNTIME, conf=False) for found in runtime]
    in_options = [False]
    for index, token in enumerate(tokens):
        if token.value == "(" and token.kind == "sign":
            in_options.append(index > 0 and tokens[index - 1].value.upper() in _WITH_OPTIONS)
        elif token.value == ")" and token.kind == "sign" and len(in_options) > 1:
            in_options.pop()
        elif any(found.start(2) <= token.start < found.end(2) for found in runtime):
            continue
        elif token.kind == "string" and not _is_key(tokens, index, options=in_options[-1]):
            kept = _OPTION if in_options[-1] else _LITERAL
            key = _key(tokens, index, options=in_options[-1])
            texts.append(Text(key, token.value, token.start, token.end, kept=kept, conf=False))
    for token in everything:
        if token.kind == "comment":
            texts += _commented(content, token)
    return sorted(texts, key=lambda text: text.start)


def _commented(content: str, token: _Token) -> Iterator[Text]:
    """What a comment would say if it were none."""
    start, end = token.start + 2, token.end - (2 if token.value.startswith("/*") else 0)
    for text in texts_of(content[start:end]):
        if text.key:
            yield replace(text, start=start + text.start, end=start + text.end, kept=COMMENTED)
    yield from assignments(content, start, end, COMMENTED)


def _is_key(tokens: list[_Token], index: int, *, options: bool) -> bool:
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    if following is not None and following.value == "=" and following.kind == "sign":
        return True
    before = tokens[index - 1] if index else None
    starts = before is not None and before.kind == "sign" and before.value in "(,"
    return options and starts and following is not None and following.kind == "string"


def _key(tokens: list[_Token], index: int, *, options: bool) -> str:
    at = index - 1
    named = at >= 0 and tokens[at].value == "=" and tokens[at].kind == "sign"
    at -= named
    kinds = ("word", "string") if named or options else ("word",)  # 'a' 'b' elsewhere is one literal
    return tokens[at].value if at >= 0 and tokens[at].kind in kinds else ""


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            return
        if found["quote"]:
            token = _string(text, found.start(), found.end(), found["quote"], raw=bool(found["prefix"]))
            yield token
            at = token.end
            continue
        kind = found.lastgroup or ""
        if kind != "space":
            yield _Token("word" if kind == "ident" else kind, found[kind], *found.span())
        at = found.end()


def _string(text: str, start: int, at: int, quote: str, *, raw: bool) -> _Token:
    chars: list[str] = []
    while at < len(text):
        if text[at] == quote:
            if raw or not text.startswith(quote, at + 1):
                break
            width, char = 2, quote
        elif text[at] == "\\" and not raw and (escape := _ESCAPE.match(text, at)):
            width, char = len(escape[0]), _character(escape[0][1:])
        else:
            width, char = 1, text[at]
        chars += char
        at += width
    if at >= len(text):
        return _Token("sign", "", start, at)  # nothing closes it
    return _Token("string", "".join(chars), start, at + 1)


def _character(escape: str) -> str:
    if escape[0] in "uU" and len(escape) > 1:
        return chr(min(int(escape[1:], 16), 0x10FFFF))
    return chr(int(escape, 8)) if len(escape) == 3 else _CONTROL.get(escape, escape)
