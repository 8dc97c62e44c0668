"""File formats: bytes to a flat mapping of dotted keys to texts."""

from __future__ import annotations

import importlib
from pathlib import PurePosixPath

from sparkconfig.formats.errors import FormatError

__all__ = ["FORMATS", "FormatError", "format_of", "load"]

FORMATS = ("properties", "json", "yaml")
"""The modules here that read them; each is imported for the first file of its kind."""

_SUFFIXES = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".env": "env"}


def load(form: str, content: bytes) -> dict[str, str]:
    """Read a file's content in one of :data:`FORMATS`.

    Raises:
        FormatError: it is malformed; the text holds nothing of the content.
    """
    read: dict[str, str] = importlib.import_module(f"{__name__}.{form}").load(content)
    return read


def format_of(path: str) -> str:
    """The format that a file's name says: by suffix; ``.env`` is one, and no suffix means properties."""
    name = path.rpartition("/")[2]
    if name in ("", "."):  # the name is further in front
        name = PurePosixPath(path).name
    if name == ".env":
        return "env"
    dot = name.rfind(".")  # a name that begins with its only dot has no suffix
    return _SUFFIXES.get(name[dot:].lower(), "properties") if dot > 0 else "properties"
