"""One task in whose middle a test changes something, and that nothing tried it again afterwards."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

#: Of these, 64 are more than the buffers between a Python worker and its executor hold: rows in front leave them.
_PAD = "." * 4096


@contextmanager
def one_task(context: Any) -> Iterator[None]:
    """What runs in this thread meanwhile.

    Args:
        context: the SparkContext.

    Raises:
        AssertionError: more than one task of one attempt did it.
    """
    group = secrets.token_hex(4)
    context.setJobGroup(group, "one task")
    try:
        yield
    finally:
        context._jsc.sc().clearJobGroup()
    context._jsc.sc().listenerBus().waitUntilEmpty()
    tracker = context.statusTracker()
    jobs = map(tracker.getJobInfo, tracker.getJobIdsForGroup(group))
    stages = [tracker.getStageInfo(stage) for job in jobs for stage in job.stageIds]
    ran = [(stage.numTasks, stage.numCompletedTasks, stage.numFailedTasks) for stage in stages]
    assert ran == [(1, 1, 0)], "tasks, completed, failed"


class PausedRows:
    """A frame with one column ``id`` whose one task hands over some rows, waits for `go_on`, and then the others.

    The task fails when nobody lets it go on for two minutes.
    """

    def __init__(self, spark: Any, folder: Path, before: Sequence[int], after: Sequence[int]) -> None:
        """Nothing runs yet.

        Args:
            folder: of this frame alone.
        """
        self._go, self._waits = folder / "go", folder / "waits"
        go, waits = self._go, self._waits

        # Its executor has none of the tests' modules, and must not need one.
        def rows(_: Any) -> Any:
            # With a long text each, and each with another: pickle writes equal ones once, and gathers short rows.
            yield from ((each, f"{each}{_PAD}") for each in before)
            yield from ((None, f"{number}{_PAD}") for number in range(64))
            waits.touch()
            deadline = time.monotonic() + 120
            while not go.exists():
                if time.monotonic() > deadline:
                    raise TimeoutError("nobody let the task go on")
                time.sleep(0.05)
            yield from ((each, "") for each in after)

        found = spark.sparkContext.parallelize([0], 1).mapPartitions(rows)
        self.frame = (
            spark.createDataFrame(found, "id long, pad string", verifySchema=False).select("id").dropna()
        )

    def waits(self) -> bool:
        """Whether the task has come to its middle."""
        return self._waits.exists()

    def go_on(self) -> None:
        """Let the task hand over the rest."""
        self._go.touch()
