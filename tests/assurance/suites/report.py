"""What was found in runs of Spark's own suites: for the terminal, and kept for docs/compatibility.md."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import record

ROOT = Path(__file__).resolve().parents[3]
#: What tools/docs/generate.py makes the page of.
RESULTS = Path(__file__).with_name("results.json")


@dataclass(frozen=True)
class Row:
    """One group on one release of Spark."""

    spark: str
    group: str
    suites: Sequence[str]
    #: How many tests ended how with sparkconfig.
    tests: Mapping[str, int]
    #: How many of the suites ran without sparkconfig too.
    compared: int
    #: With sparkconfig and without it.
    seconds: tuple[int, int]
    #: Tests that end otherwise with sparkconfig, and how.
    differences: Mapping[str, str]
    #: How many tests of those suites ended how without sparkconfig.
    without: Mapping[str, int] = field(default_factory=dict)
    #: Suites that had not ended when the time was over.
    left: Sequence[str] = ()
    #: Tests that differed once, and not in a second run on both sides.
    unstable: Sequence[str] = ()
    date: str = field(default_factory=lambda: record.stamp()["date"])
    cores: int = field(default_factory=lambda: record.stamp()["cores"])


def line(row: Row) -> str:
    """A row for the terminal."""
    counts = ", ".join(f"{number} {state}" for state, number in sorted(row.tests.items()))
    return (
        f"{row.spark} {row.group}: {len(row.differences)} differences (with: {counts}; {row.compared} of "
        f"{len(row.suites)} suites also without; {row.seconds[0]} and {row.seconds[1]} s)"
        + (f"; not ended in time: {', '.join(row.left)}" if row.left else "")
    )


def write(row: Row) -> None:
    """Keep the row instead of what an earlier run of that group found, and write the page."""
    rows = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else []
    rows = [known for known in rows if (known["spark"], known["group"]) != (row.spark, row.group)]
    rows.append(asdict(row))
    rows.sort(key=lambda known: [-int(part) for part in known["spark"].split(".")])
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    subprocess.run([sys.executable, str(ROOT / "tools" / "docs" / "generate.py")], check=True)
