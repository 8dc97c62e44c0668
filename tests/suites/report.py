"""What differs between two runs of the same suites, for the terminal and for docs/compatibility.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from suites import plan

if TYPE_CHECKING:
    from suites.run import Outcome

PAGE = Path(__file__).resolve().parents[2] / "docs" / "compatibility.md"
BEGIN = "<!-- written by make spark-suites: begin -->"
END = "<!-- written by make spark-suites: end -->"


@dataclass(frozen=True)
class Row:
    """One group: how many tests ended how without sparkconfig and with it, and those that ended otherwise."""

    group: str
    off: Mapping[str, int]
    on: Mapping[str, int]
    seconds: tuple[float, float]
    differences: Mapping[str, str]


def compare(group: str, off: Outcome, on: Outcome) -> Row:
    """Tests that one side alone has count as differences too."""
    differences = {}
    for test in sorted(off.tests.keys() | on.tests.keys()):
        before, after = off.tests.get(test, "missing"), on.tests.get(test, "missing")
        if before != after:
            why = on.why.get(test) or off.why.get(test, "")
            differences[test] = f"{before} without, {after} with" + (f": {why[:300]}" if why else "")
    return Row(
        group, Counter(off.tests.values()), Counter(on.tests.values()), (off.seconds, on.seconds), differences
    )


def line(row: Row) -> str:
    """A row for the terminal."""
    counts = "; ".join(
        f"{side}: {', '.join(f'{number} {state}' for state, number in sorted(counts.items()))}"
        for side, counts in (("without", row.off), ("with", row.on))
    )
    took = " and ".join(f"{seconds:.0f}" for seconds in row.seconds)
    return f"{row.group}: {len(row.differences)} differences ({counts}; {took} s)"


def table(rows: Sequence[Row]) -> list[str]:
    """The rows in Markdown; a test that fails on both sides fails for lack of what only Spark's checkout has."""
    lines = [
        f"Spark {plan.SPARK}, each group in one JVM without sparkconfig and in one with it:",
        "",
        "| group | suites | passed without | passed with | failed or ignored on both sides | differences |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for row in rows:
        names = ", ".join(f"`{name.removeprefix('org.apache.spark.')}`" for name in plan.GROUPS[row.group])
        same = sum(row.off.values()) - row.off.get("passed", 0)
        lines.append(
            f"| {row.group} | {names} | {row.off.get('passed', 0)} | {row.on.get('passed', 0)} | {same} | "
            f"{len(row.differences)} |"
        )
    found = [(test, how) for row in rows for test, how in row.differences.items()]
    if found:
        lines += ["", "What differed:", ""]
        lines += [f"- `{test}`: {how.splitlines()[0]}" for test, how in found]
    return lines


def write(rows: Sequence[Row]) -> None:
    """Put the table into the page, between its marks."""
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text("\n".join([before + BEGIN, *table(rows), END]) + after, encoding="utf-8")
