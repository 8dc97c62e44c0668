"""What counts as a difference between Spark's own tests with sparkconfig and without it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from suites import plan, run
from suites.outcome import Outcome

SUITE = "org.apache.spark.SomeSuite"
TEST = f"{SUITE}: a test"


class Played:
    """Suites that end as they are told: with and without sparkconfig, turn by turn."""

    def __init__(self, *turns: tuple[str, str], test: str = TEST) -> None:
        self.turns = turns
        self.test = test
        self.asked: list[tuple[bool, int]] = []

    def outcome(self, name: str, suites: Sequence[str], *, plugin: bool, turn: int = 1) -> Outcome:
        """One side of one turn."""
        self.asked.append((plugin, turn))
        on, off = self.turns[turn - 1]
        return Outcome({self.test: on if plugin else off}, 1.0)


def test_what_differs_twice_in_the_same_way_is_a_difference() -> None:
    played = Played(("failed", "passed"), ("failed", "passed"))
    row = run.compare(played, "4.2.0", "core", [SUITE])  # type: ignore[arg-type]
    assert list(row.differences) == [TEST]
    assert not row.unstable


@pytest.mark.parametrize("second", [("passed", "passed"), ("passed", "failed"), ("failed", "failed")])
def test_what_does_not_differ_again_is_unstable(second: tuple[str, str]) -> None:
    row = run.compare(Played(("failed", "passed"), second), "4.2.0", "core", [SUITE])  # type: ignore[arg-type]
    assert not row.differences
    assert row.unstable == [TEST]


def test_what_is_meant_needs_no_second_run() -> None:
    (_, meant), *_ = plan.EXPLAINED
    played = Played(("failed", "passed"), test=meant)
    row = run.compare(played, "4.2.0", "core", [meant.partition(": ")[0]])  # type: ignore[arg-type]
    assert list(row.differences) == [meant]
    assert played.asked == [(True, 1), (False, 1)]


def test_what_passes_with_sparkconfig_runs_once() -> None:
    played = Played(("passed", "failed"))
    assert not run.compare(played, "4.2.0", "core", [SUITE]).differences  # type: ignore[arg-type]
    assert played.asked == [(True, 1)]
