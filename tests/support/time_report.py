"""Where a test run's time goes: wall-clock and processor seconds of each file, its fixtures and its processes included.

Seconds of the processor tell a file that computes from one that waits: files that wait run well beside others.
"""

from __future__ import annotations

import resource
import time
from collections import defaultdict
from collections.abc import Generator
from typing import Any

import pytest

#: Shorter lists hide the next candidate, longer ones nobody reads.
_LINES = 40
_KEY = "sparkconfig_time_report"


class TimeReport:
    """A pytest plugin that adds the table at the end of a run, with pytest-xdist for all of its processes."""

    def __init__(self) -> None:
        self._spent: defaultdict[str, tuple[float, float]] = defaultdict(lambda: (0.0, 0.0))
        self._began = time.monotonic()

    def _add(self, file: str, wall: float, cpu: float) -> None:
        before = self._spent[file]
        self._spent[file] = (before[0] + wall, before[1] + cpu)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        wall, cpu = time.monotonic(), _processor_seconds()
        try:
            return (yield)
        finally:
            self._add(item.location[0], time.monotonic() - wall, _processor_seconds() - cpu)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
        if output is not None:
            output[_KEY] = dict(self._spent)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A process of pytest-xdist has ended, with what its files took."""
        for file, (wall, cpu) in getattr(node, "workeroutput", {}).get(_KEY, {}).items():
            self._add(file, wall, cpu)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if not self._spent or terminalreporter.config.getoption("durations") is None:
            return
        terminalreporter.write_sep("=", "seconds of each file: wall clock, processor")
        ordered = sorted(self._spent.items(), key=lambda entry: -entry[1][0])
        rest = [spent for _, spent in ordered[_LINES:]]
        lines = ordered[:_LINES]
        if rest:
            lines.append((f"{len(rest)} more", (sum(wall for wall, _ in rest), sum(cpu for _, cpu in rest))))
        total = [sum(spent[column] for spent in self._spent.values()) for column in (0, 1)]
        lines.append((f"all, in {time.monotonic() - self._began:.0f} s", (total[0], total[1])))
        for name, (wall, cpu) in lines:
            terminalreporter.write_line(f"{wall:8.1f} {cpu:8.1f}  {name}")


def _processor_seconds() -> float:
    """Those of this process and of all its descendants that have ended and were waited for."""
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )
