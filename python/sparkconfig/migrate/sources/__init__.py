"""Files that applications keep their confs in. Each reader finds the texts, and how a reference is written there."""

from __future__ import annotations

import re
from pathlib import Path

from sparkconfig.migrate.text import Document

__all__ = ["KINDS", "read"]

KINDS = ("properties", "script", "sql", "python", "notebook", "yaml", "code", "text")
"""What ``read`` knows."""
_PROGRAMS = (".bicep", ".c", ".cc", ".clj", ".cpp", ".cs", ".dart", ".ex", ".exs", ".fs", ".go", ".gradle", ".groovy",
             ".h", ".hcl", ".hs", ".java", ".jl", ".js", ".jsx", ".kt", ".kts", ".lua", ".m", ".nomad", ".php", ".pl",
             ".r", ".rb", ".rs", ".sbt", ".scala", ".swift", ".tf", ".tfvars", ".ts", ".tsx", ".vue")  # fmt: skip
_SUFFIXES = {
    ".conf": "properties",
    ".properties": "properties",
    ".template": "properties",
    **dict.fromkeys((".bash", ".bat", ".cmd", ".envrc", ".mk", ".ps1", ".sh"), "script"),
    ".sql": "sql",
    ".hql": "sql",
    ".py": "python",
    ".ipynb": "notebook",
    ".yaml": "yaml",
    ".yml": "yaml",
    **dict.fromkeys(_PROGRAMS, "code"),
}
_NAMES = {
    **dict.fromkeys((".env", ".envrc", "containerfile", "dockerfile", "makefile"), "script"),
    "jenkinsfile": "code",
}
#: Pages and data: what they show of secrets is an example, or not of this job.
_UNREAD = frozenset(
    (".adoc", ".css", ".csv", ".html", ".lock", ".log", ".md", ".rst", ".svg", ".tsv", ".txt")
)
_BINARY = re.compile("[\0\ufffd]")
# HOCON, INI and others, which have the suffix of properties, too.
_BLOCKS = re.compile(
    r"^[ \t]*(?:[\w.\"-]+[ \t]*[:=]?[ \t]*\{|\}|\[[^\]=]+\]|include[ \t]+[\"\w(].*|<[?!\w/].*)[ \t]*$",
    re.MULTILINE,
)


def kind_of(path: Path, content: str) -> str | None:
    """Return what a file is: by its name, its first line, or as any text is read; None: it is none."""
    name = path.name.lower()
    kind = (
        _SUFFIXES.get(path.suffix.lower())
        or _NAMES.get(name)
        or _NAMES.get(name.partition(".")[0] or name[:4])
    )
    first = content[:200].partition("\n")[0]
    if kind is None and first.startswith("#!"):
        kind = "python" if "python" in first else "script" if "sh" in first else "code"
    if kind is None or (kind == "properties" and _BLOCKS.search(content)):
        return None if _BINARY.search(content) or path.suffix.lower() in _UNREAD else "text"
    return kind


def read(kind: str, content: str) -> Document:
    """Read a file of a kind.

    Raises:
        ConfigurationError: it is malformed, or a package is missing; the message holds nothing of its content.
    """
    from sparkconfig.migrate.sources import notebook, pairs, properties, yaml

    readers = {"properties": properties, "notebook": notebook, "yaml": yaml}
    return readers[kind].read(content) if kind in readers else pairs.read(kind, content)
