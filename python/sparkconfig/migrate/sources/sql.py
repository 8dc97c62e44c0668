"""SQL: each literal with the name nearest to it in its statement. It is reported, place by place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from sparkconfig.migrate.text import COMMENTED, Text
from sparkconfig.settings.secret_names import names_secret

__all__ = ["inside", "texts_of"]

#: A statement in a text of another kind: at the beginning of a line or of a quoted text.
_STATEMENT = re.compile(
    r"(?:^[ \t]*(?:[%!]?\w*sql[ \t]+)?|(?P<quote>\"{3}|'{3}|[\"'`])\s*)(?=(?:SELECT|WITH|SET|DECLARE|CREATE|ALTER"
    r"|INSERT|UPDATE|MERGE|CALL|EXECUTE|COPY|REPLACE|DEFINE|BEGIN)\s)",
    re.IGNORECASE | re.MULTILINE,
)
_LONGEST = 10_000
_TOKEN = re.compile(
    r"(?P<comment>--[^\n]*|/\*.*?(?:\*/|\Z))"
    r"|(?P<literal>(?:[A-Za-z]&?)?'(?:[^'\\]|\\.|'')*'|(?:\b[A-Za-z]&?)?\"(?:[^\"\\]|\\.|\"\")*\")"
    r"|`(?P<quoted>[^`\n]*)`|@{0,2}(?P<name>[A-Za-z_][\w.$]*)|(?P<sign>[(),;]|=>|->|==?|:=?)",
    re.DOTALL,
)
#: What may stand between a name and its value.
_BETWEEN = re.compile(
    r"string|n?(?:var)?char2?|n?text|clob|binary|int(?:eger)?|bigint|number|var(?:iable)?|or|replace|constant|default|not"
    r"|null|is|in|r?like|ilike|using|as|values?|set|declare|define|immutable",
    re.IGNORECASE,
)
#: What begins something else.
_NEW = re.compile(
    r"and|or|where|from|select|on|when|then|else|group|order|limit|comment|having|join|by|location",
    re.IGNORECASE,
)
_CHOOSING = re.compile(r"coalesce|nvl|ifnull|nullif|decode|map|(?:named_)?struct|iff?|array", re.IGNORECASE)
_CRYPT = re.compile(r"aes_(?:en|de)crypt|(?:en|de)crypt(?:by\w+)?$", re.IGNORECASE)
_JOINS = frozenset(("=", "==", "=>", "->", ":"))
_MOST_BLANKS = 2


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


def inside(content: str, start: int, end: int, *, kept: str) -> Iterator[Text]:
    """Return what :func:`texts_of` finds in the statements of a text that is no SQL itself."""
    at = start
    while found := _STATEMENT.search(content, at, end):
        at = min(found.end() + _LONGEST, end)
        for stop in (found["quote"] or "\n\n", ";"):
            last = content.find(stop, found.end(), at)
            at = at if last < 0 else last
        yield from texts_of(content, found.end(), at, kept=kept)
        at = max(at, found.end() + 1)


def texts_of(content: str, start: int = 0, end: int | None = None, *, kept: str) -> Iterator[Text]:
    """Return the literals between two places that stand with a name of a secret."""
    tokens: list[_Token] = []
    for found in _TOKEN.finditer(content, start, len(content) if end is None else end):
        kind = found.lastgroup or ""
        if kind == "comment":
            body = found.start() + 2
            yield from texts_of(content, body, found.end(), kept=COMMENTED)
        else:
            tokens.append(_Token(kind, found[kind], *found.span()))
    for key, token in _Reading(tokens).named():
        value = (
            token.text if token.kind == "quoted" else token.text[token.text.index(token.text[-1]) + 1 : -1]
        )
        if value.count(" ") <= _MOST_BLANKS and "%" not in value:
            yield Text(key, value, token.start, token.end, kept=kept, conf=False)


class _Reading:
    """Goes through tokens and keeps the last name: of a column, an option, a variable, or what is compared."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._key = ""
        #: For each open parenthesis what stands before it, and the names in it; those before VALUES or "=".
        self._functions = [""]
        self._groups: list[list[str]] = [[""]]
        self._columns: list[str] = []

    def named(self) -> Iterator[tuple[str, _Token]]:
        """Return literals with the name that they go by, if that is a secret's."""
        for at, token in enumerate(self._tokens):
            following = self._tokens[at + 1 : at + 3]
            before = self._tokens[at - 1].text if at else ""
            key = ""
            if token.kind == "literal":
                key = self._of_literal(token, following)
            elif token.kind == "sign":
                self._sign(token.text, before, following[0].text.lower() if following else "")
            elif token.kind == "quoted" and "." in self._key and before == "=":
                key = self._key  # SET `a.b` = `value`
            else:
                self._groups[-1][-1] = token.text
                if not _BETWEEN.fullmatch(token.text):
                    self._key = "" if _NEW.fullmatch(token.text) else token.text
            if names_secret(key):
                yield key, token

    def _of_literal(self, token: _Token, following: list[_Token]) -> str:
        own, behind = token.text.strip("'\""), _behind(following)
        after = following[0] if following else _Token("", "", 0, 0)
        if after.kind == "name" and token.text.startswith('"') and not behind:  # "column" varchar(9)
            self._key = own
            return ""
        if after.kind == "literal" or (after.text in _JOINS and not behind) or names_secret(own):
            key, self._key = self._key, own
            return "" if names_secret(own) else key
        named = (behind, *self._columns[len(self._groups[-1]) - 1 :][:1], self._key)
        key = next(filter(names_secret, named), "")
        self._key = "" if key else self._key
        return key

    def _sign(self, sign: str, before: str, following: str) -> None:
        if sign == ";":
            self._key, self._columns, self._groups, self._functions = "", [], [[""]], [""]
        elif sign == "(":
            self._functions.append(before)
            self._groups.append([""])
        elif sign == ")" and len(self._groups) > 1:
            self._functions.pop()
            closed = self._groups.pop()
            if any(closed) and following in ("values", "="):
                self._key, self._columns = "", closed
        elif sign == ",":
            self._groups[-1].append("")
            known = self._key if _CHOOSING.fullmatch(self._functions[-1]) else ""
            self._key = "password" if _CRYPT.fullmatch(self._functions[-1]) else known


def _behind(tokens: list[_Token]) -> str:
    """The name of ``'value' AS name`` and of ``'value' = name``."""
    joined = len(tokens) > 1 and tokens[0].text.lower() in ("as", "=", "==") and tokens[1].kind != "literal"
    return tokens[1].text if joined else ""
