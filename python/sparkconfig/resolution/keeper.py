"""SnapshotKeeper: re-reads what is in use and publishes each change as one new generation."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Set
from contextlib import nullcontext

from sparkconfig.errors import UnresolvedReferenceError
from sparkconfig.language.expression import Expression
from sparkconfig.resolution.files import FileRules, StoredFile
from sparkconfig.resolution.generations import Generations
from sparkconfig.resolution.in_use import InUse, Use
from sparkconfig.resolution.inherited import Inherited
from sparkconfig.resolution.places import read_due, versions_of
from sparkconfig.resolution.resolver import Resolver
from sparkconfig.resolution.result import Place, Resolution
from sparkconfig.resolution.round_thread import RoundThread
from sparkconfig.resolution.snapshot import Entry, Snapshot

__all__ = ["SnapshotKeeper", "Use"]

_log = logging.getLogger(__name__)
_SUBSTITUTION_S = 2.0  # a change behind `$[...]` is not announced
_Evaluated = tuple[dict[str, Expression], Resolution, dict[Place, int]]
_Told = tuple[Snapshot, Snapshot, Mapping[str, Use], list[str]]


class SnapshotKeeper:
    """The values of all expressions in use, and the thread that keeps them new.

    Stores are read beside it: a first use reads its own paths on its caller's thread, and what becomes due is read by
    threads of the caches, which wake this one. A round evaluates what the caches hold and publishes what differs, so
    its lock is never held while a caller waits for a store, over a log line or over `on_round`.

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
        # Of explicit refreshes, which read all stores: one at a time.
        self._asking = threading.Lock()
        self._told: deque[_Told] = deque()
        self._telling = threading.Lock()
        self._changed = threading.Condition()
        self._known = InUse()
        # What each place had answered when all expressions that need it were evaluated.
        self._versions: dict[Place, int] = {}
        self._generations = Generations()
        self._snapshot = held or Snapshot(0, {})
        self._inherited = Inherited(self._snapshot, stale_ms)
        self._published_at = time.time()
        self._rounds = 0
        self._failed_rounds = 0
        self._stopped = False
        self._thread = RoundThread(self._look, self._wait_s)

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
        return self._known.uses

    def resolve(self, wanted: Mapping[str, Expression], *, wait: bool = True) -> Snapshot:
        """Take expressions (id to expression) into use and return a generation with their values.

        With the manual trigger, expressions that have a value keep it until :meth:`refresh`.

        Args:
            wanted: what is about to be used.
            wait: whether to wait for the stores of what has no value yet.

        Raises:
            UnresolvedReferenceError: one of ``wanted`` cannot be resolved. It is not taken into use; the others are.
        """
        if not wait:
            self._only(wanted)
        if self._manual and wanted.keys() <= self._snapshot.entries.keys():
            with self._round:
                self._known.take(wanted)
                self._known.open |= (
                    wanted.keys() - self._known.uses.keys()
                )  # a process before this one has evaluated them
                return self._snapshot
        failed: dict[str, list[str]] = {}
        if wait:
            unread = {id_: e for id_, e in wanted.items() if not self._inherited.holds(id_, self._snapshot)}
            first = self._resolver.resolve(unread.values(), self._files, failures=True)
            failed = {id_: first.problems_of(e) for id_, e in unread.items() if e in first.failed}
        with self._round:
            good = {id_: self._known.known_as(id_, e) for id_, e in wanted.items() if id_ not in failed}
            group, resolution, versions = self._evaluate(good)
            for id_, e in good.items():
                if e in resolution.failed and not self._inherited.serves(id_, self._snapshot, resolution, e):
                    failed[id_] = resolution.problems_of(e)
            # What was in use before stays so, with its values and without.
            taken = good if not wait else {id_: e for id_, e in good.items() if id_ not in failed}
            self._publish(group, resolution, versions, taken)
            newest = self._snapshot
        self._tell()
        if failed and wait:
            problems = [problem for id_ in wanted if id_ in failed for problem in failed[id_]]
            raise UnresolvedReferenceError(problems)
        return newest

    def _only(self, wanted: Mapping[str, Expression]) -> None:
        """Forget what another process held of expressions that are not used: it would never be read again."""
        with self._round:
            was = self._snapshot
            entries = {id_: entry for id_, entry in was.entries.items() if id_ in wanted}
            if len(entries) < len(was.entries):
                self._snapshot = Snapshot(was.generation + 1, entries, was.files, was.inherited)

    def touch(self, ids: Iterable[str]) -> None:
        """Note that these are still used: what is not used for long is forgotten."""
        with self._round:
            self._known.touch(ids)

    def changed_since(self, known: int, snapshot: Snapshot) -> set[str] | None:
        """Return the ids whose entries may differ between two generations; None: that is not known any more."""
        return self._generations.between(known, snapshot.generation)

    def refresh(
        self,
        *,
        strict: bool = False,
        ids: Collection[str] | None = None,
        prepare: Callable[[], None] = lambda: None,
        undo: Callable[[], None] = lambda: None,
    ) -> Snapshot:
        """Read what is in use, wait for it, and publish what differs.

        Args:
            strict: publish nothing unless every expression in use has a value.
            ids: read the paths of these alone; None: of all.
            prepare: called before.
            undo: called when a strict round publishes nothing.

        Raises:
            UnresolvedReferenceError: in a strict round; lists all problems.
        """
        # Of some alone: they wait for no other store.
        with self._asking if ids is None else nullcontext():
            prepare()
            with self._round:
                in_use = dict(self._known.by_id)
            wanted = in_use if ids is None else {id_: in_use[id_] for id_ in ids if id_ in in_use}
            resolution = self._resolver.resolve(wanted.values(), self._files, failures=not strict)
            if strict and resolution.problems:
                undo()
                raise UnresolvedReferenceError(resolution.problems)
            self._look()
        return self._snapshot

    def _look(self) -> None:
        """Have what is due read, evaluate what needs a place that answers something new, and publish what differs."""
        with self._round:
            self._rounds += 1
            in_use = self._known.places()
            versions = versions_of(self._resolver.providers)
            # A place without a version has no cache.
            news = [place for place in in_use if place not in versions or self._is_news(place, versions)]
            ids = self._known.open.union(*(self._known.users(place) for place in news))
            by_id = self._known.by_id
            self._publish(*self._evaluate({id_: by_id[id_] for id_ in ids & by_id.keys()}), {})
            read_due(self._resolver.providers, in_use)
        self._tell()

    def _is_news(self, place: Place, versions: Mapping[Place, int]) -> bool:
        return versions.get(place) != self._versions.get(place)

    def await_change(self, generation: int, wait_s: float) -> Snapshot:
        """Return the newest snapshot as soon as it is newer than ``generation``, or after ``wait_s`` seconds."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._snapshot.generation > generation or self._stopped, timeout=wait_s
            )
            return self._snapshot

    def start(self) -> None:
        """Start the thread that looks for changes, unless only :meth:`refresh` may publish them."""
        if not self._manual:
            self._thread.start()

    def wake(self) -> None:
        """Make the thread look now; may be called from any thread."""
        self._thread.wake()

    def close(self) -> None:
        """Stop the thread and wake those who wait."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        self._thread.close()

    def _wait_s(self) -> float:
        due_ms = self._next_due_ms()
        wait_s = self._poll_s if due_ms is None else min(self._poll_s, due_ms / 1000)
        by_id = self._known.by_id
        substitutes = any("$[" in by_id[id_].text for id_ in list(self._known.open) if id_ in by_id)
        return min(wait_s, _SUBSTITUTION_S) if substitutes else wait_s

    def _evaluate(self, wanted: Mapping[str, Expression]) -> _Evaluated:
        """``wanted`` as the caches hold it, with everything that needs a path which answers something new.

        Returns:
            The expressions that were evaluated, by id, what came of it, and the versions of their places before: a
            read that ends meanwhile is news for the next round.
        """
        group = dict(wanted)
        if not self._manual and self._inherited.any_serves(self._snapshot):
            group = {**self._known.by_id, **group}
        while True:
            versions = versions_of(self._resolver.providers)
            resolution = self._resolver.resolve(group.values(), self._files, held=True)
            touched = {place for e in group.values() for place in resolution.places(e)}
            more = {
                id_: self._known.by_id[id_]
                for place in touched
                if self._is_news(place, versions)
                for id_ in self._known.users(place)
                if id_ not in group
            }
            if not more:
                return group, resolution, {p: versions[p] for p in touched if p in versions}
            group.update(more)

    def _publish(
        self,
        group: Mapping[str, Expression],
        resolution: Resolution,
        versions: Mapping[Place, int],
        more: Mapping[str, Expression],
    ) -> None:
        """Make the next generation if a value differs. An expression that fails loses its value.

        The values of new expressions are added to the present generation: no value in use differs.

        Args:
            group: what was read.
            resolution: what came of it.
            versions: of the places that were read.
            more: what is to be taken into use.
        """
        new = more.keys() - self._known.by_id.keys() - self._snapshot.entries.keys()
        forgotten = self._known.take(more)
        told: list[str] = []
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
                    problems = "; ".join(resolution.problems_of(expression))
                    told.append(f"{expression.key or 'an expression'} has no value any more: {problems}")
            elif value.resolved:
                fresh[id_] = Entry(value.reveal(), value.redact, frozenset(value.files), value.secrets)
                files.update(value.files)
                self._inherited.replaced(id_)
        self._failed_rounds += bool(resolution.failed)
        differing = {id_ for id_, entry in fresh.items() if entry != before.get(id_)}
        for place in self._known.note(group, resolution, fresh, differing, kept):
            self._versions.pop(place, None)
        self._versions.update(versions)
        told += resolution.notes_of(group[id_] for id_ in (differing | new) & group.keys())
        was = self._snapshot
        if differing:
            changed = was.generation == 0 or not differing <= new
            self._advance(fresh, differing, files, changed=changed)
        self._told.append((was, self._snapshot, self._known.uses, told))

    def _tell(self) -> None:
        """Log what rounds brought, and hand it to ``on_round``, in order; the lock of rounds is free."""
        while self._told and self._telling.acquire(blocking=False):
            try:
                while self._told:
                    before, after, uses, warnings = self._told.popleft()
                    for text in warnings:
                        _log.warning("%s", text)
                    if after.generation > before.generation:
                        _log.info("generation %d; expressions: %d", after.generation, len(after.entries))
                    if self._on_round is not None:
                        self._on_round(before, after, uses)
            finally:
                self._telling.release()

    def _advance(
        self,
        fresh: Mapping[str, Entry | None],
        differing: Set[str],
        files: Mapping[str, StoredFile],
        *,
        changed: bool,
    ) -> None:
        """Replace older entries by these: as a new generation, if one changed."""
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
        with self._changed:
            self._snapshot = Snapshot(was.generation + changed, entries, needed, was.inherited)
            if changed:
                self._generations.add(
                    self._snapshot.generation, None if was.files or needed else frozenset(differing)
                )
                self._published_at = time.time()
                self._changed.notify_all()
