"""The lists of docs/real.md, from what runs of `make real` found. It needs no Spark."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

RESULTS = Path(__file__).with_name("results.json")
#: Beside the steps of a suite: why some of its tests did not run.
LEFT_OUT = "left out"
STEPS = ("write", "read", "rotate", "leaks")
#: Of a connector with a session extension: write, read and rotate once more, with ours in front of it and not behind.
ORDERS = "both orders"


@dataclass(frozen=True)
class Row:
    """One source on one release of Spark: how each step ended (ran, failed, or why it did not run)."""

    spark: str
    title: str
    steps: dict[str, str]

    def line(self) -> str:
        """For the terminal."""
        return f"{self.spark} {self.title}: " + ", ".join(
            f"{step} {how}" for step, how in self.steps.items() if how
        )


def lines() -> list[str]:
    """The sources in Markdown, by the Sparks on which each ended alike; left-out steps are named below."""
    rows = [Row(**each) for each in json.loads(RESULTS.read_text(encoding="utf-8"))]
    table: dict[tuple[str, ...], list[str]] = {}
    notes: dict[str, list[str]] = {}
    for row in rows:
        lacks = [step for step in STEPS if not row.steps.get(step)]
        for step in (*STEPS, ORDERS):
            how = row.steps.get(step, "")
            if how not in ("", "ran"):
                lacks.append(f"{step}: {'failed' if how == 'failed' else 'not run'}")
                notes.setdefault(f"{row.title}: {how}", []).append(row.spark)
        if LEFT_OUT in row.steps:
            notes.setdefault(f"{row.title}, left out: {row.steps[LEFT_OUT]}", []).append(row.spark)
        marked = f"{row.title} *" if row.steps.get(ORDERS) == "ran" else row.title
        table.setdefault((marked, ", ".join(lacks)), []).append(row.spark)
    sections: dict[str, list[str]] = {}
    for (title, without), sparks in table.items():
        line = f"- {title} (without {without})" if without else f"- {title}"
        sections.setdefault(", ".join(sparks), []).append(line)
    listed = [f"- Spark {', '.join(dict.fromkeys(sparks))}, {note}" for note, sparks in notes.items()]
    body = [line for names, titles in sections.items() for line in (f"Spark {names}:", "", *titles, "")]
    return [*body, *(["Not run:", "", *listed] if listed else [])]
