"""The tables of docs/assurance.md: what the runs of the laboratory found, from what they kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import files

Row = list[str]
Table = Callable[[list[str], list[Row]], list[str]]

KEPT = files.ROOT / "docs" / "assurance"
#: What other pages are made of, too.
ELSEWHERE = {
    "surface": files.ROOT / "tests" / "assurance" / "surface" / "results.json",
    "suites": files.ROOT / "tests" / "assurance" / "suites" / "results.json",
}
EQUIVALENT = files.ROOT / "tests" / "assurance" / "mutation" / "equivalent.json"


def lines(table: Table, kept: Path = KEPT) -> list[str]:
    """Return a row for each run, and what grows."""
    places = {path.stem: path for path in kept.glob("*.json")} | ELSEWHERE
    found = {name: _read(path) for name, path in places.items()}
    rows: list[Row] = []
    for name, (what, command, part) in RUNS.items():
        for qualifier, result, run in part(found[name]) if name in found else [("", "never run", "")]:
            rows.append([f"{what}{qualifier}", result, f"{run}: `{command}`".removeprefix(": ")])
    return [*table(["looked at", "found", "run"], rows), "", *_growth(found.get("growth"))]


def _read(path: Path) -> Any:  # noqa: ANN401 - JSON
    return json.loads(path.read_text(encoding="utf-8"))


def when(*runs: Mapping[str, Any], spark: str = "") -> str:
    """Return when runs took place, on which Spark, and on how many cores where that is known."""
    dates = sorted({run["date"] for run in runs})
    cores = sorted({run["cores"] for run in runs if run.get("cores")})
    told = [dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"]
    return ", ".join(
        [*told, *([f"Spark {spark}"] if spark else []), *(f"{number} cores" for number in cores)]
    )


def _model(found: Mapping[str, Any]) -> Iterator[Row]:
    states = sum(run["states"] for run in found["runs"].values())
    told = (
        f"{len(found['properties'])} properties hold in all {states:,} states; {len(found['mutants refuted'])} mutants "
        f"refuted; {found['histories replayed']} histories of the code replayed"
    )
    yield ["", told, f"{when(found)}, {found['seconds']} s"]


def _history(found: Mapping[str, Any]) -> Iterator[Row]:
    faults = found["faults"]
    told = (
        f"{found['minutes']:g} minutes, {found['rotations']:,} rotations, {sum(faults.values()):,} faults of "
        f"{len(faults)} kinds; reads: {_counts(found['reads'])}; violations: {_counts(found['violations'])}; "
        f"converged in {found['converged_seconds']:g} s"
    )
    if broken := found.get("broken on purpose"):
        told += f"; broken on purpose: {sum(map(bool, broken.values()))} of {len(broken)} found"
    yield ["", told, when(found, spark=found["spark"])]


def _counts(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {number:,}" for kind, number in numbers.items())


def _fuzz(found: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    for target in sorted({run["target"] for run in found}):
        runs = [run for run in found if run["target"] == target]
        total = {key: sum(run[key] for run in runs) for key in ("seconds", "executions", "failures")}
        told = (
            f"{total['seconds'] / 3600:.2f} hours, {total['executions']:,} executions, {total['failures']} failed; "
            f"corpus of {runs[-1]['corpus']:,}"
        )
        yield [f", {target}", told, when(*runs)]


def _mutation(found: Mapping[str, Mapping[str, Any]]) -> Iterator[Row]:
    equivalent = _read(EQUIVALENT) if EQUIVALENT.exists() else {}
    for package, run in found.items():
        survivors = run["survivors"]
        judged = sum(name in equivalent for name in survivors)
        score = 100 * (1 - len(survivors) / run["mutants"])
        told = (
            f"{score:.1f} % of {run['mutants']:,} mutants noticed ({run['tenths']} of 10 tenths); "
            f"{len(survivors):,} survived, {judged} of them judged equivalent"
        )
        yield [f", {package}", told, when(run)]


def _surface(found: Sequence[Sequence[Any]]) -> Iterator[Row]:
    made, sent, hits = (sum(int(str(row[column]).replace(",", "")) for row in found) for column in (1, 2, 6))
    runs = [{"date": row[7], "cores": row[8]} for row in found]
    sparks = dict.fromkeys(row[0].partition(", ")[2] for row in found)
    yield ["", f"{sent:,} of {made:,} attacks sent, {hits:,} hits", when(*runs, spark=", ".join(sparks))]


def _audit(found: Mapping[str, Mapping[str, Any]]) -> Iterator[Row]:
    told = "; ".join(
        f"{spark}: {', '.join(f'{how} {number:,}' for how, number in run['found'].items())}"
        for spark, run in found.items()
    )
    yield ["", told, when(*found.values(), spark=", ".join(found))]


def _suites(found: Sequence[Mapping[str, Any]]) -> Iterator[Row]:
    passed = sum(row["tests"].get("passed", 0) for row in found)
    differences = sum(len(row["differences"]) for row in found)
    sparks = dict.fromkeys(row["spark"] for row in found)
    told = f"{passed:,} tests passed; not as on stock Spark: {differences}"
    yield ["", told, when(*found, spark=", ".join(sparks))]


def _growing(found: Mapping[str, Any]) -> Iterator[Row]:
    over = [row for row in found["rows"] if not row["within"]]
    told = f"{len(found['rows'])} slopes, {len(over)} above their bounds"
    yield ["", told, when(found, spark=found["spark"])]


#: What the page tells of each scenario, and what is above its bound; growth.json has the rest.
MEASURES = ("heap", "side process", "descriptors", "files")


def _growth(found: Mapping[str, Any] | None) -> list[str]:
    if not found:
        return []
    told: dict[str, list[str]] = {}
    for row in found["rows"]:
        stock = "" if row["stock"] is None else f" ({_slope(row['stock'])})"
        above = "" if row["within"] else ", **above its bound**"
        cells = told.setdefault(f"{row['count']:,} {row['per']}", [])
        if row["what"] in MEASURES or above:
            cells.append(f"{row['what']} {_slope(row['ours'])}{stock}{above}")
    return [
        "What each of so many adds, in bytes and numbers (on stock Spark):",
        "",
        *(f"- {what}: {', '.join(cells)}" for what, cells in told.items()),
    ]


def _slope(number: float) -> str:
    return f"{round(number, 2) or 0:,g}" if abs(number) < 100 else f"{number:,.0f}"


#: Each kind of run: what the page calls it, the command that prints it, and what makes its rows.
RUNS: dict[str, tuple[str, str, Callable[[Any], Iterator[Row]]]] = {
    "model": ("[Rotation](rotation.md) as a model", "make model", _model),
    "history": ("Histories of real runs with faults", "make history MINUTES=60", _history),
    "fuzz": ("Fuzzing", "make fuzz", _fuzz),
    "mutation": ("Mutants", "make mutation", _mutation),
    "surface": ("[Shared servers](shared-servers.md)", "make attack", _surface),
    "audit": ("[Secrets shown](leak-audit.md)", "make audit", _audit),
    "suites": ("[Spark's own tests](compatibility.md)", "make spark-suites", _suites),
    "growth": ("Growth", "make growth", _growing),
}
