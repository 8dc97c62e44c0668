"""What a cache knows of one path of a provider."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field

from sparkconfig._deadline import Outcome
from sparkconfig.providers.base import ChangeCallback, ConfigData
from sparkconfig.resolution.freshness import FileState

__all__ = ["Entry", "Kept", "PathState", "SlowRead"]


@dataclass(frozen=True)
class PathState:
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


@dataclass(frozen=True)
class Kept:
    """What a cache held of one path at one moment; see :meth:`CachingProvider.keep`."""

    data: ConfigData | None
    keys: frozenset[str]
    read_at: float
    due: float


@dataclass
class SlowRead:
    """A read that is on the way.

    Attributes:
        wanted: the keys that it asks for.
        until: when another one may be begun.
        outcome: its end, once it has one.
        left: whether its caller went on without it, so that somebody has to be told of its end.
    """

    wanted: frozenset[str]
    until: float
    outcome: Outcome[ConfigData] | None = field(default=None, repr=False)
    left: bool = False


class Entry:
    """One path: its keys in use, the last good answer, and when to ask again. Times are in milliseconds."""

    __slots__ = (
        "data",
        "due",
        "error",
        "failures",
        "freshness",
        "keys",
        "lock",
        "pushed",
        "pushes",
        "read_at",
        "reads",
        "renewals",
        "renewed_at",
        "slow",
        "subscribed",
        "version",
    )

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.keys: set[str] = set()
        self.data: ConfigData | None = None
        self.read_at = 0.0
        self.due = 0.0
        self.failures = 0
        self.error: str | None = None
        self.reads = 0
        self.pushes = 0
        # Reads that a refused use has brought forward: when the last one was asked for, and how many in a row.
        self.renewed_at = -math.inf
        self.renewals = 0
        self.slow: SlowRead | None = None
        self.subscribed: frozenset[str] = frozenset()
        self.pushed: ChangeCallback | None = None
        # Local providers: the files of the last answer before it was read; None: nothing shows that it still holds.
        self.freshness: tuple[FileState, ...] | None = None
        # Grows when what is answered differs from the answer before.
        self.version = 0
