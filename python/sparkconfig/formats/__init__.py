"""File formats: bytes to a flat mapping of dotted keys to texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

from sparkconfig.formats import dotenv, json, properties, toml, yaml
from sparkconfig.formats.errors import FormatError

__all__ = ["FORMATS", "FormatError", "format_of"]

FORMATS: Mapping[str, Callable[[bytes], dict[str, str]]] = {
    "properties": properties.load,
    "json": json.load,
    "yaml": yaml.load,
    "toml": toml.load,
    "env": dotenv.load,
}
"""Format name to reader. A reader raises FormatError, whose text holds nothing of the content."""

_SUFFIXES = {".json": "json", ".yaml": "yaml", ".yml": "yaml", ".toml": "toml", ".env": "env"}


def format_of(path: str) -> str:
    """The format that a file's name says: by suffix, ``.env`` itself too; anything else is Java properties."""
    name = path.rpartition("/")[2]
    if name in ("", "."):  # the name is further in front
        name = PurePosixPath(path).name
    if name == ".env":
        return "env"
    dot = name.rfind(".")  # a name that begins with its only dot has no suffix
    return _SUFFIXES.get(name[dot:].lower(), "properties") if dot > 0 else "properties"
