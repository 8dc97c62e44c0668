"""SnapshotKeeper: re-reads what is in use and publishes each change as one new generation."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sparkconfig.errors import ProviderUnavailableError, SparkConfigError, UnresolvedReferenceError
from sparkconfig.language.expression import Expression
from sparkconfig.resolution.files import FileRules, StoredFile
from sparkconfig.resolution.resolver import Resolver
from sparkconfig.resolution.result import Place, Resolution
from sparkconfig.resolution.snapshot import Entry, Snapshot

__all__ = ["SnapshotKeeper", "Use"]

_log = logging.getLogger(__name__)
_SHORTEST_WAIT_S = 0.01

MOST_IN_USE = 1000
"""How many expressions of option maps are kept new: an application that makes a new text for each query would
otherwise make every round, and every snapshot, longer than the one before."""


@dataclass(frozen=True)
class Use:
    """What is known of one expression in use, without its value and without the text around references.

    Attributes:
        key: the conf key in which it stands, or None.
        references: its references as they are written.
        places: (provider, path) of each.
        changed_at: seconds since the epoch of its last change, or None while it has no value.
        problem: why it has no value, or None.
    """

    key: str | None
    references: tuple[str, ...]
    places: frozenset[Place]
    changed_at: float | None
    problem: str | None


class SnapshotKeeper:
    """The values of all expressions in use, and the thread that keeps them new.

    Every round reads all expressions in use, each (provider, path) once, so a snapshot never mixes two reads of
    one path. Reads are cheap where nothing is due: see :class:`sparkconfig.resolution.cache.CachingProvider`.

    Args:
        resolver: the brain; it belongs to the caller.
        poll_ms: the longest time between two rounds of the thread, in milliseconds.
        next_due_ms: milliseconds until something is due earlier than that, or None.
        held: what was known before, for example to the process that this one replaces; generations go on from it,
            and its values serve for ``stale_ms`` where a provider cannot be reached.
        stale_ms: see ``held``.
        manual: publish changes in :meth:`refresh` only (``spark.config.reload.trigger=manual``).
        files: which values are needed as files; None: none are.
        on_round: called after each round with the generation before it, the newest one, and what is in use.
    """

    def __init__(
        self,
        resolver: Resolver,
        *,
        poll_ms: int,
        next_due_ms: Callable[[], float | None] = lambda: None,
        held: Snapshot | None = None,
        stale_ms: int = 0,
        manual: bool = False,
        files: FileRules | None = None,
        on_round: Callable[[Snapshot, Snapshot, Mapping[str, Use]], None] | None = None,
    ) -> None:
        self._resolver = resolver
        self._poll_s = poll_ms / 1000
        self._next_due_ms = next_due_ms
        self._manual = manual
        self._files = files
        self._on_round = on_round
        self._round = threading.Lock()
        self._changed = threading.Condition()
        self._known: dict[str, Expression] = {}
        self._snapshot = held or Snapshot(0, {})
        self._inherited = dict.fromkeys(self._snapshot.entries, time.monotonic() + stale_ms / 1000)
        self._uses: dict[str, Use] = {}
        self._published_at = time.time()
        self._rounds = 0
        self._failed_rounds = 0
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def snapshot(self) -> Snapshot:
        """The newest generation."""
        return self._snapshot

    @property
    def published_at(self) -> float:
        """When the newest generation was published, in seconds since the epoch."""
        return self._published_at

    @property
    def rounds(self) -> int:
        """How many rounds were read."""
        return self._rounds

    @property
    def failed_rounds(self) -> int:
        """How many rounds left an expression without a value."""
        return self._failed_rounds

    def uses(self) -> Mapping[str, Use]:
        """The expressions in use, by id. An id may hold raw texts: it is not for people's eyes."""
        return self._uses

    def resolve(self, wanted: Mapping[str, Expression]) -> Snapshot:
        """Take expressions (id to expression) into use and return the newest generation.

        With the manual trigger, expressions that have a value keep it until :meth:`refresh`.

        Raises:
            UnresolvedReferenceError: one of ``wanted`` cannot be resolved. It is not taken into use; the others are.
        """
        with self._round:
            if self._manual and wanted.keys() <= self._snapshot.entries.keys():
                self._use(wanted)
                return self._snapshot
            resolution = self._read(wanted)
            failed = [
                e
                for id_, e in wanted.items()
                if e in resolution.failed and not self._inherits(id_, resolution, e)
            ]
            good = {id_: e for id_, e in wanted.items() if e not in failed}
            problems = [problem for expression in failed for problem in resolution.problems_of(expression)]
            if failed and any(e in resolution.failed for e in self._known.values()):
                # A new key that cannot be read must not take away what its path answered before.
                resolution = self._read(good)
            self._publish(resolution, good)
        if problems:
            raise UnresolvedReferenceError(problems)
        return self._snapshot

    def refresh(
        self,
        *,
        strict: bool = False,
        prepare: Callable[[], None] = lambda: None,
        undo: Callable[[], None] = lambda: None,
    ) -> Snapshot:
        """Run one round over what is in use.

        Args:
            strict: publish nothing unless every expression in use has a value.
            prepare: called before the round, when no other one runs.
            undo: called when a strict round publishes nothing.

        Raises:
            UnresolvedReferenceError: in a strict round; lists all problems.
        """
        with self._round:
            prepare()
            resolution = self._read({})
            if strict and resolution.problems:
                undo()
                raise UnresolvedReferenceError(resolution.problems)
            self._publish(resolution, {})
        return self._snapshot

    def await_change(self, generation: int, wait_s: float) -> Snapshot:
        """Return the newest snapshot as soon as it is newer than ``generation``, or after ``wait_s`` seconds."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._snapshot.generation > generation or self._stop.is_set(), timeout=wait_s
            )
            return self._snapshot

    def start(self) -> None:
        """Start the thread that looks for changes, unless only :meth:`refresh` may publish them."""
        if not self._manual:
            self._thread = threading.Thread(target=self._loop, name="sparkconfig-rotation", daemon=True)
            self._thread.start()

    def wake(self) -> None:
        """Make the thread look now; may be called from any thread."""
        self._wake.set()

    def close(self) -> None:
        """Stop the thread and wake those who wait."""
        self._stop.set()
        self._wake.set()
        with self._changed:
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def _read(self, more: Mapping[str, Expression]) -> Resolution:
        self._rounds += 1
        return self._resolver.resolve([*self._known.values(), *more.values()], self._files)

    def _use(self, wanted: Mapping[str, Expression]) -> None:
        """Take into use, and forget what was not asked for since a thousand others; confs are never forgotten."""
        for id_, expression in wanted.items():
            before = self._known.pop(id_, expression)
            self._known[id_] = expression if before.key is None else before
        passing = [id_ for id_, expression in self._known.items() if expression.key is None]
        for id_ in passing[: max(0, len(passing) - MOST_IN_USE)]:
            del self._known[id_]

    def _publish(self, resolution: Resolution, more: Mapping[str, Expression]) -> None:
        """Make the next generation if anything differs. An expression that fails loses its value."""
        self._use(more)
        before = self._snapshot.entries
        kept = self._kept(resolution)
        entries: dict[str, Entry] = {}
        files: dict[str, StoredFile] = {}
        for id_, expression in self._known.items():
            value = resolution.values.get(expression)
            if id_ in kept:
                entries[id_] = before[id_]
                files.update((file, self._snapshot.files[file]) for file in before[id_].files)
            elif value is None:
                if id_ in before:
                    _log.warning(
                        "%s has no value any more: %s",
                        expression.key or "an expression",
                        "; ".join(resolution.problems_of(expression)),
                    )
            elif value.resolved:
                entries[id_] = Entry(value.reveal(), value.redact, frozenset(value.files), value.secrets)
                files.update(value.files)
                self._inherited.pop(id_, None)
        self._failed_rounds += bool(resolution.failed)
        self._note(resolution, entries)
        was = self._snapshot
        if entries != dict(before):
            self._advance(entries, files)
        if self._on_round is not None:
            self._on_round(was, self._snapshot, self._uses)

    def _advance(self, entries: Mapping[str, Entry], files: Mapping[str, StoredFile]) -> None:
        with self._changed:
            was = self._snapshot
            self._snapshot = Snapshot(was.generation + 1, entries, files, was.inherited)
            self._published_at = time.time()
            self._changed.notify_all()
        _log.info("generation %d; expressions: %d", self._snapshot.generation, len(entries))

    def _serves(self, id_: str) -> bool:
        """Whether the value that another process left may stand in during an outage."""
        return self._inherited.get(id_, 0.0) > time.monotonic() and id_ in self._snapshot.entries

    def _inherits(self, id_: str, resolution: Resolution, expression: Expression) -> bool:
        """Whether that is the case now."""
        errors = resolution.failed.get(expression, [])
        outage = bool(errors) and all(isinstance(error, ProviderUnavailableError) for error in errors)
        return outage and self._serves(id_)

    def _kept(self, resolution: Resolution) -> set[str]:
        """The expressions that keep an inherited value.

        First those whose provider cannot be reached; then those that share a (provider, path) with one of them,
        since a path's keys must not come from two reads.
        """
        kept: set[str] = set()
        places: set[Place] = set()
        for id_, expression in self._known.items():
            if self._inherits(id_, resolution, expression):
                kept.add(id_)
                places |= _places(resolution, expression)
        grown = bool(kept)
        while grown:
            grown = False
            for id_, expression in self._known.items():
                mine = _places(resolution, expression)
                if id_ not in kept and mine & places and self._serves(id_):
                    kept.add(id_)
                    places |= mine
                    grown = True
        return kept

    def _note(self, resolution: Resolution, entries: Mapping[str, Entry]) -> None:
        now = time.time()
        before = self._snapshot.entries
        uses: dict[str, Use] = {}
        for id_, expression in self._known.items():
            sources = resolution.provenance.get(expression, [])
            old = self._uses.get(id_)
            changed_at = None if id_ not in entries else now
            if old is not None and old.changed_at is not None and entries.get(id_) == before.get(id_):
                changed_at = old.changed_at
            uses[id_] = Use(
                expression.key,
                tuple(f"${{{s.provider}:{s.path + ':' if s.path else ''}{s.key}}}" for s in sources),
                frozenset((s.provider, s.path) for s in sources),
                changed_at,
                "; ".join(resolution.problems_of(expression)) or None,
            )
        self._uses = uses

    def _loop(self) -> None:
        """Survive everything: a thread that dies once would never see a change again."""
        while True:
            try:
                due_ms = self._next_due_ms()
            except Exception as error:  # noqa: BLE001
                _log.error("it is not known when values are due: %s", type(error).__name__)
                due_ms = None
            wait_s = self._poll_s if due_ms is None else min(self._poll_s, due_ms / 1000)
            self._wake.wait(max(wait_s, _SHORTEST_WAIT_S))
            self._wake.clear()
            if self._stop.is_set():
                return
            try:
                self.refresh()
            except SparkConfigError as error:
                _log.warning("values could not be read again: %s", error)
            except Exception as error:  # noqa: BLE001
                _log.error("values could not be read again: %s", type(error).__name__)


def _places(resolution: Resolution, expression: Expression) -> set[Place]:
    return {(source.provider, source.path) for source in resolution.provenance.get(expression, [])}
