"""Shell scripts that call ``spark-submit``: the values after ``--conf``, and what else is in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from sparkconfig.migrate.text import Document, Edit, Text

__all__ = ["read"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# A long one: "-pPASSWORD" is not a name to repeat.
_OPTION = re.compile(r"--[A-Za-z][A-Za-z0-9._-]{0,60}")
_OPERATORS = frozenset(";&|()<>")
_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)([A-Za-z_][A-Za-z0-9_]*)\1")
_ASSIGNED = (
    "a shell variable: write the reference where the variable is used in --conf, in single quotes, and remove the"
    " variable"
)
_ARGUMENT = (
    "an argument, which shows in process lists: let the application read a conf, which can hold a reference"
)


@dataclass(repr=False)
class _Word:
    """A word of the shell: its characters, each with its place and the quotes around it."""

    start: int
    end: int = 0
    chars: list[str] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)
    quotes: list[str] = field(default_factory=list)

    @property
    def value(self) -> str:
        return "".join(self.chars)

    def add(self, char: str, start: int, end: int, quote: str) -> None:
        self.chars.append(char)
        self.places.append((start, end))
        self.quotes.append(quote)

    def put(self, first: int, last: int, reference: str) -> Edit | None:
        """A reference inside quotes as they allow it, else in single quotes of its own."""
        if _EXPANSION in self.chars[first:last]:
            return None
        opened, closed = self.quotes[first], self.quotes[last - 1]
        start, end = self.places[first][0], self.places[last - 1][1]
        if opened == closed == "'":
            return Edit(start, end, reference)
        if opened == closed == '"' and set(self.quotes[first:last]) == {'"'}:
            return Edit(start, end, reference.replace("$", "\\$"))
        if "$'" in (opened, closed):
            return None
        return Edit(start, end, f"{opened}'{reference}'{closed}")


#: Stands for what the shell puts in place of a variable or a command.
_EXPANSION = "\ufffc"


def read(content: str) -> Document:
    """Read a script. What it computes is not known: a conf from a variable has no text here."""
    texts: list[Text] = []
    words = list(_words(content))
    before: _Word | None = None
    for word in words:
        texts.append(_text(word, None if before is None else before.value))
        before = word
    return Document(content, texts, "script")


def _text(word: _Word, before: str | None) -> Text:
    value = word.value
    at = 0
    if before in ("--conf", "-c"):
        at = value.find("=") + 1
    elif value.startswith(("--conf=", "-c=")):
        at = value.find("=", value.find("=") + 1) + 1
    key = value[:at].removeprefix("--conf=").removeprefix("-c=")[:-1]
    # Spark ignores all others; other programs have a "-c", too: bash -c "PASSWORD=…", psql -c "…".
    if key.strip().startswith("spark."):
        return Text(
            key.strip(), value[at:], word.start, word.end,
            lambda first, last, reference: word.put(first + at, last + at, reference),
        )  # fmt: skip
    name, equals, rest = value.partition("=")
    if equals and _NAME.fullmatch(name):
        return Text(name, rest, word.start, word.end, word.put, kept=_ASSIGNED, conf=False)
    # "--password x" and "--password=x"
    if equals and _OPTION.fullmatch(name):
        return Text(name.lstrip("-"), rest, word.start, word.end, word.put, kept=_ARGUMENT, conf=False)
    option = before.lstrip("-") if before is not None and _OPTION.fullmatch(before) else ""
    return Text(option, value, word.start, word.end, word.put, kept=_ARGUMENT, conf=False)


def _words(text: str) -> Iterator[_Word]:
    at = 0
    word: _Word | None = None
    heredocs: list[str] = []
    while at < len(text):
        char = text[at]
        if char == "\\" and text.startswith("\n", at + 1):
            at += 2
            continue
        if char in " \t\n" or char in _OPERATORS:
            if word is not None:
                word.end = at
                yield word
                word = None
            heredoc = _HEREDOC.match(text, at) if char == "<" and not text.startswith("<<<", at) else None
            if heredoc:
                heredocs.append(heredoc[2])
                at = heredoc.end()
            elif char == "\n" and heredocs:
                at = _after_heredocs(text, at + 1, heredocs)
            else:
                at += 1
            continue
        if word is None:
            if char == "#":
                at = text.find("\n", at) if "\n" in text[at:] else len(text)
                continue
            word = _Word(at)
        at = _part(text, at, word)
    if word is not None:
        word.end = len(text)
        yield word


def _after_heredocs(text: str, at: int, ends: list[str]) -> int:
    """Where the script goes on; what the documents hold is looked at by shape only."""
    while ends and at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if text[at:end].strip() == ends[0]:
            ends.pop(0)
        at = end + 1
    ends.clear()
    return min(at, len(text))


def _part(text: str, at: int, word: _Word) -> int:
    """Add what begins at ``at``; return where the next part begins."""
    char = text[at]
    if char == "\\":
        if at + 1 < len(text):
            word.add(text[at + 1], at, at + 2, "")
        return at + 2
    if char == "'" or text.startswith("$'", at):
        opening = 1 if char == "'" else 2
        end = text.find("'", at + opening)
        end = len(text) if end < 0 else end
        for index in range(at + opening, end):
            word.add(text[index], index, index + 1, "'" if opening == 1 else "$'")
        return end + 1
    if char == '"':
        return _double_quoted(text, at + 1, word)
    if char in "$`":
        end = _expansion_end(text, at)
        word.add(_EXPANSION, at, end, "")
        return end
    word.add(char, at, at + 1, "")
    return at + 1


def _double_quoted(text: str, at: int, word: _Word) -> int:
    while at < len(text) and text[at] != '"':
        if text[at] == "\\" and text[at + 1 : at + 2] in tuple('$`"\\\n'):
            if text[at + 1] != "\n":
                word.add(text[at + 1], at, at + 2, '"')
            at += 2
        elif text[at] in "$`" and (end := _expansion_end(text, at)) > at + 1:
            word.add(_EXPANSION, at, end, '"')
            at = end
        else:
            word.add(text[at], at, at + 1, '"')
            at += 1
    return at + 1


_BRACKETS = {"{": "}", "(": ")"}


def _expansion_end(text: str, at: int) -> int:
    if text[at] == "`":
        end = text.find("`", at + 1)
        return len(text) if end < 0 else end + 1
    opening = text[at + 1 : at + 2]
    if opening in _BRACKETS:
        depth, index = 0, at + 1
        while index < len(text):
            depth += (text[index] == opening) - (text[index] == _BRACKETS[opening])
            index += 1
            if depth == 0:
                break
        return index
    name = _NAME.match(text, at + 1)
    if name:
        return name.end()
    return at + 2 if opening in tuple("?!#@*$-0123456789") else at + 1
