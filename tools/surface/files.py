"""The surface files: what a shared server lets through, name by name, for ranges of Sparks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
#: The versions that a range may go over.
SPARKS = ("3.5", "4.0", "4.1", "4.2", "4.3")
FOLDER = ROOT / "jvm-shim" / "src" / "main" / "resources" / "sparkconfig" / "surface"


def read(path: Path) -> dict[str, Any]:
    """Return what a file says."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def sparks(surface: dict[str, Any]) -> list[str]:
    """Return the versions that a file is for, such as 4.0, 4.1 and 4.2 for ``4.0-4.2``."""
    first, last = _range(surface["sparks"])
    return [spark for spark in SPARKS if first <= _number(spark) <= last]


def verdicts(surface: dict[str, Any], spark: str) -> dict[str, str]:
    """Return the verdict on each name that a file decides for a Spark such as ``4.3``."""
    found: dict[str, str] = {}
    for group in surface["groups"]:
        for text, names in group["fields"].items():
            first, last = _range(text)
            if first <= _number(spark) <= last:
                found.update(dict.fromkeys(names, group["verdict"]))
    return found


def _range(text: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    first, _, last = text.partition("-")
    return _number(first), _number(last or first)


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
