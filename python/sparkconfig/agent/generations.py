"""What each generation changed, and when: for the audit and for the page Config. Names and times, never values."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Mapping
from typing import Any

from sparkconfig._base.record import Record, field
from sparkconfig._base.text import shorten
from sparkconfig.resolution.in_use import Use
from sparkconfig.resolution.snapshot import Snapshot

__all__ = ["Changes", "GenerationHistory", "changes"]

_MOST_GENERATIONS = 50
_MOST_NAMES = 20


class Changes(Record, frozen=False):
    """The references that one generation changed, added or lost, as they are written in confs and options."""

    changed: set[str] = field(default_factory=set)
    added: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)

    def names(self, most: int) -> dict[str, Any]:
        """The names of each kind, and how many more there are."""
        found: dict[str, Any] = {}
        for kind, references in vars(self).items():
            found[kind] = [shorten(text) for text in sorted(references)[:most]]
            if len(references) > most:
                found[f"{kind}_more"] = len(references) - most
        return found


def changes(before: Snapshot, after: Snapshot, uses: Mapping[str, Use]) -> Changes:
    """Compare two generations.

    Args:
        before: the generation that was published first.
        after: the one that replaced it.
        uses: the expressions in use, by id.
    """
    found = Changes()
    for id_, use in uses.items():
        old, new = before.entries.get(id_), after.entries.get(id_)
        if old != new:
            names = found.added if old is None else found.lost if new is None else found.changed
            names.update(use.references)
    return found


class GenerationHistory:
    """The last generations, for people who look at a running application. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._generations: deque[dict[str, Any]] = deque(maxlen=_MOST_GENERATIONS)

    def add(self, generation: int, found: Changes) -> None:
        """Remember what a new generation brought."""
        entry = {"generation": generation, "at": int(time.time() * 1000), **found.names(_MOST_NAMES)}
        with self._lock:
            self._generations.appendleft(entry)

    def recent(self) -> list[dict[str, Any]]:
        """Return the last generations, the newest first; ``at`` is in milliseconds since the epoch."""
        with self._lock:
            return list(self._generations)
