"""Statements of SQL with a bait in each place that takes a text, a name, an option or a type; and calls of functions.

A line of ``statements.txt`` is a statement: ``{s}`` is a text in it, ``{i}`` a name, ``{o}`` options, ``{f}`` a source,
``{x}`` an expression, ``{k}`` a conf, ``{v}`` anything, and ``{n}`` a new name. Calls are those of each function's own
examples.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from surface import baits, logins
from surface.baits import Attack, quoted
from surface.canary import Canary
from surface.keys import FORMATS, known
from surface.server import Server

STATEMENTS: Sequence[str] = Path(__file__).with_suffix(".txt").read_text().splitlines()

_SOURCES = ("text", "csv", "json", "xml", "parquet", "orc", "avro", "jdbc")
_LITERAL = r"'(?:[^'\\]|\\.|'')*'"


class Writer:
    """Writes the statements for one server, and knows its functions."""

    def __init__(self, server: Server, home: Path) -> None:
        self._server = server
        self._keys = known(home)

    def client(self) -> Any:
        if self._server.kind == "thrift":
            return logins.Session(self._server)
        from surface.clients import Statements

        return Statements(self._server)

    def prepare(self) -> None:
        """Make what the statements name."""
        client = self.client()
        rows = self._server.canary.in_lake("rows/a.json", '{"id": 1}\n')
        for text in (
            "CREATE TABLE kept (id BIGINT) USING parquet",
            "CREATE VIEW seen AS SELECT 1 AS a",
            f"SELECT * FROM json.`{rows}`",
        ):
            found = client.send(text)
            assert found.kind == "answered", found.text[:300]

    def attacks(self) -> Iterator[Attack]:
        for statement in STATEMENTS:
            yield from self._of(statement)
        for name, calls in functions().items():
            for call in calls:
                yield from self._calls(name, call)

    def _of(self, statement: str) -> Iterator[Attack]:
        for source in _SOURCES if "{f}" in statement else ("",):
            for bait, key in self._fillings(statement, source):
                yield Attack(f"SQL: {statement}", bait, partial(_filled, statement, source, key, bait))

    def _fillings(self, statement: str, source: str) -> Iterator[tuple[str, str]]:
        if "{o}" in statement:
            own = (*self._keys.get(source, ()), "path", "url")
            yield from itertools.product(baits.VALUES, own)
            if source in ("", "text"):
                yield from baits.few(self._keys[""], len(statement))
        elif "{k}" in statement:
            yield from baits.few(logins.confs(self._keys), len(statement))
            yield from (("${env:}", key) for key in ("x", "spark.app.name"))
        elif re.search(r"\{[sixv]\}", statement):
            yield from itertools.product(baits.ALL if source in ("", "text") else baits.CORE, ("",))

    def _calls(self, name: str, call: str) -> Iterator[Attack]:
        source = next((each for each in FORMATS if each in name), "")
        for literal in re.finditer(_LITERAL, call):
            for bait in baits.ALL if source else (*baits.CORE, "XML, DTD", "XML, entity"):
                yield Attack(f"function: {name}", bait, partial(_called, call, literal.span(), "", bait))
        for options in re.finditer(rf"map\({_LITERAL}, {_LITERAL}\)", call):
            for key, bait in itertools.product((*self._keys.get(source, ()), "path", "url"), baits.VALUES):
                make = partial(_called, call, options.span(), key, bait)
                yield Attack(f"function: {name}, options", bait, make)


def _filled(statement: str, source: str, key: str, bait: str, canary: Canary, number: int) -> str:
    text = baits.ALL[bait](canary, number)
    options = {quoted(key): quoted(text)}
    if source == "jdbc" and "PROPERTIES" not in statement:
        options = {"'url'": "'jdbc:derby:memory:none'", "'dbtable'": "'a'", **options}
    holes = {
        "s": quoted(text), "i": f"`{text.replace('`', '``')}`", "v": text, "k": key, "n": f"n{number}",
        "f": source or "text", "x": text if bait.startswith("SQL") else quoted(text),
        "o": f"({', '.join(f'{name} = {value}' for name, value in options.items())})",
    }  # fmt: skip
    at_lake = statement.replace("{lake}", str(canary.lake)).replace("\\n", "\n")
    return re.sub(r"\{(\w)\}", lambda hole: holes[hole[1]], at_lake)


def _called(call: str, place: tuple[int, int], key: str, bait: str, canary: Canary, number: int) -> str:
    text = quoted(baits.ALL[bait](canary, number))
    if key:
        text = f"map({quoted(key)}, {text}, 'mode', 'FAILFAST')"
    return f"{call[: place[0]]}{text}{call[place[1] :]}"


def functions() -> Mapping[str, list[str]]:
    """Each function of the registry to its examples, as the class path's own annotations say."""
    from leaks.support import bare_jvm

    found: dict[str, list[str]] = {}
    with bare_jvm() as gateway:
        registry = gateway.jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry
        each = registry.builtin().listFunction().iterator()
        while each.hasNext():
            name = each.next()
            info = registry.builtin().lookupFunction(name).get()
            calls = re.findall(r">\s*(SELECT .*?);\s*$", info.getExamples(), re.MULTILINE)
            if calls := [call for call in calls if "'" in call]:
                found[name.funcName()] = calls
    return found
