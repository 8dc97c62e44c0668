"""Errors put into a history, each of which must be found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from history.check import Seen
from history.journal import Read
from history.timeline import Version

Planted = Mapping[str, Sequence[Seen]]


def planted(versions: Sequence[Version], seen: Sequence[Seen]) -> Planted:
    """The same history with one error of each kind, by the kind; those for which it has a place.

    Args:
        seen: without errors.
    """
    at = {version.number: index for index, version in enumerate(versions)}
    result: dict[str, Sequence[Seen]] = {}
    for process in seen:
        reads = sorted(process.reads)
        for index, read in enumerate(reads):
            if read.user <= 0 or at[read.user] == 0:
                continue
            place = at[read.user]
            older = versions[place - 1].number
            before = next((each for each in reversed(reads[:index]) if each.user >= 0), None)
            _plant(result, "torn", seen, process, read, read._replace(password=older))
            if (
                before
                and before.user == read.user
                and before.end < read.begin
                and not versions[place - 1].gone
            ):
                _plant(result, "backwards", seen, process, read, _with(read, older))
            if read.floor == read.user and not versions[place - 1].gone:
                _plant(result, "older than submission", seen, process, read, _with(read, older))
            stale = _stale(versions, process, read)
            if stale is not None:
                kind = "revoked" if versions[stale + 1].gone else "stale"
                _plant(result, kind, seen, process, read, _with(read, versions[stale].number))
            future = next((each for each in versions if each.begin > read.end and not each.gone), None)
            if future:
                _plant(result, "from nowhere", seen, process, read, _with(read, future.number))
    return result


def _stale(versions: Sequence[Version], process: Seen, read: Read) -> int | None:
    """The newest version that a read must not return any more."""
    earliest = process.bound.earliest(read.begin)
    missed = [index for index in range(1, len(versions)) if versions[index].end < earliest]
    return next((index - 1 for index in reversed(missed) if not versions[index - 1].gone), None)


def _with(read: Read, number: int) -> Read:
    return read._replace(user=number, password=number)


def _plant(
    result: dict[str, Sequence[Seen]], kind: str, seen: Sequence[Seen], process: Seen, read: Read, wrong: Read
) -> None:
    if kind not in result:
        reads = [wrong if each is read else each for each in process.reads]
        result[kind] = [process._replace(reads=reads) if each is process else each for each in seen]
