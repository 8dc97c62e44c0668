"""Files that applications keep their confs in. Each reader finds the texts, and how a reference is written there."""

from __future__ import annotations

import re
from pathlib import Path

from sparkconfig.migrate.text import Document

__all__ = ["KINDS", "read"]

KINDS = ("properties", "script", "sql", "python", "notebook", "yaml", "code", "text")
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
    **dict.fromkeys((".cfg", ".env", ".hocon", ".ini", ".j2", ".json", ".toml", ".xml"), "text"),
    **dict.fromkeys((".java", ".kt", ".r", ".scala", ".tf", ".tfvars"), "code"),
}
_NAMES = {".env": "script", "dockerfile": "script", "containerfile": "script"}
# HOCON, INI and others, which have the suffix of properties, too.
_BLOCKS = re.compile(
    r"^[ \t]*(?:[\w.\"-]+[ \t]*[:=]?[ \t]*\{|\}|\[[^\]=]+\]|include[ \t]+[\"\w(].*|<[?!\w/].*)[ \t]*$",
    re.MULTILINE,
)


def kind_of(path: Path, content: str) -> str | None:
    """Return what a file is: by its name, else by its first line; None: none of ``KINDS``."""
    name = path.name.lower()
    kind = (
        _SUFFIXES.get(path.suffix.lower())
        or _NAMES.get(name)
        or _NAMES.get(name.partition(".")[0] or name[:4])
    )
    first = content[:200].partition("\n")[0]
    if kind is None and first.startswith("#!"):
        return "python" if "python" in first else "script" if "sh" in first else None
    return "text" if kind == "properties" and _BLOCKS.search(content) else kind


def read(kind: str, content: str) -> Document:
    """Read a file of a kind.

    Raises:
        ConfigurationError: it is malformed, or a package is missing; the message holds nothing of its content.
    """
    from sparkconfig.migrate.sources import notebook, pairs, properties, python, yaml

    readers = {"properties": properties, "python": python, "notebook": notebook, "yaml": yaml}
    return readers[kind].read(content) if kind in readers else pairs.read(kind, content)
