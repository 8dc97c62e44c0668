"""The table of docs/compatibility.md with the Sparks, Javas and Pythons on which a small application ran."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parents[2] / "tests" / "assurance" / "versions" / "results.json"


def lines(table: Callable[[list[str], list[list[str]]], list[str]]) -> list[str]:
    """Return the Javas by Spark and Python, and what stock Spark cannot do; what was not run is empty.

    Raises:
        ValueError: a cell failed where stock Spark does not.
    """
    cells: list[dict[str, Any]] = json.loads(RESULTS.read_text(encoding="utf-8"))
    pythons = sorted({cell["python"] for cell in cells}, key=_number)
    titles = ["Spark"]
    for python in pythons:
        newest = next(cell for cell in reversed(cells) if cell["python"] == python)
        titles.append(f"Python {python}, pandas {newest['pandas']}, pyarrow {newest['pyarrow']}")
    rows = []
    notes: dict[str, None] = {}
    for spark in sorted({cell["spark"] for cell in cells}, reverse=True):
        row = [spark]
        for python in pythons:
            of_both = [cell for cell in cells if (cell["spark"], cell["python"]) == (spark, python)]
            row.append(", ".join(_java(cell, notes) for cell in of_both if _starts(cell, notes)))
        rows.append(row)
    told = [f"- {text}" for text in notes]
    return [*table(titles, rows), *([""] if told else []), *told]


def _starts(cell: dict[str, Any], notes: dict[str, None]) -> bool:
    if cell["with"]["start"] == "ok":
        return True
    _note(cell, "start", notes)
    return False


def _java(cell: dict[str, Any], notes: dict[str, None]) -> str:
    failed = [step for step, end in cell["with"].items() if end != "ok"]
    for step in failed:
        _note(cell, step, notes)
    return str(cell["java"]) + ("\\*" if failed else "")


def _note(cell: dict[str, Any], step: str, notes: dict[str, None]) -> None:
    place = f"{cell['spark']}, Java {cell['java']}, Python {cell['python']}"
    if cell["without"].get(step, "ok") == "ok":
        raise ValueError(f"on {place} the step {step!r} failed, and stock Spark passes it")
    told = {
        "start": f"Spark {cell['spark']} does not start on Java {cell['java']} without sparkconfig either",
        "frames": f"\\* pandas fails on Spark {cell['spark']} there without sparkconfig, too",
    }
    notes[told[step]] = None


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))
