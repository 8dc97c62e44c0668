"""Shell scripts: the values after ``--conf``, those of variables, and what else is in words. They are reported."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sparkconfig.migrate.sources.assignments import COMMENTED, assignments
from sparkconfig.migrate.text import Document, Text

__all__ = ["read", "texts_of"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# A long one: "-pPASSWORD" is not a name to repeat.
_OPTION = re.compile(r"--[A-Za-z][A-Za-z0-9._-]{0,60}")
_OPERATORS = frozenset(";&|()<>")
_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)([A-Za-z_][A-Za-z0-9_]*)\1")
_CONF = "seal the value, and write --conf '{key}={reference}', in single quotes"
_ASSIGNED = (
    "a shell variable: write '{reference}' where the variable is used in --conf, in single quotes, and remove the"
    " variable"
)
_DEFAULT = (
    "the default of a shell variable: remove it, and write '{reference}' where the variable is used in --conf"
)
_ARGUMENT = (
    "an argument, which shows in process lists: let the application read a conf, which can hold {reference}"
)
_DOCUMENT = "a line of a here-document: write {reference} there, with \\$ unless the document's end is quoted"
_PRINTED = "a line that the script writes: write {reference} there, in single quotes"


@dataclass(repr=False)
class _Word:
    """A word of the shell, and the defaults of variables in it by their names."""

    start: int
    end: int = 0
    value: str = ""
    defaults: list[tuple[str, str]] = field(default_factory=list)


#: Stands for what the shell puts in place of a variable or a command.
_EXPANSION = "\ufffc"
#: No words: what is beside them.
_COMMENT, _HEREDOC_BODY = "\0#", "\0<"
_WITH_DEFAULT = re.compile(r"\$\{(?P<name>[A-Za-z_]\w*|\d+):?[-=+](?P<default>.*)\}", re.DOTALL)
_PROPERTY = re.compile(r"-D[A-Za-z][\w.-]{0,200}")


def read(content: str) -> Document:
    """Read a script. What it computes is not known: a conf from a variable has no text here."""
    return Document(content, texts_of(content), "script")


def texts_of(content: str) -> list[Text]:
    """Return the texts of a script, in order."""
    texts: list[Text] = []
    before = ""
    for word in _words(content):
        if word.value.startswith(_COMMENT):
            texts += _aside(content, word.start + 1, word.end, COMMENTED)
            continue
        if word.value.startswith(_HEREDOC_BODY):
            texts += assignments(content, word.start, word.end, _DOCUMENT)
            continue
        if before in ("echo", "printf") and " " in word.value:
            texts += assignments(content, word.start + 1, word.end - 1, _PRINTED)
        texts.append(_text(word, before))
        texts += (
            Text(name, value, word.start, word.end, kept=_DEFAULT, conf=False)
            for name, value in word.defaults
        )
        before = word.value
    return texts


def _aside(content: str, start: int, end: int, kept: str) -> Iterator[Text]:
    for text in texts_of(content[start:end].replace("#", " ")):
        if text.key:
            yield replace(text, start=start + text.start, end=start + text.end, kept=kept)
    yield from assignments(content, start, end, kept)


def _text(word: _Word, before: str) -> Text:
    value = word.value
    at = 0
    if before in ("--conf", "-c"):
        at = value.find("=") + 1
    elif value.startswith(("--conf=", "-c=")):
        at = value.find("=", value.find("=") + 1) + 1
    key = value[:at].removeprefix("--conf=").removeprefix("-c=")[:-1].strip()
    # Spark ignores all others; other programs have a "-c", too: bash -c "PASSWORD=…", psql -c "…".
    if key.startswith("spark."):
        return Text(key, value[at:], word.start, word.end, kept=_CONF, conf=False)
    name, equals, rest = value.partition("=")
    if equals and _NAME.fullmatch(name):
        return Text(name, rest, word.start, word.end, kept=_ASSIGNED, conf=False)
    # "--password x", "--password=x", "-Djavax.net.ssl.keyStorePassword=x"
    if equals and (_OPTION.fullmatch(name) or _PROPERTY.fullmatch(name)):
        return Text(
            name.lstrip("-").removeprefix("D"), rest, word.start, word.end, kept=_ARGUMENT, conf=False
        )
    option = before.lstrip("-") if _OPTION.fullmatch(before) else ""
    return Text(option, value, word.start, word.end, kept=_ARGUMENT, conf=False)


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
                body = at + 1
                at = _after_heredocs(text, body, heredocs)
                yield _Word(body, at, _HEREDOC_BODY)
            else:
                at += 1
            continue
        if word is None:
            if char == "#":
                end = text.find("\n", at) if "\n" in text[at:] else len(text)
                yield _Word(at, end, _COMMENT)
                at = end
                continue
            word = _Word(at)
        at = _part(text, at, word)
    if word is not None:
        word.end = len(text)
        yield word


def _after_heredocs(text: str, at: int, ends: list[str]) -> int:
    """Where the script goes on."""
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
            word.value += text[at + 1]
        return at + 2
    if char == "'" or text.startswith("$'", at):
        opening = 1 if char == "'" else 2
        end = text.find("'", at + opening)
        end = len(text) if end < 0 else end
        word.value += text[at + opening : end]
        return end + 1
    if char == '"':
        return _double_quoted(text, at + 1, word)
    if char in "$`":
        return _expand(text, at, word)
    word.value += char
    return at + 1


def _double_quoted(text: str, at: int, word: _Word) -> int:
    while at < len(text) and text[at] != '"':
        if text[at] == "\\" and text[at + 1 : at + 2] in tuple('$`"\\\n'):
            if text[at + 1] != "\n":
                word.value += text[at + 1]
            at += 2
        elif text[at] in "$`" and _expansion_end(text, at) > at + 1:
            at = _expand(text, at, word)
        else:
            word.value += text[at]
            at += 1
    return at + 1


def _expand(text: str, at: int, word: _Word) -> int:
    """Add an expansion's default, or a sign in its place."""
    end = _expansion_end(text, at)
    found = _WITH_DEFAULT.fullmatch(text, at, end)
    if found is None:
        word.value += _EXPANSION
        return end
    inner, default, place = _Word(at), found["default"], 0
    while place < len(default):
        place = _part(default, place, inner)
    word.value += inner.value
    word.defaults += [(found["name"], inner.value), *inner.defaults]
    return end


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
