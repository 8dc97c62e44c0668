"""Files that applications keep their confs in. Each reader finds the texts, and how a reference is written there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sparkconfig.migrate.text import Document

__all__ = ["KINDS", "read"]

KINDS = ("properties", "script", "sql", "python", "notebook", "yaml")
"""What ``read`` knows."""
_SUFFIXES = {
    ".conf": "properties",
    ".properties": "properties",
    ".template": "properties",
    ".sh": "script",
    ".bash": "script",
    ".sql": "sql",
    ".hql": "sql",
    ".py": "python",
    ".ipynb": "notebook",
    ".yaml": "yaml",
    ".yml": "yaml",
}


def kind_of(path: Path, content: str) -> str | None:
    """Return what a file is: by its suffix, else by its first line; None: none of ``KINDS``."""
    kind = _SUFFIXES.get(path.suffix.lower())
    first = content[:200].partition("\n")[0]
    if kind is None and first.startswith("#!"):
        return "python" if "python" in first else "script" if "sh" in first else None
    return kind


def read(kind: str, content: str) -> Document:
    """Read a file of a kind.

    Raises:
        ConfigurationError: it is malformed, or a package is missing; the message holds nothing of its content.
    """
    return _reader(kind)(content)


def _reader(kind: str) -> Callable[[str], Document]:
    if kind == "properties":
        from sparkconfig.migrate.sources.properties import read as reader
    elif kind == "script":
        from sparkconfig.migrate.sources.script import read as reader
    elif kind == "sql":
        from sparkconfig.migrate.sources.sql import read as reader
    elif kind == "python":
        from sparkconfig.migrate.sources.python import read as reader
    elif kind == "notebook":
        from sparkconfig.migrate.sources.notebook import read as reader
    else:
        from sparkconfig.migrate.sources.yaml import read as reader
    return reader
