"""Whether readers of a path saw what they may: one pass over its reads, in time that grows with their number.

The promises (docs/rotation.md), each with the errors against it:

- Both keys come from one write: ``torn``.
- No process goes back: a read that ended before another one began has no newer number: ``backwards``.
- A task has at least what its driver had when it submitted it: ``older than submission``.
- A change is used within the bound of its store and of the fault in effect: ``stale``. What one process has seen is a
  change even while it is still being written. The same of a value that its store took away: ``revoked``.
- Nothing is read before it is written: ``from nowhere``.
- A value is there, unless its store took it away: ``lost``.

Without an error the reads can be put into one order with the writes such that each returns what was written last before
it, where a read may take effect as much earlier than it began as its bound allows. `brute` and Porcupine look for such
an order; the tests hold the three against each other.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from history.journal import FAILED, NO_VALUE, Read
from history.timeline import Bound, Version

KINDS = ("torn", "backwards", "older than submission", "stale", "revoked", "from nowhere", "lost")
_EXAMPLES = 20


class Seen(NamedTuple):
    """What one process read of a path, and how soon changes must reach it."""

    process: str
    bound: Bound
    reads: Sequence[Read]


@dataclass
class Verdict:
    """How many errors of each kind there are, some of them, and how late the latest allowed value was.

    Attributes:
        late: for each process, by how many nanoseconds its stalest read was behind the end of the write that it missed.
        failed: how many reads ended with an error that says nothing of the value.
        busy: how many reads are late only if the time counts in which something waited for a processor.
    """

    errors: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    examples: list[str] = field(default_factory=list)
    late: dict[str, int] = field(default_factory=dict)
    reads: int = 0
    failed: int = 0
    busy: int = 0

    @property
    def holds(self) -> bool:
        """True if no read broke a rule."""
        return not any(self.errors.values())

    def add(self, kind: str, process: str, read: Read, more: str = "") -> None:
        """Count an error."""
        self.errors[kind] += 1
        if sum(example.startswith(kind) for example in self.examples) < _EXAMPLES:
            self.examples.append(f"{kind}: {process} {read}{more}")


def check(
    versions: Sequence[Version],
    seen: Iterable[Seen],
    waited: Callable[[int, int], int] = lambda begin, end: 0,
) -> Verdict:
    """Check the reads of one path.

    Args:
        versions: its writes in their order, of which none begins before the one before it has ended.
        waited: how many nanoseconds between two moments do not count, since something waited for a processor.
    """
    history = _History(versions, waited)
    for each in seen:
        history.take(each)
    history.settle()
    return history.verdict


class _History:
    def __init__(self, versions: Sequence[Version], waited: Callable[[int, int], int]) -> None:
        self.verdict = Verdict()
        self._waited = waited
        self._versions = versions
        self._at = {version.number: index for index, version in enumerate(versions) if not version.gone}
        self._gone = [index for index, version in enumerate(versions) if version.gone]
        self._gone_begins = [versions[index].begin for index in self._gone]
        # When each write was seen first, or had ended.
        self._known = [version.end for version in versions]
        self._pending: list[tuple[Seen, list[tuple[Read, int, int]]]] = []

    def take(self, seen: Seen) -> None:
        """Look at what one process read, but for staleness, for which all processes count."""
        found: list[tuple[Read, int, int]] = []
        for read in sorted(seen.reads):
            self.verdict.reads += 1
            if FAILED in (read.user, read.password):
                self.verdict.failed += 1
                continue
            if read.user != read.password:
                self.verdict.add("torn", seen.process, read)
                continue
            earliest = seen.bound.earliest(read.begin)
            at = self._place(read, earliest)
            if at is None:
                self.verdict.add("lost" if read.user == NO_VALUE else "from nowhere", seen.process, read)
                continue
            found.append((read, at, earliest))
            if read.end < self._versions[at].begin:
                self.verdict.add("from nowhere", seen.process, read)
            elif self._is_certain(read, at):
                self._known[at] = min(self._known[at], read.end)
            if read.floor >= 0 and at < self._at.get(read.floor, 0):
                self.verdict.add("older than submission", seen.process, read)
        self._backwards(seen.process, found)
        self._pending.append((seen, found))

    def settle(self) -> None:
        """Find what is stale."""
        for index in range(len(self._known) - 2, -1, -1):
            self._known[index] = min(self._known[index], self._known[index + 1])
        for seen, found in self._pending:
            late = 0
            for read, at, earliest in found:
                if at + 1 < len(self._known):
                    missed = self._known[at + 1]
                    late = max(late, read.begin - missed)
                    if earliest > missed + self._waited(missed, read.begin):
                        more = f", {(read.begin - missed) / 1e6:.1f} ms after {self._versions[at + 1]}"
                        kind = "revoked" if self._was_gone(at, earliest) else "stale"
                        self.verdict.add(kind, seen.process, read, more)
                    elif earliest > missed:
                        self.verdict.busy += 1
            self.verdict.late[seen.process] = late

    def _place(self, read: Read, earliest: int) -> int | None:
        """Which version a read saw; of "no value" the first removal that may be meant."""
        if read.user != NO_VALUE:
            return self._at.get(read.user)
        last = bisect.bisect_right(self._gone_begins, read.end)
        for index in self._gone[max(0, last - 3) : last]:
            after = self._versions[index + 1].end if index + 1 < len(self._versions) else earliest
            if after >= earliest:
                return index
        return None

    def _was_gone(self, at: int, earliest: int) -> bool:
        """Whether a version has been taken away since, so long ago that it must be known."""
        gone = bisect.bisect_right(self._gone, at)
        return gone < len(self._gone) and self._known[self._gone[gone]] < earliest

    def _is_certain(self, read: Read, at: int) -> bool:
        """Whether a read tells that a version is there: "no value" may mean any removal."""
        return read.user != NO_VALUE or len(self._gone) == 1

    def _backwards(self, process: str, found: Sequence[tuple[Read, int, int]]) -> None:
        """Compare each read with those that had ended when it began."""
        by_end = sorted(found, key=lambda each: each[0].end)
        newest, ended = -1, 0
        for read, at, _ in found:
            while ended < len(by_end) and by_end[ended][0].end < read.begin:
                newest = max(newest, by_end[ended][1])
                ended += 1
            if at < newest:
                more = f", after one of {self._versions[newest].number}"
                self.verdict.add("backwards", process, read, more)


def converged(versions: Sequence[Version], seen: Sequence[Seen]) -> Mapping[str, int | None]:
    """For each process that read after the last change: how long after it the last read without it began; None: never.

    Never, if not even the last read of a process that has its bound behind it has the change.
    """
    last = versions[-1]
    wanted = NO_VALUE if last.gone else last.number
    result: dict[str, int | None] = {}
    for each in seen:
        after = sorted(read for read in each.reads if read.begin > last.end and read.user != FAILED)
        wrong = [read.begin for read in after if not read.user == wanted == read.password]
        if after and each.bound.earliest(after[-1].begin) > last.end:
            result[each.process] = (
                None if after[-1].begin in wrong[-1:] else max([0, *(at - last.end for at in wrong)])
            )
    return result
