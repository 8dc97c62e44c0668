"""What a cache knows of one path of a provider."""

from __future__ import annotations

import math
import os
import threading
from collections import deque
from collections.abc import Set
from typing import Any

from sparkconfig._base.deadline import Outcome
from sparkconfig._base.record import Record
from sparkconfig.errors import SparkConfigError
from sparkconfig.providers.base import ChangeCallback, ConfigData

__all__ = ["Entry", "Kept", "PathState", "SlowRead", "differs", "jittered"]

_JITTER = 0.1


class PathState(Record):
    """What is known of one path, without values.

    Attributes:
        path: the provider's path.
        keys: how many keys are in use.
        age_ms: milliseconds since the last good answer, or None if there was none.
        failures: attempts in a row that failed.
        error: the last error's text, or None.
        due_ms: milliseconds until the store is asked again; negative: at the next use.
        expires_ms: milliseconds until the values end if the store stays unreachable, or None without values.
        reads: how often the store was asked.
        pushed: whether the provider reports changes of this path by itself.
    """

    path: str
    keys: int
    age_ms: int | None
    failures: int
    error: str | None
    due_ms: int = 0
    expires_ms: int | None = None
    reads: int = 0
    pushed: bool = False


class Kept(Record):
    """What a cache held of one path at one moment; see :meth:`CachingProvider.keep`."""

    data: ConfigData | None
    keys: frozenset[str]
    read_at: float
    due: float


class SlowRead(Record, frozen=False):
    """A read that is on the way.

    Attributes:
        wanted: the keys that it asks for.
        until: when another one may be begun.
        pushes: the path's when it began.
        outcome: its end, once it has one.
        left: whether its caller went on without it, so that its end has to be reported.
    """

    wanted: frozenset[str]
    until: float
    pushes: int
    outcome: Outcome[ConfigData] | None = None
    left: bool = False


class Entry:
    """One path: its keys in use, the last good answer, and when to ask again. Times are in milliseconds."""

    __slots__ = (
        "data",
        "due",
        "error",
        "failures",
        "following",
        "keys",
        "lock",
        "problem",
        "pushed",
        "pushes",
        "read_at",
        "reading",
        "reads",
        "renewals",
        "renewed_at",
        "slow",
        "subscribed",
        "told",
        "version",
    )

    def __init__(self) -> None:
        self.lock = threading.Lock()
        # Of subscribers; in the background.
        self.following = threading.Lock()
        # What a read has to say, when it has left the lock.
        self.told: deque[tuple[Any, ...]] = deque()
        self.keys: set[str] = set()
        self.data: ConfigData | None = None
        self.read_at = 0.0
        self.due = 0.0
        self.failures = 0
        self.error: str | None = None
        self.reads = 0
        self.pushes = 0
        # Reads that a refused use has brought forward: when the last one was requested, and how many in a row.
        self.renewed_at = -math.inf
        self.renewals = 0
        self.slow: SlowRead | None = None
        self.subscribed: frozenset[str] = frozenset()
        self.pushed: ChangeCallback | None = None
        # Why nothing is held, after a read that failed.
        self.problem: SparkConfigError | None = None
        # Whether a thread reads it in the background.
        self.reading = False
        # Grows when what is answered differs from the answer before.
        self.version = 0

    def ask_again(self) -> None:
        """The store may answer something else from now on: a read that has begun before is not the last one."""
        self.pushes += 1
        self.due = 0.0

    def state(self, path: str, now: float, stale_expiry_ms: int) -> PathState:
        """Return what is known of it, without values."""
        return PathState(
            path=path,
            keys=len(self.keys),
            age_ms=None if self.data is None else int(now - self.read_at),
            failures=self.failures,
            error=self.error,
            due_ms=_whole(self.due - now),
            expires_ms=None if self.data is None else _whole(self.read_at + stale_expiry_ms - now),
            reads=self.reads,
            pushed=bool(self.subscribed),
        )


def differs(before: ConfigData, after: ConfigData, keys: Set[str]) -> bool:
    """Whether one of the keys has another value, or is another kind of value."""
    if before.plain != after.plain:
        return True
    return any(before.data.get(key) != after.data.get(key) for key in keys)


def jittered(ms: float) -> float:
    """A little less, so that not everything is read at once."""
    return ms * (1 - _JITTER * int.from_bytes(os.urandom(2), "big") / 0xFFFF)


def _whole(ms: float) -> int:
    """Milliseconds as a whole number; a frozen path is due in the far future."""
    return int(min(ms, 2**53))
