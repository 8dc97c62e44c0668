"""Notebooks of Jupyter: their cells, in Python, SQL or the shell. They are reported, place by place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from sparkconfig.errors import ConfigurationError
from sparkconfig.migrate.sources import pairs
from sparkconfig.migrate.text import Document, Text

__all__ = ["read"]

_MAGIC = re.compile(r"\s*%%?(?P<name>\w+)[^\n]*\n?")
_KINDS = {"sql": "sql", "sparksql": "sql", "sh": "script", "bash": "script", "scala": "code", "r": "code",
          "writefile": "text"}  # fmt: skip


def read(content: str) -> Document:
    """Read a notebook.

    Raises:
        ConfigurationError: it is malformed.
    """
    try:
        cells = json.loads(content)["cells"]
        sources = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, RecursionError):
        sources = None
    if sources is None:
        raise ConfigurationError("this is no notebook of Jupyter, format 4")
    texts: list[Text] = []
    at = 0
    for source in sources:
        places = []
        for line in source.splitlines(keepends=True):
            written = json.dumps(line, ensure_ascii=False)[1:-1]
            at = max(at, content.find(written, at))
            places.append(at)
            # What an expression looks like says nothing; of the outputs it does.
            texts.append(Text("", "", at, at + len(written), kept=""))
        for text in _cell(source):
            place = places[source.count("\n", 0, text.start)]
            texts.append(replace(text, start=place, end=place + 1))
    return Document(content, sorted(texts, key=lambda text: text.start), "notebook")


def _cell(source: str) -> Iterator[Text]:
    magic = _MAGIC.match(source)
    yield from pairs.read(_KINDS.get(magic["name"], "python") if magic else "python", source).texts
