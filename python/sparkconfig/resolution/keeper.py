"""SnapshotKeeper: re-reads what is in use and publishes each change as one new generation."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Set

from sparkconfig._base.threads import daemon
from sparkconfig.errors import SparkConfigError, UnresolvedReferenceError
from sparkconfig.language.expression import Expression
from sparkconfig.resolution.cache import CachingProvider
from sparkconfig.resolution.files import FileRules, StoredFile
from sparkconfig.resolution.freshness import ChangeCounter
from sparkconfig.resolution.in_use import InUse, Use
from sparkconfig.resolution.inherited import Inherited
from sparkconfig.resolution.proofs import Answer, Generations, Proof, proof_of
from sparkconfig.resolution.resolver import Resolver
from sparkconfig.resolution.result import Place, Resolution
from sparkconfig.resolution.snapshot import Entry, Snapshot

__all__ = ["SnapshotKeeper", "Use"]

_log = logging.getLogger(__name__)
_SHORTEST_WAIT_S = 0.01


class SnapshotKeeper:
    """The values of all expressions in use, and the thread that keeps them new.

    A round of the thread reads all expressions in use. A use reads its own expressions, and if one of their paths
    answers something new, all others that need this path, so a snapshot never mixes two reads of one path. Reads are
    cheap where nothing is due: see :class:`sparkconfig.resolution.cache.CachingProvider`.

    Args:
        resolver: the brain; it belongs to the caller.
        poll_ms: the longest time between two rounds of the thread, in milliseconds.
        next_due_ms: milliseconds until something is due earlier than that, or None.
        held: what was known before, for example to the process that this one replaces; generations go on from it,
            and its values serve for ``stale_ms`` where a provider cannot be reached.
        stale_ms: see ``held``.
        manual: publish changes in :meth:`refresh` only (``spark.config.reload.trigger=manual``).
        files: which values are needed as files; None: none are.
        changes: counts what the driver did not ask for.
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
        changes: ChangeCounter | None = None,
        on_round: Callable[[Snapshot, Snapshot, Mapping[str, Use]], None] | None = None,
    ) -> None:
        self._resolver = resolver
        self._poll_s = poll_ms / 1000
        self._next_due_ms = next_due_ms
        self._manual = manual
        self._files = files
        self._on_round = on_round
        self._changes = changes or ChangeCounter()
        self._round = threading.Lock()
        self._changed = threading.Condition()
        self._known = InUse()
        # What each place had answered when all expressions that need it were evaluated.
        self._versions: dict[Place, int] = {}
        self._generations = Generations()
        self._snapshot = held or Snapshot(0, {})
        self._inherited = Inherited(self._snapshot, stale_ms)
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
        """Take expressions (id to expression) into use and return the newest generation; see :meth:`answer`."""
        return self.answer(wanted).snapshot

    def answer(self, wanted: Mapping[str, Expression], touched: Iterable[str] = ()) -> Answer:
        """Take expressions (id to expression) into use and return their values in the newest generation.

        With the manual trigger, expressions that have a value keep it until :meth:`refresh`.

        Args:
            wanted: what somebody is about to use.
            touched: ids of what was used since the last call, without asking.

        Raises:
            UnresolvedReferenceError: one of ``wanted`` cannot be resolved. It is not taken into use; the others are.
        """
        with self._round:
            count = self._changes.count
            before = self._snapshot
            wanted = {id_: self._known.known_as(id_, e) for id_, e in wanted.items()}
            self._known.touch(touched)
            if self._manual and wanted.keys() <= before.entries.keys():
                self._known.take(wanted)
                return Answer(before, dict.fromkeys(wanted, Proof()), count)
            group, resolution = self._read(wanted)
            failed = [
                e
                for id_, e in wanted.items()
                if e in resolution.failed and not self._inherited.serves(id_, self._snapshot, resolution, e)
            ]
            good = {id_: e for id_, e in wanted.items() if e not in failed}
            problems = [problem for expression in failed for problem in resolution.problems_of(expression)]
            proofs = {
                id_: proof
                for id_, e in good.items()
                if (proof := proof_of(e, resolution, self._resolver.providers, frozen=self._manual))
                is not None
            }
            if failed and any(
                self._known.by_id[id_] in resolution.failed for id_ in group if id_ in self._known.by_id
            ):
                # A new key that cannot be read must not take away what its path answered before.
                again = {id_: self._known.by_id[id_] for id_ in group if id_ in self._known.by_id}
                group, resolution = self._read({**again, **good})
            own = self._publish(group, resolution, good)
        if problems:
            raise UnresolvedReferenceError(problems)
        return Answer(self._snapshot, proofs, count + own)

    def changed_since(self, known: int, snapshot: Snapshot) -> set[str] | None:
        """Return the ids whose entries may differ between two generations; None: that is not known any more."""
        return self._generations.between(known, snapshot.generation)

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
            group, resolution = self._read_all({})
            if strict and resolution.problems:
                undo()
                raise UnresolvedReferenceError(resolution.problems)
            self._publish(group, resolution, {})
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
            self._thread = daemon("rotation", self._loop)
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

    def _read_all(self, more: Mapping[str, Expression]) -> tuple[dict[str, Expression], Resolution]:
        """Read everything in use, and ``more``."""
        self._rounds += 1
        group = {**self._known.by_id, **more}
        return group, self._resolver.resolve(group.values(), self._files)

    def _read(self, wanted: Mapping[str, Expression]) -> tuple[dict[str, Expression], Resolution]:
        """Read ``wanted``, and everything that needs a path which answers something new.

        Returns:
            The expressions that were read, by id, and what came of it.
        """
        if self._inherited.any_serves(self._snapshot):
            return self._read_all(wanted)
        self._rounds += 1
        group = dict(wanted)
        while True:
            resolution = self._resolver.resolve(group.values(), self._files)
            touched = {place for e in group.values() for place in resolution.places(e)}
            more = {
                id_: self._known.by_id[id_]
                for place in touched
                if self._version(place) != self._versions.get(place)
                for id_ in self._known.users(place)
                if id_ not in group
            }
            if not more:
                return group, resolution
            group.update(more)

    def _version(self, place: Place) -> int | None:
        """A number for what a place answered last; None: its provider has none, so it counts as new."""
        provider = self._resolver.providers.get(place[0])
        return provider.version(place[1]) if isinstance(provider, CachingProvider) else None

    def _publish(
        self, group: Mapping[str, Expression], resolution: Resolution, more: Mapping[str, Expression]
    ) -> int:
        """Make the next generation if anything differs. An expression that fails loses its value.

        Args:
            group: what was read.
            resolution: what came of it.
            more: what is to be taken into use.

        Returns:
            How many changes were counted.
        """
        # Before anything can end this round: what is not recorded here is read again.
        versions = {p: self._version(p) for e in group.values() for p in resolution.places(e)}
        forgotten = self._known.take(more)
        before = self._snapshot.entries
        kept = self._inherited.kept(self._snapshot, resolution, self._known.by_id)
        fresh: dict[str, Entry | None] = dict.fromkeys(forgotten)
        files: dict[str, StoredFile] = {}
        for id_ in group.keys() & self._known.by_id.keys():
            expression = group[id_]
            value = resolution.values.get(expression)
            if id_ in kept:
                fresh[id_] = before[id_]
                files.update((file, self._snapshot.files[file]) for file in before[id_].files)
                continue
            fresh[id_] = None
            if value is None:
                if id_ in before:
                    _log.warning(
                        "%s has no value any more: %s",
                        expression.key or "an expression",
                        "; ".join(resolution.problems_of(expression)),
                    )
            elif value.resolved:
                fresh[id_] = Entry(value.reveal(), value.redact, frozenset(value.files), value.secrets)
                files.update(value.files)
                self._inherited.replaced(id_)
        self._failed_rounds += bool(resolution.failed)
        differing = {id_ for id_, entry in fresh.items() if entry != before.get(id_)}
        self._note(group, resolution, fresh, differing)
        self._versions.update((p, version) for p, version in versions.items() if version is not None)
        was = self._snapshot
        counted = 0
        if differing:
            counted = self._advance(fresh, differing, files)
        if self._on_round is not None:
            self._on_round(was, self._snapshot, self._uses)
        return counted

    def _advance(
        self, fresh: Mapping[str, Entry | None], differing: Set[str], files: Mapping[str, StoredFile]
    ) -> int:
        """Publish a generation with these entries in the place of older ones; returns how many changes it counted."""
        was = self._snapshot
        entries = dict(was.entries)
        for id_ in differing:
            entry = fresh[id_]
            if entry is None:
                entries.pop(id_, None)
            else:
                entries[id_] = entry
        held = {**was.files, **files}
        needed = {file: held[file] for entry in entries.values() for file in entry.files} if held else {}
        # What is only new is held by nobody yet.
        counted = int(any(id_ in was.entries for id_ in differing))
        with self._changed:
            self._snapshot = Snapshot(was.generation + 1, entries, needed, was.inherited)
            self._generations.add(
                self._snapshot.generation, None if was.files or needed else frozenset(differing)
            )
            if counted:
                self._changes.add()
            self._published_at = time.time()
            self._changed.notify_all()
        _log.info("generation %d; expressions: %d", self._snapshot.generation, len(entries))
        return counted

    def _note(
        self,
        group: Mapping[str, Expression],
        resolution: Resolution,
        fresh: Mapping[str, Entry | None],
        differing: Set[str],
    ) -> None:
        now = time.time()
        uses: dict[str, Use] = {}
        for id_ in group.keys() & self._known.by_id.keys():
            expression = group[id_]
            sources = resolution.provenance.get(expression, [])
            old = self._uses.get(id_)
            changed_at = None if fresh.get(id_) is None else now
            if old is not None and old.changed_at is not None and id_ not in differing:
                changed_at = old.changed_at
            use = Use(
                expression.key,
                tuple(f"${{{s.provider}:{s.path + ':' if s.path else ''}{s.key}}}" for s in sources),
                frozenset((s.provider, s.path) for s in sources),
                changed_at,
                "; ".join(resolution.problems_of(expression)) or None,
            )
            if use != old:
                uses[id_] = use
                self._moved(id_, frozenset() if old is None else old.places, use.places)
        gone = [id_ for id_ in fresh if id_ not in self._known.by_id and id_ in self._uses]
        for id_ in gone:
            self._moved(id_, self._uses[id_].places, frozenset())
        if uses or gone:
            # A new one: others read the old one meanwhile. In the order in which they were asked for.
            merged = {**self._uses, **uses}
            self._uses = {id_: use for id_, use in merged.items() if id_ in self._known.by_id}

    def _moved(self, id_: str, before: frozenset[Place], after: frozenset[Place]) -> None:
        for place in self._known.moved(id_, before, after):
            self._versions.pop(place, None)

    def _loop(self) -> None:
        """Survive everything: a thread that dies once would never see a change again."""
        while True:
            try:
                due_ms = self._next_due_ms()
            except Exception as error:  # noqa: BLE001
                _log.error("cannot tell when values are due: %s", type(error).__name__)
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
