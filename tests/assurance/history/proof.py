"""What the checker is worth: two others are asked, about small histories and about errors put into a real one."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from history.brute import Operation, is_possible, operations
from history.check import Seen, check
from history.journal import Read
from history.planted import planted
from history.small import porcupine, random_history
from history.timeline import Version

_VERSIONS = 6
_WORKERS = 2
_READS = 12


def small_histories(count: int, seed: str) -> dict[str, int]:
    """Ask all three about small random histories; -1: Porcupine could not be asked."""
    chance = random.Random(seed)
    histories = [random_history(chance, wildness=chance.choice((0.0, 0.1, 0.4))) for _ in range(count)]
    said = [check(*each).holds for each in histories]
    found = [operations(*each) for each in histories]
    searched = [is_possible(each) for each in found]
    theirs = _porcupine(found)
    return {
        "histories": count,
        "right": sum(searched),
        "as the search of all orders": sum(a == b for a, b in zip(said, searched, strict=True)),
        "as Porcupine": sum(a == b for a, b in zip(said, theirs, strict=True)) if theirs else -1,
    }


def errors_in_recorded(
    paths: Sequence[tuple[Sequence[Version], Sequence[Seen]]],
) -> dict[str, dict[str, bool]]:
    """Put one error of each kind into a part of a recorded history; tell which of the three find it.

    Args:
        paths: the rotations of some paths, and what was seen of each; a driver is the first.
    """
    result: dict[str, dict[str, bool]] = {}
    wrong: list[tuple[str, Sequence[Version], Sequence[Seen]]] = []
    for versions, seen in _parts(paths):
        if not check(versions, seen).holds or not is_possible(operations(versions, seen)):
            continue
        for kind, history in planted(versions, seen).items():
            if kind in result or (is_possible(operations(versions, history)) and kind != "torn"):
                continue
            found = check(versions, history).errors[kind] > 0
            result[kind] = {
                "checker": found,
                "search of all orders": not is_possible(operations(versions, history)),
            }
            wrong.append((kind, versions, history))
    theirs = _porcupine([operations(versions, history) for _, versions, history in wrong])
    for (kind, _, _), possible in zip(wrong, theirs, strict=False):
        result[kind]["Porcupine"] = not possible
    return result


def _porcupine(given: Sequence[Sequence[Operation]]) -> list[bool]:
    with tempfile.TemporaryDirectory() as folder:
        try:
            return porcupine(given, Path(folder))
        except FileNotFoundError:
            return []


def _parts(
    paths: Sequence[tuple[Sequence[Version], Sequence[Seen]]],
) -> Iterator[tuple[list[Version], list[Seen]]]:
    """Parts of a few rotations, a driver and two workers, each of which is one thread there."""
    for versions, seen in paths:
        driver, *others = seen
        gone = [index for index, each in enumerate(versions) if each.gone]
        for first in [
            *(max(0, each - 3) for each in gone[:3]),
            *range(0, max(1, len(versions) - _VERSIONS), 7),
        ][:60]:
            part = list(versions[first : first + _VERSIONS])
            after = versions[first + _VERSIONS].begin if first + _VERSIONS < len(versions) else 1 << 62
            # The first of each number: what a task's floor may mean.
            firsts: dict[int, Read] = {}
            for read in sorted(_within(driver, part, after), key=lambda each: each.end):
                firsts.setdefault(read.user, read)
            chosen = [driver._replace(process="driver", reads=_one_thread(sorted(firsts.values())))]
            for each in others:
                reads = [
                    read if read.floor in firsts else read._replace(floor=-1)
                    for read in _within(each, part, after)
                ]
                few = _one_thread(sorted(reads))[:: max(1, len(reads) // _READS)]
                if len(few) > 3 and len(chosen) <= _WORKERS:
                    chosen.append(each._replace(reads=few))
            if len(chosen) > _WORKERS:
                yield part, chosen


def _within(seen: Seen, versions: Sequence[Version], after: int) -> list[Read]:
    """The reads between the first of these rotations and the one after the last."""
    numbers = {each.number for each in versions}
    return [
        read for read in seen.reads
        if versions[0].end < read.begin and read.end < after and read.user == read.password
        and (read.user in numbers or read.user == -1) and seen.bound.earliest(read.begin) > versions[0].end
    ]  # fmt: skip


def _one_thread(reads: Sequence[Read]) -> list[Read]:
    result: list[Read] = []
    for read in reads:
        if not result or result[-1].end < read.begin:
            result.append(read)
    return result
