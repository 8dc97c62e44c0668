"""SnapshotKeeper: re-reads what is in use and publishes each change as one new generation."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping

from sparkconfig.errors import SparkConfigError, UnresolvedReferenceError
from sparkconfig.resolver import Expression, Resolution, Resolver
from sparkconfig.snapshot import Entry, Snapshot

__all__ = ["SnapshotKeeper"]

_log = logging.getLogger(__name__)


class SnapshotKeeper:
    """The values of all expressions in use, and the thread that keeps them new.

    Every round reads all expressions in use, each (provider, path) once, so a snapshot never mixes two reads of
    one path. Reads are cheap where nothing is due: see :class:`sparkconfig.providers.cache.CachingProvider`.

    Args:
        resolver: the brain; it belongs to the caller.
        poll_ms: milliseconds between two rounds of the thread.
        held: what was known before, for example to the process that this one replaces; generations go on from it.
    """

    def __init__(self, resolver: Resolver, *, poll_ms: int, held: Snapshot | None = None) -> None:
        self._resolver = resolver
        self._poll_s = poll_ms / 1000
        self._round = threading.Lock()
        self._changed = threading.Condition()
        self._known: dict[str, Expression] = {}
        self._snapshot = held or Snapshot(0, {})
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def snapshot(self) -> Snapshot:
        """The newest generation."""
        return self._snapshot

    def resolve(self, wanted: Mapping[str, Expression]) -> Snapshot:
        """Take expressions (id to expression) into use and return the newest generation.

        Raises:
            UnresolvedReferenceError: one of ``wanted`` cannot be resolved. It is not taken into use; the others are.
        """
        with self._round:
            resolution = self._read(wanted)
            failed = [e for e in wanted.values() if e in resolution.failed]
            good = {id_: e for id_, e in wanted.items() if e not in resolution.failed}
            self._publish(resolution, good)
        if failed:
            raise UnresolvedReferenceError(
                [problem for expression in failed for problem in resolution.problems_of(expression)]
            )
        return self._snapshot

    def refresh(self) -> Snapshot:
        """Run one round over what is in use."""
        with self._round:
            self._publish(self._read({}), {})
        return self._snapshot

    def await_change(self, generation: int, wait_s: float) -> Snapshot:
        """Return the newest snapshot as soon as it is newer than ``generation``, or after ``wait_s`` seconds."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._snapshot.generation > generation or self._stop.is_set(), timeout=wait_s
            )
            return self._snapshot

    def start(self) -> None:
        """Start the thread that looks for changes."""
        self._thread = threading.Thread(target=self._loop, name="sparkconfig-rotation", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop the thread and wake those who wait."""
        self._stop.set()
        with self._changed:
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def _read(self, more: Mapping[str, Expression]) -> Resolution:
        return self._resolver.resolve([*self._known.values(), *more.values()])

    def _publish(self, resolution: Resolution, more: Mapping[str, Expression]) -> None:
        """Make the next generation if anything differs. An expression that fails loses its value."""
        self._known.update(more)
        entries: dict[str, Entry] = {}
        for id_, expression in self._known.items():
            value = resolution.values.get(expression)
            if value is None:
                if id_ in self._snapshot.entries:
                    _log.warning(
                        "%s has no value any more: %s", id_, "; ".join(resolution.problems_of(expression))
                    )
            elif value.resolved:
                entries[id_] = Entry(value.reveal(), value.redact)
        if entries == dict(self._snapshot.entries):
            return
        with self._changed:
            self._snapshot = Snapshot(self._snapshot.generation + 1, entries)
            self._changed.notify_all()
        _log.info("generation %d with %d expressions", self._snapshot.generation, len(entries))

    def _loop(self) -> None:
        """Survive everything: a thread that dies once would never see a change again."""
        while not self._stop.wait(self._poll_s):
            try:
                self.refresh()
            except SparkConfigError as error:
                _log.warning("values could not be read again: %s", error)
            except Exception as error:  # noqa: BLE001
                _log.error("values could not be read again: %s", type(error).__name__)
