"""One rule for all languages: a literal that stands beside a name, whose last noun says that it is a secret.

Nothing is parsed. Names, literals and the signs between them are read once, from left to right, and a literal goes by
the names of its assignment, its argument, its pair, its call, or of what it is compared with.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sparkconfig.migrate.sources import words
from sparkconfig.settings.secret_names import could_name_secret, names_secret

__all__ = ["literals"]


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


@dataclass
class _Group:
    """An open bracket, with the text before it, its owner, and the tokens read inside it so far."""

    sign: str = ""
    function: str = ""
    #: The names of what the bracket is a part of, and those that hold for what is in it, too.
    around: list[str] = field(default_factory=list)
    outer: list[str] = field(default_factory=list)
    annotation: bool = False
    keys: list[str] = field(default_factory=list)
    assigned: str = ""
    inside: str = ""
    before: str = ""
    alone: str = ""
    said: list[str] = field(default_factory=list)
    index: int = 0


def literals(content: str, start: int, end: int, *, lines: bool) -> Iterator[tuple[str, str, int, int]]:
    """Return the name, the text and the place of each literal that may be a secret; an address has the name ``url``.

    Args:
        content: all of a text.
        start: of what is looked at.
        end: of it.
        lines: whether a literal may be in backquotes, as in code: a shell runs what is in them.
    """
    tokens = []
    for found in words.TOKEN.finditer(content, start, end):
        kind = found.lastgroup or ""
        if (kind == "back" and not lines) or content.endswith(":?", start, found.start()):
            continue  # ${X:?"what to say without it"}
        if kind == "element":
            tokens.append(_Token("sign", "=", found.start(), found.start()))
        tokens.append(_Token("literal" if kind in words.LITERALS else kind, found[kind], *found.span(kind)))
    for key, token in _Reading(tokens).named():
        yield key, token.text, token.start, token.end
    for token in tokens:
        if token.kind == "literal" and ('"' in token.text or "'" in token.text):
            yield from literals(content, token.start, token.end, lines=False)


class _Reading:
    """Goes through tokens, and knows the names that the next literal goes by."""

    def __init__(self, tokens: Sequence[_Token]) -> None:
        self._tokens = tokens
        self._groups = [_Group()]
        #: The last name or literal, and the one before.
        self._last = self._earlier = ""
        #: What names were given: a literal is also called as what they are given to.
        self._given: dict[str, list[_Token]] = defaultdict(list)
        for at, token in enumerate(tokens):
            if token.kind == "literal" and self._at(at - 1).text in ("=", ":=", "<-"):
                typed = self._at(at - 3).text == ":"
                self._given[self._at(at - (4 if typed else 2)).text].append(token)
        #: What a function is called, and what is matched.
        self._function = ""
        self._subject: list[str] = []

    def named(self) -> Iterator[tuple[str, _Token]]:
        """Return the literals that may be secrets, with their names."""
        for at, token in enumerate(self._tokens):
            if token.kind == "literal":
                key = "" if _is_name(token.text) or _is_prose(token.text) else _best(self._names(at))
                if key or ("\n" not in token.text and words.ADDRESS.search(token.text)):
                    yield key or "url", token
                self._literal(at)
            elif token.kind == "name":
                yield from self._by_variable(at)
                self._name(at)
            else:
                self._sign(at)

    def _by_variable(self, at: int) -> Iterator[tuple[str, _Token]]:
        """What a variable was given, where it is given on: ``x = "..."``, ``option("password", x)``."""
        name = self._tokens[at].text
        short = name.rpartition(".")[2]
        after, before = self._at(at + 1), self._at(at - 1)
        known = self._given.get(name) or self._given.get(short)
        if not known or after.text in (*words.JOINS, "(") or before.kind == "name":
            return
        key = _best(self._names(at))
        if key and key != name:
            yield from ((key, token) for token in known if not _is_name(token.text))
            self._given.pop(name, None)  # each once
            self._given.pop(short, None)

    def _at(self, at: int) -> _Token:
        return self._tokens[at] if 0 <= at < len(self._tokens) else _Token("", "", 0, 0)

    def _name(self, at: int) -> None:
        text, group, before = self._tokens[at].text, self._groups[-1], self._at(at - 1)
        if text == "or" or (text == "in" and self._at(at - 2).text == "for"):
            group.keys.append(self._last)
            return
        if before.kind == "literal":
            if text in words.BESIDE:
                group.keys += [self._last] if text == "to" else []
                return
            if not words.EQUALS.fullmatch(text):
                group.keys = []  # the next attribute, block or declaration
        if before.text in ("def", "fun", "func", "function", "fn"):
            self._function = "" if text.startswith("test") else text
        elif text in ("match", "switch"):
            self._subject = [self._last, self._at(at + 1).text, self._at(at + 2).text]
        if _is_command(text):  # $token = Get-Token -From "..."
            group.keys = []
        if not words.NO_NAMES.fullmatch(text):
            self._earlier, self._last = self._last, text
            known = self._given.get(text, [])
            constant = known[0].text if len(known) == 1 and _is_name(known[0].text) else ""
            own = (
                text.rpartition(".")[2].isupper()
                or words.EQUALS.fullmatch(group.function)
                or words.OR_ELSE.fullmatch(_short(group))
            )
            group.alone = constant or (text if own else group.alone if before.text in ("%", "+") else "")

    def _literal(self, at: int) -> None:
        text, group = self._tokens[at].text, self._groups[-1]
        if not group.keys or words.NAMING.fullmatch(group.keys[-1]):
            group.said.append(text.lstrip("-"))
        self._earlier, self._last = self._last, text
        joined = self._at(at - 1).text == "+"  # "fs.azure.account.key." + name + ".net"
        group.alone = group.alone + text if joined else text

    def _sign(self, at: int) -> None:
        sign, group, before = self._tokens[at].text, self._groups[-1], self._at(at - 1)
        if sign in words.JOINS:
            if before.text != "lambda" and not (before.text == ")" and sign in ("->", "=>")):
                typed = self._last.lower() in ("string", "securestring")
                group.keys.append(self._earlier if typed else self._last)
            group.assigned = self._last if sign in ("=", ":=") else ""
        elif sign in words.CLOSING.values():
            self._open(at, sign)
        elif sign in words.CLOSING:
            if len(self._groups) > 1:
                self._groups.pop()
        elif sign in ",;":
            group.before, group.alone, group.keys = group.alone if sign == "," else "", "", []
            group.index += 1
        elif (
            sign == "\n"
            and group.sign in ("", "{")
            and before.text not in (words.JOINS - {":"} if group.sign == "" else words.JOINS)
        ):
            group.keys, group.before, group.index = [], "", 0
            group.said = group.said if group.sign else []

    def _open(self, at: int, sign: str) -> None:
        group, before = self._groups[-1], self._at(at - 1)
        function = self._last if sign == "(" and before.kind == "name" else ""
        short = re.split(r"\.|::", function)[-1]
        around = [
            *group.keys,
            *(group.outer if not group.keys or words.GENERIC.fullmatch(group.keys[-1]) else []),
        ]
        outer = around
        if words.INSTEAD.fullmatch(short):
            outer = [*around, self._earlier]
        elif words.EQUALS.fullmatch(function):
            outer = [function.rpartition(".")[0] or self._earlier]
        elif short == "format" and (tail := words.TAIL.search(self._earlier)):
            outer = [tail[1]]
        elif function and not words.SAME.fullmatch(short):
            outer = []
        elif function and not group.keys and not words.LISTS.fullmatch(_short(group)):
            outer = [*around, group.before.lstrip("-")]  # option("password", str("..."))
        elif sign == "[":
            part = before.text in ("]", ")") or (
                before.kind == "name" and not words.NO_NAMES.fullmatch(before.text)
            )
            outer = [] if part else [each for each in outer if not words.LISTED.search(each)]
            kept = words.LOGIN.search(group.function) or words.PAIRS.fullmatch(_short(group))
            function = group.function if kept else ""
        elif sign == "{":
            named = before.kind in ("name", "literal")
            labels = [self._earlier] if before.kind == "literal" else []  # resource "a_secret" "name" {
            if named or (before.text == ")" and _is_name(self._last)):  # fetch("PASSWORD") { "..." }
                outer = [*around, self._last, *labels]
            else:
                outer = [each for each in outer if not words.LISTED.search(each)]
        inside = group.assigned if before.text in ("=", ":=") else ""
        group.alone = ""
        self._groups.append(
            _Group(sign, function, around, outer, self._at(at - 2).text == "@", inside=inside)
        )

    def _names(self, at: int) -> list[str]:
        """What a literal goes by."""
        group, before, after = self._groups[-1], self._at(at - 1), self._at(at + 1)
        if after.text in (*words.JOINS, "to") and before.text not in ("case", "when") and not group.keys:
            # "value" == name, "value" -> name of R; else it is a name itself.
            alone = after.text == "->" and len(self._groups) == 1 and before.text in ("", "\n", ";")
            return [self._at(at + 2).text] if alone or after.text[0] in "=!<" else []
        if before.text in ("return", "yield", "case"):
            return self._subject if before.text == "case" else [self._function]
        compared = (
            after.kind == "name" and words.EQUALS.fullmatch(after.text) and self._at(at + 2).text == "("
        )
        joined = before.text in ("+", "%") or (before.text == "," and words.FORMATS.fullmatch(group.function))
        tail = words.TAIL.search(self._last) if joined else None
        if compared or tail:
            return [tail[1] if tail else self._at(at + 3).text]
        return self._of_keys(group, at) if group.keys else self._of_place(group, at)

    def _of_keys(self, group: _Group, at: int) -> list[str]:
        if words.GENERIC.fullmatch(group.keys[-1]):
            # <value>...</value><name>...</name>
            behind = [self._at(at + 3).text] if self._at(at + 1).text == "name" else []
            return [*behind, *group.keys[::-1], *group.said[::-1], *group.outer, *group.around]
        # passwords = {"dev": "...", "test": "..."}
        return [*group.keys[::-1], *([group.inside] if words.PASSWORDS.search(group.inside) else [])]

    def _of_place(self, group: _Group, at: int) -> list[str]:
        before = self._at(at - 1)
        if before.kind == "name" and not words.NO_NAMES.fullmatch(before.text):
            return [] if _is_command(before.text) else [before.text]
        return [
            *self._of_pair(group, self._tokens[at].text, self._at(at + 1).text),
            *self._of_call(group, at),
        ]

    @staticmethod
    def _of_pair(group: _Group, value: str, after: str) -> list[str]:
        short = _short(group)
        if words.EQUALS.fullmatch(group.function):
            return [group.before]
        pairs = group.sign == "[" and words.PAIRS.fullmatch(short)
        if group.sign != "(" and not pairs and not group.before.startswith("-"):
            return []
        if value.startswith("-") or value in words.FIELDS or value.count(" ") > words.MOST_BLANKS:
            return []
        listed = words.LISTS.fullmatch(short) or words.LISTS.fullmatch(group.function)
        fits = (after == ")" and group.index == 1) or (group.function and (group.index % 2 or after == ")"))
        return [group.before.lstrip("-")] if group.before.startswith("-") or (fits and not listed) else []

    def _of_call(self, group: _Group, at: int) -> list[str]:
        short, last = _short(group), self._at(at + 1).text != ","
        names = group.outer if group.index == 0 or not group.function else []
        if last and group.index and self._at(at + 1).text == "toCharArray":
            return ["password"]
        known = words.STORE.search(group.function) or self._tokens[at].text in words.FIELDS
        if last and group.index and words.OR_ELSE.fullmatch(short) and not known:
            names = [*group.around, *group.said[:1], group.before]
        if (
            last
            and (filled := words.FILLED.fullmatch(group.function))
            and not words.LISTED.search(filled["of"])
        ):
            names = [*names, filled["of"]]
        if group.annotation and words.GIVES.fullmatch(group.function):
            rest = [
                each for each in self._tokens[at + 1 : at + 12] if each.kind == "name" or each.text in "=;\n"
            ]
            end = next((n for n, each in enumerate(rest) if each.kind == "sign"), len(rest))
            return [each.text for each in rest[:end]][-1:]
        if last and self._is_login(group):
            return ["password", *names]
        return [
            *(
                [short]
                if last and short and group.sign == "(" and not words.ASKS.match(short.lstrip("_"))
                else []
            ),
            *names,
        ]

    @staticmethod
    def _is_login(group: _Group) -> bool:
        if words.WITH_ONE.search(group.function):
            return True
        said = group.function or (group.around[-1] if group.around and group.sign == "(" else "")
        found = words.LOGIN.search(said)
        return found is not None and group.index > (1 if "onnect" in found[0] and group.sign == "(" else 0)


def _short(group: _Group) -> str:
    return group.function.rpartition(".")[2]


def _is_command(text: str) -> bool:
    """Whether this asks for a secret, in PowerShell."""
    return "-" in text and words.ASKS.match(text) is not None


def _best(keys: Sequence[str]) -> str:
    return next((each for says in (names_secret, could_name_secret) for each in keys if says(each)), "")


def _is_prose(text: str) -> bool:
    return text.count(" ") > words.MOST_BLANKS and "\n" in text.strip() and "-----BEGIN" not in text


def _is_name(text: str) -> bool:
    """Whether a literal is itself the name of a secret, as an option or a column has it, or of an encoding."""
    return (names_secret(text) and words.NAME.fullmatch(text) is not None) or words.ENCODING.fullmatch(
        text
    ) is not None
