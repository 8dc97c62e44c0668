"""What a run of the laboratory found, kept in ``docs/assurance``, of which docs/assurance.md is made."""

from __future__ import annotations

import datetime as dt
import json
import os
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "assurance"


def stamp() -> dict[str, Any]:
    """Return when and on how many processors this run takes place."""
    today = dt.datetime.now(tz=dt.timezone.utc).date()
    return {"date": today.isoformat(), "cores": len(os.sched_getaffinity(0))}


def read(name: str) -> Any:
    """Return what is kept under a name; None if nothing is."""
    path = FOLDER / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def write(name: str, found: object) -> None:
    """Keep what a run found instead of what an earlier one did."""
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(found, indent=1) + "\n"
    (FOLDER / f"{name}.json").write_text(text, encoding="utf-8")
