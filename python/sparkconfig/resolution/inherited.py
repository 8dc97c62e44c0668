"""Values that another process left, which serve while their provider cannot be reached."""

from __future__ import annotations

import time
from collections.abc import Mapping

from sparkconfig.errors import ProviderUnavailableError
from sparkconfig.language.expression import Expression
from sparkconfig.resolution.result import Place, Resolution
from sparkconfig.resolution.snapshot import Snapshot

__all__ = ["Inherited"]


class Inherited:
    """The values of a snapshot that this process was given at its start. Not thread-safe.

    Args:
        held: the snapshot.
        stale_ms: how long its values may serve, in milliseconds.
    """

    def __init__(self, held: Snapshot, stale_ms: int) -> None:
        self._until = dict.fromkeys(held.entries, time.monotonic() + stale_ms / 1000)

    def replaced(self, id_: str) -> None:
        """Forget a value, since this process has read its own."""
        self._until.pop(id_, None)

    def any_serves(self, newest: Snapshot) -> bool:
        """Whether a value may still serve; it does so only as long as the newest generation holds it."""
        return any(self._serves(id_, newest) for id_ in self._until)

    def holds(self, id_: str, newest: Snapshot) -> bool:
        """Whether a value of the other process is in place, until this one has read its own."""
        return self._serves(id_, newest)

    def serves(self, id_: str, newest: Snapshot, resolution: Resolution, expression: Expression) -> bool:
        """Whether a value serves now, since the provider of its expression cannot be reached."""
        errors = resolution.failed.get(expression, [])
        outage = bool(errors) and all(isinstance(error, ProviderUnavailableError) for error in errors)
        return outage and self._serves(id_, newest)

    def kept(self, newest: Snapshot, resolution: Resolution, in_use: Mapping[str, Expression]) -> set[str]:
        """Return the ids of the expressions that keep an inherited value.

        First those whose provider cannot be reached; then those that share a (provider, path) with one of them,
        since a path's keys must not come from two reads.
        """
        kept: set[str] = set()
        places: set[Place] = set()
        if not self.any_serves(newest):
            return kept
        for id_, expression in in_use.items():
            if self.serves(id_, newest, resolution, expression):
                kept.add(id_)
                places |= resolution.places(expression)
        grown = bool(kept)
        while grown:
            grown = False
            for id_, expression in in_use.items():
                mine = resolution.places(expression)
                if id_ not in kept and mine & places and self._serves(id_, newest):
                    kept.add(id_)
                    places |= mine
                    grown = True
        return kept

    def _serves(self, id_: str, newest: Snapshot) -> bool:
        return self._until.get(id_, 0.0) > time.monotonic() and id_ in newest.entries
