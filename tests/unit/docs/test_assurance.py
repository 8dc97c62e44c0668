"""docs/assurance.md: what runs keep, and the rows that are made of it."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

MODEL = {
    "date": "2026-12-01", "cores": 2, "seconds": 590, "properties": ["one", "two"], "mutants refuted": ["a", "b", "c"],
    "runs": {"small": {"states": 1000, "seconds": 2.5}, "large": {"states": 2000, "seconds": 3}},
    "histories replayed": 5,
}  # fmt: skip
HISTORY = {
    "date": "2026-12-01", "spark": "4.3.0", "cores": 2, "minutes": 60, "reads": {"workers": 1000, "executors": 20},
    "rotations": 2000, "faults": {"kill": 3, "slow": 4}, "violations": {"torn": 0, "backwards": 1},
    "converged_seconds": 1.5,
}  # fmt: skip
FUZZED = {
    "target": "properties",
    "date": "2026-12-01",
    "cores": 2,
    "seconds": 3600,
    "executions": 1000,
    "failures": 0,
}
FUZZ = [
    {**FUZZED, "corpus": 7},
    {**FUZZED, "date": "2026-12-03", "seconds": 1800, "executions": 500, "failures": 1, "corpus": 9},
]
DESCRIPTORS = {
    "what": "descriptors",
    "per": "starts",
    "count": 100,
    "ours": 1.0,
    "stock": 0.0,
    "within": False,
}
HEAP = {"what": "heap", "per": "rotations", "count": 10000, "ours": 12345.6, "stock": None, "within": True}
GROWTH = {
    "date": "2026-12-01", "spark": "4.3.0", "cores": 2,
    "rows": [DESCRIPTORS, HEAP, {**HEAP, "what": "descriptors", "ours": -0.001}],
}  # fmt: skip


@pytest.fixture(scope="module")
def page():
    paths = [str(ROOT / "tools" / each) for each in ("docs", "surface")]
    sys.path[:0] = paths
    yield runpy.run_path(str(ROOT / "tools" / "docs" / "assurance_table.py"))
    del sys.path[: len(paths)]


@pytest.fixture
def told(page, tmp_path):
    """Return the rows by what was looked at, for runs that kept these data."""

    def rows(**found):
        for name, data in found.items():
            (tmp_path / f"{name}.json").write_text(json.dumps(data))
        lines = page["lines"](lambda titles, rows: rows, tmp_path)
        return {row[0].partition("]")[0].strip("["): row[1:] for row in lines if isinstance(row, list)}

    return rows


def test_what_was_never_run_is_on_the_page_with_its_command(told):
    rows = told()
    never = {what: command for what, (result, command) in rows.items() if result == "never run"}
    assert never == {
        "Rotation": "`make model`",
        "Histories of real runs with faults": "`make history MINUTES=60`",
        "Fuzzing": "`make fuzz`",
        "Mutants": "`make mutation`",
        "Secrets shown": "`make audit`",
        "Growth": "`make growth`",
    }


def test_a_model(told):
    assert told(model=MODEL)["Rotation"] == [
        "2 properties hold in all 3,000 states; 3 mutants refuted; 5 histories of the code replayed",
        "2026-12-01, 2 cores, 590 s: `make model`",
    ]


def test_a_history(told):
    found, run = told(history=HISTORY)["Histories of real runs with faults"]
    assert run == "2026-12-01, Spark 4.3.0, 2 cores: `make history MINUTES=60`"
    assert found == (
        "60 minutes, 2,000 rotations, 7 faults of 2 kinds; reads: workers 1,000, executors 20; "
        "violations: torn 0, backwards 1; converged in 1.5 s"
    )
    broken = {"an older generation wins": {"backwards": 4}, "a push without acknowledgement": {}}
    found, _ = told(history={**HISTORY, "broken on purpose": broken})["Histories of real runs with faults"]
    assert found.endswith("converged in 1.5 s; broken on purpose: 1 of 2 found")


def test_runs_of_a_fuzzer_add_up(told):
    assert told(fuzz=FUZZ)["Fuzzing, properties"] == [
        "1.50 hours, 1,500 executions, 1 failed; corpus of 9",
        "2026-12-01 to 2026-12-03, 2 cores: `make fuzz`",
    ]


def test_survivors_of_mutation_that_were_judged_equivalent(told, page, tmp_path, monkeypatch):
    judged = tmp_path / "judged"
    judged.write_text(json.dumps({"a": "the order does not matter", "gone": "no longer a mutant"}))
    monkeypatch.setitem(page["_mutation"].__globals__, "EQUIVALENT", judged)
    run = {"date": "2026-12-01", "cores": 2, "tenths": 1, "mutants": 10, "survivors": ["a", "b"]}
    assert told(mutation={"policy": run})["Mutants, policy"] == [
        "80.0 % of 10 mutants noticed (1 of 10 tenths); 2 survived, 1 of them judged equivalent",
        "2026-12-01, 2 cores: `make mutation`",
    ]


def test_growth(told, page):
    assert told(growth=GROWTH)["Growth"] == [
        "3 slopes, 1 above their bounds",
        "2026-12-01, Spark 4.3.0, 2 cores: `make growth`",
    ]
    assert page["_growth"](GROWTH)[2:] == [
        "- 100 starts: descriptors 1 (0), **above its bound**",
        "- 10,000 rotations: heap 12,346, descriptors 0",
    ]


def test_other_pages_data_have_a_date(told):
    for what in ("Shared servers", "Spark's own tests"):
        assert told()[what][1].startswith("20"), what


def test_what_a_run_keeps_can_be_read_again(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "assurance"))
    import record

    monkeypatch.setattr(record, "FOLDER", tmp_path / "kept")
    assert record.read("fuzz") is None
    record.write("fuzz", [{**record.stamp(), "target": "properties"}])
    (run,) = record.read("fuzz")
    assert run["target"] == "properties"
    assert run["cores"] >= 1
    assert len(run["date"]) == len("2026-12-01")
