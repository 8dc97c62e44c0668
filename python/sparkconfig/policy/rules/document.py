"""Policy documents: JSON with comments, read so that a mistake can be found by its line."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from sparkconfig._base.text import shorten
from sparkconfig.errors import ConfigurationError
from sparkconfig.formats import reading

__all__ = ["Document", "Location", "dotted", "fail", "parse", "read"]

Location = tuple[str | int, ...]


@dataclass(frozen=True)
class Document:
    """A parsed document.

    Attributes:
        name: the file's name, for messages.
        data: its content.
        lines: the line on which each member begins, by its path.
    """

    name: str
    data: Mapping[str, Any]
    lines: Mapping[Location, int] = field(repr=False)

    def line(self, location: Sequence[str | int]) -> int | None:
        """The line of ``location``, or of the nearest member around it."""
        path = tuple(location)
        while path:
            if path in self.lines:
                return self.lines[path]
            path = path[:-1]
        return self.lines.get(())

    def at(self, location: Sequence[str | int]) -> str:
        """``policy.json line 14``."""
        line = self.line(location)
        return self.name if line is None else f"{self.name} line {line}"


def read(path: Path) -> Document:
    """Read a file.

    Raises:
        ConfigurationError: it cannot be read, or is not JSON.
    """
    if path.suffix.lower() == ".toml":
        raise ConfigurationError(
            f"the policy {path} is TOML; write it as JSON, where comments may stand, too"
        )
    try:
        text = reading.read(path).decode("utf-8-sig")
    except OSError as error:
        problem = error.strerror or type(error).__name__
    except UnicodeDecodeError:
        problem = "it is not UTF-8 text"
    else:
        return parse(text, path.name)
    raise ConfigurationError(f"the policy {path} cannot be read: {problem}")


def parse(text: str, name: str) -> Document:
    """Parse ``text``, which messages call ``name``.

    Raises:
        ConfigurationError: the syntax is wrong; names line and column.
    """
    try:
        data, lines = _json(text, name)
    except RecursionError:
        data, lines = None, {}
    # As Databricks' command line prints all policies.
    if (
        isinstance(data, list)
        and data
        and all(isinstance(each, dict) and "definition" in each for each in data)
    ):
        data, lines = {"policies": data}, {("policies", *place): line for place, line in lines.items()}
    if not isinstance(data, dict):
        raise ConfigurationError(f"the policy {name} must be one object, not nested too deeply")
    return Document(name, data, lines)


_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


def _json(text: str, name: str) -> tuple[Any, dict[Location, int]]:
    def blank(match: re.Match[str]) -> str:
        found = match[0]
        return found if found[0] == '"' else re.sub(r"[^\n]", " ", found)

    plain = _COMMENT.sub(blank, text)
    problem = ""
    try:
        data = json.loads(plain, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        problem = f"the policy {name} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}"
    except ValueError as error:
        problem = f"the policy {name} is not JSON: {error}"
    if problem:
        raise ConfigurationError(problem)
    return data, _positions(plain, name)


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a JSON number")


def _positions(text: str, name: str) -> dict[Location, int]:
    """The lines of all members of a JSON text that is known to be right; refuses names that stand twice."""
    lines: dict[Location, int] = {}
    path: list[str | int] = []
    kinds: list[str] = []
    line, position, expect_key = 1, 0, False
    for match in _TOKEN.finditer(text):
        line += text.count("\n", position, match.start())
        position = match.start()
        word = match[0]
        if word in "}]":
            kinds.pop()
            path.pop()
        elif word == ",":
            last = path[-1]
            if isinstance(last, int):
                path[-1] = last + 1
            expect_key = kinds[-1] == "{"
            continue
        elif word == ":":
            continue
        elif expect_key:
            path[-1] = json.loads(word)
            if tuple(path) in lines:
                raise ConfigurationError(
                    f"the policy {name} has '{shorten(str(path[-1]))}' twice: line {lines[tuple(path)]} and line {line}"
                )
            lines[tuple(path)] = line
        else:
            lines.setdefault(tuple(path), line)
            if word in "{[":
                kinds.append(word)
                path.append("" if word == "{" else 0)
        expect_key = word == "{"
    return lines


def fail(document: Document, problems: Sequence[tuple[Location, str]]) -> NoReturn:
    """Raise one error for all mistakes of a document, each with its line and field."""
    listed = [
        f"{document.at(location)}, {dotted(location) or 'the document'}: {problem}"
        for location, problem in problems
    ]
    if len(listed) == 1:
        raise ConfigurationError(f"the policy is wrong: {listed[0]}")
    raise ConfigurationError("\n  - ".join([f"the policy has {len(listed)} mistakes:", *listed[:50]]), listed)


def dotted(location: Sequence[str | int]) -> str:
    """``rules[2].maxValue``."""
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{shorten(part)}" if text else shorten(part)
    return text
