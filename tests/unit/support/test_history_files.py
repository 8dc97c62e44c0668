"""What a run has written down, and the verdict that is made of it."""

from __future__ import annotations

import dataclasses
import json
import struct
from pathlib import Path

from history.evaluate import Fault, Outcome, Promise, evaluate
from history.journal import NO_VALUE, Journal, Reader, fingerprint
from history.pressure import Pressure
from history.timeline import Rotations, Version

MS = 1_000_000
FIRST = Promise(1, "first", 100 * MS, 1000 * MS)


def _write(folder: Path, reader: Reader, reads: list[tuple[int, int]], **more: int) -> None:
    """Reads of path 1: when each begins, in milliseconds, and what it finds."""
    journal = Journal(folder, reader)
    for begin, number in reads:
        journal.read(begin * MS, 1, number, number, **more)
    # They end when they begin.
    journal._lines = [line[:8] + line[:8] + line[16:] for line in journal._lines]
    journal.flush()


def _rotated(folder: Path, *versions: Version) -> None:
    rotations = Rotations(folder / "rotations")
    for each in versions:
        rotations.note(1, each)
    rotations.close()


def _found(outcome: Outcome) -> dict[str, int]:
    return {kind: sum(paths.values()) for kind, paths in outcome.errors.items() if paths}


def test_drivers_and_executors_have_bounds_of_their_own(tmp_path: Path) -> None:
    _rotated(tmp_path, Version(0, 0, 1), Version(1, 1000 * MS, 1000 * MS + 1))
    _write(
        tmp_path,
        Reader("d", "driver Scala", "A driver 10.0.0.1"),
        [(500, 0), (1050, 0), (1200, 0), (2400, 1)],
    )
    _write(
        tmp_path,
        Reader("e", "executor JDBC", "A 10.0.0.2"),
        [(500, 0), (1200, 0), (2400, 1)],
        floor=0,
        task=7,
    )
    outcome = evaluate(tmp_path, [FIRST])
    assert (_found(outcome), outcome.tasks, outcome.holds) == ({"stale": 1}, 1, False)
    assert outcome.reads == {"driver Scala": 4, "executor JDBC": 3}
    assert outcome.late == {"first": {"driver": 200.0, "executors": 200.0}}
    assert round(outcome.converged["first"] or 0) == 200
    assert "200.0 ms after" in outcome.examples[0]


def test_a_fault_excuses_those_whom_it_hits_while_it_lasts(tmp_path: Path) -> None:
    _rotated(tmp_path, Version(0, 0, 1), Version(1, 1000 * MS, 1000 * MS + 1))
    _write(tmp_path, Reader("a", "driver Scala", "A driver"), [(1500, 0), (9000, 1)])
    _write(tmp_path, Reader("b", "driver Scala", "B driver"), [(1500, 0), (9000, 1)])
    fault = Fault("side process killed", 900 * MS, 1000 * MS, 2000 * MS, ("A",))
    (tmp_path / "faults").write_text(json.dumps(dataclasses.asdict(fault)) + "\n")
    outcome = evaluate(tmp_path, [FIRST])
    assert _found(outcome) == {"stale": 1}
    assert outcome.examples[0].startswith("first: stale: b ")
    assert outcome.faults["side process killed"]["faults"] == 1


def test_a_value_that_its_store_took_away_is_used_no_more(tmp_path: Path) -> None:
    _rotated(tmp_path, Version(0, 0, 1), Version(1, 1000 * MS, 1000 * MS + 1, gone=True))
    _write(tmp_path, Reader("d", "driver Scala", "A driver"), [(500, 0), (1050, NO_VALUE), (1500, NO_VALUE)])
    assert evaluate(tmp_path, [FIRST]).holds
    _write(tmp_path, Reader("e", "driver Scala", "A driver"), [(1500, 0), (1600, NO_VALUE)])
    assert _found(evaluate(tmp_path, [FIRST])) == {"revoked": 1}


def test_time_in_which_something_waits_for_a_processor_is_counted_apart_but_not_more_than_a_second_of_it(
    tmp_path: Path,
) -> None:
    _rotated(tmp_path, Version(0, 0, 1), Version(1, 1000 * MS, 1000 * MS + 1))
    _write(tmp_path, Reader("d", "driver Scala", "A driver"), [(1300, 0), (2050, 0), (2200, 0), (4000, 1)])
    samples = [(at * MS, max(0, at - 1000) * MS) for at in range(0, 4000, 10)]
    (tmp_path / "pressure").write_bytes(b"".join(struct.pack(">qq", *each) for each in samples))
    outcome = evaluate(tmp_path, [FIRST])
    assert (_found(outcome), outcome.busy) == ({"stale": 1}, {"first": 2})
    assert outcome.waiting == 0.749
    assert Pressure(tmp_path / "none").waited(0, 5) == 0


def test_texts_that_a_store_has_chosen_have_the_numbers_that_it_gave_them(tmp_path: Path) -> None:
    _rotated(tmp_path, Version(0, 0, 1))
    named = {fingerprint(text): 0 for text in ("v-token-1", "generated")}
    (tmp_path / "named.json").write_text(json.dumps(named))
    journal = Journal(tmp_path, Reader("d", "driver Scala", "A driver"))
    journal.read(5, 1, fingerprint("v-token-1"), fingerprint("generated"))
    journal.flush()
    assert evaluate(tmp_path, [FIRST]).holds
