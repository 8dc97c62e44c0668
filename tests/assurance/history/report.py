"""The table of a run, and the same as JSON for docs/assurance.md."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path
from typing import Any

import record
from history.evaluate import Outcome

ROOT = Path(__file__).parents[3]
BUILT = ROOT / "build" / "assurance" / "history.json"


def show(outcome: Outcome, minutes: float) -> None:
    """Print it."""
    print(f"\n{minutes:g} minutes, {os.cpu_count()} processors")
    for title, rows in (
        ("reads", outcome.reads),
        ("reads that failed", outcome.failed),
        ("rotations", outcome.rotations),
        ("passwords shown by tasks and connections", outcome.leaks),
    ):
        print(f"\n{title}: {sum(rows.values()):,}")
        for name, count in sorted(rows.items()):
            print(f"  {name:36}{count:12,}")
    print(f"\ntasks that read: {outcome.tasks:,}")
    print(f"\n{'faults':38}{'faults':>7}{'rotations':>11}{'least':>7}{'reads':>11}{'least':>8}")
    for kind, row in sorted(outcome.faults.items()):
        print(
            f"  {kind:36}{row['faults']:7}{row['rotations']:11,}{row['least rotations']:7,}{row['reads']:11,}"
            f"{row['least reads']:8,}"
        )
    print("\nerrors")
    for kind, paths in outcome.errors.items():
        print(f"  {kind:36}{sum(paths.values()):12,}  {', '.join(f'{k} {v}' for k, v in paths.items())}")
    busy = ", ".join(f"{k} {v}" for k, v in outcome.busy.items())
    print(f"  {'(late on a busy machine)':36}{sum(outcome.busy.values()):12,}  {busy}")
    print(f"  something waited for a processor in {outcome.waiting:.0%} of the time")
    print("\nerrors put into this history, and who found them")
    for kind, found in outcome.planted.items():
        print(f"  {kind:36}{', '.join(name if yes else f'NOT {name}' for name, yes in found.items())}")
    print("\nthe stalest read in ms, faults included, and convergence after the last change in ms")
    for path, late in outcome.late.items():
        print(
            f"  {path:16}driver {late.get('driver', 0):12,.1f}  executors {late.get('executors', 0):12,.1f}"
            f"  converged {outcome.converged.get(path)}"
        )
    for example in outcome.examples[:60]:
        print(" ", example)


def publish(outcome: Outcome, minutes: float, *, write: bool) -> None:
    """Write it below build, and for docs/assurance.md if it is wanted."""
    import pyspark

    violations = {kind: sum(paths.values()) for kind, paths in outcome.errors.items()}
    violations |= {"shown unmasked": outcome.leaks.get("not masked", 0)}
    times = [each for each in outcome.converged.values() if each is not None]
    content: dict[str, Any] = {
        **record.stamp(),
        "spark": pyspark.__version__,
        "python": platform.python_version(),
        "minutes": minutes,
        # Those that have found something.
        "reads": {kind: count - outcome.failed.get(kind, 0) for kind, count in outcome.reads.items()},
        "tasks": outcome.tasks,
        "rotations": sum(outcome.rotations.values()),
        "faults": {kind: row["faults"] for kind, row in sorted(outcome.faults.items())},
        "violations": violations | {"late on a busy machine": sum(outcome.busy.values())},
        "converged_seconds": round(max(times, default=0) / 1000, 2),
        "processes that did not converge": sum(each is None for each in outcome.converged.values()),
        "something waited for a processor": outcome.waiting,
        "failed reads": outcome.failed,
        "rotations of each path": outcome.rotations,
        "each fault": outcome.faults,
        "stalest read in ms": outcome.late,
        "masked": outcome.leaks,
        "errors put in, and who found them": outcome.planted,
        "small histories": outcome.small,
        "broken on purpose": outcome.broken,
    }
    BUILT.parent.mkdir(parents=True, exist_ok=True)
    BUILT.write_text(json.dumps(content, indent=1) + "\n")
    if write:
        record.write("history", content)


def add_broken(found: dict[str, dict[str, int]], *, write: bool) -> None:
    """Add to what is kept what was found of the product broken on purpose."""
    kept = record.read("history")
    if write and kept:
        record.write("history", {**kept, "broken on purpose": found})
    print(json.dumps(found, indent=1))
