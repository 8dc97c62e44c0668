"""What migrate reports of a file, without moving anything."""

from __future__ import annotations

import json
from pathlib import Path

from sparkconfig.migrate.plan import Names, plan_file

VALUE = "reported-4711"


def places(folder: Path, name: str, content: str) -> list[tuple[int, str]]:
    """Return the lines and keys; no value is in what is shown."""
    path = folder / name
    path.write_text(content, encoding="utf-8")
    plan = plan_file(path, Names("app", {}), provider="s")
    assert plan.moves == []
    shown = "".join(f"{left.key} {left.shape} {left.why}" for left in plan.left)
    assert (VALUE in shown) is False
    return [(left.line, left.key) for left in plan.left]


def notebook(*cells: str) -> str:
    code = [{"cell_type": "code", "source": cell.splitlines(keepends=True), "outputs": []} for cell in cells]
    text = {"cell_type": "markdown", "source": ["# A notebook\n"]}
    return json.dumps({"cells": [text, *code], "nbformat": 4, "nbformat_minor": 5}, indent=1)
