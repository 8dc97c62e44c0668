"""The same question asked slowly: is there an order of writes and reads that the promises allow? For small ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from history.check import Seen
from history.journal import NO_VALUE
from history.timeline import Version

TORN = -99


class Operation(NamedTuple):
    """One step that takes effect at a moment between call and back.

    Attributes:
        process: whose steps are in order; 0 writes.
        turn: the number of the step among those of its process.
        writes: the new value, or None.
        reads: what was read, or None.
        after: the process and how many of its steps must be done before.
    """

    call: int
    back: int
    process: int
    turn: int
    writes: int | None
    reads: int | None
    after: tuple[int, int] = (0, 0)


def operations(versions: Sequence[Version], seen: Sequence[Seen]) -> list[Operation]:
    """The operations of a history; one process that reads is one thread.

    The driver is the first process. Of a task's reads each comes after the read of the driver that found its floor.
    """
    result = [
        Operation(each.begin, each.end, 0, turn, NO_VALUE if each.gone else each.number, None)
        for turn, each in enumerate(versions)
    ]
    driver = sorted(seen[0].reads)
    for process, each in enumerate(seen, 1):
        for turn, read in enumerate(sorted(each.reads)):
            found = read.user if read.user == read.password else TORN
            before = [i for i, of in enumerate(driver, 1) if of.end < read.begin and of.user == read.floor]
            after = (1, before[0]) if read.floor >= 0 and before else (0, 0)
            earliest = each.bound.earliest(read.begin)
            result.append(Operation(earliest, read.end, process, turn, None, found, after))
    return result


def is_possible(given: Sequence[Operation]) -> bool:
    """Whether there is such an order."""
    processes = max((each.process for each in given), default=0) + 1
    turns: list[list[Operation]] = [[] for _ in range(processes)]
    for each in sorted(given, key=lambda each: each.turn):
        turns[each.process].append(each)

    @cache
    def possible(done: tuple[int, ...], now: int | None) -> bool:
        left = [steps[count:] for steps, count in zip(turns, done, strict=True)]
        if not any(left):
            return True
        # What has come back must be done before what is called later.
        first_back = min(each.back for steps in left for each in steps)
        for process, steps in enumerate(left):
            if not steps or steps[0].call > first_back or done[steps[0].after[0]] < steps[0].after[1]:
                continue
            step = steps[0]
            if step.reads is not None and step.reads != now:
                continue
            then = tuple(count + (index == process) for index, count in enumerate(done))
            if possible(then, now if step.writes is None else step.writes):
                return True
        return False

    return possible((0,) * processes, None)
