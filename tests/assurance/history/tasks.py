"""What Python workers run: a task that reads all paths again and again."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from history.journal import FAILED, NO_VALUE, Journal, Reader, number_in
from history.paths import Plan, WatchedPath

_journal: Journal | None = None


def pair(path: WatchedPath) -> tuple[int, int]:
    """What both keys of a path have in one use of them, as numbers."""
    from sparkconfig.errors import SparkConfigError, UnresolvedReferenceError
    from sparkconfig.worker import configs

    try:
        found = configs({"user": path.user, "password": path.password})
    except UnresolvedReferenceError:
        return NO_VALUE, NO_VALUE
    except SparkConfigError:
        return FAILED, FAILED
    user, password = (text if isinstance(text, str) else text.reveal() for text in found.values())
    return number_in(user), number_in(password)


class PythonTask:
    """Reads for a while, and shows the password once: it must be masked in the executor's log.

    Args:
        floors: the number that the driver had of each path.
    """

    def __init__(self, plan: Plan, floors: Mapping[int, int]) -> None:
        self._plan = plan
        self._floors = floors

    def __call__(self, rows: Iterator[object]) -> Iterator[int]:
        """Read until the time is over."""
        from pyspark import TaskContext

        global _journal  # noqa: PLW0603 - one for each process
        context = TaskContext.get()
        task = int(context.taskAttemptId()) if context else 0
        plan = self._plan
        if _journal is None:
            where = f"{plan.name} {os.environ.get('SPARK_LOCAL_IP', '')}"
            _journal = Journal(
                Path(plan.folder),
                Reader(f"worker-{os.getpid()}-{time.monotonic_ns()}", "Python worker", where),
            )
        pause = plan.seconds / plan.reads
        try:
            for number in range(plan.reads):
                path = plan.paths[number % len(plan.paths)]
                begin = time.monotonic_ns()
                user, password = pair(path)
                _journal.read(
                    begin, path.number, user, password, floor=self._floors.get(path.number, -1), task=task
                )
                time.sleep(pause)
            _show(plan.paths[task % len(plan.paths)])
        finally:
            _journal.flush()
        yield plan.reads


def _show(path: WatchedPath) -> None:
    from sparkconfig.errors import SparkConfigError
    from sparkconfig.worker import current

    try:
        password = current(path.password).reveal()
    except SparkConfigError:
        return
    print(f"a task uses {password} of {path.name}", file=sys.stderr, flush=True)
