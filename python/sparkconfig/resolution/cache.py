"""A provider in front of a provider: keeps each path's last answer until it is due, and while the store is down."""

from __future__ import annotations

import contextlib
import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Set

from sparkconfig._base.text import shorten
from sparkconfig._base.threads import daemon
from sparkconfig.errors import ProviderTimeoutError, ProviderUnavailableError, SparkConfigError
from sparkconfig.providers.base import ConfigData, ConfigProvider
from sparkconfig.resolution.cache_entry import Entry, Kept, PathState, differs, jittered
from sparkconfig.resolution.cache_read import StoreReads

__all__ = ["CachingProvider", "Kept", "Memory", "PathState"]

_log = logging.getLogger(__name__)
_REFRESH_AT = 0.75  # of a ttl: late enough to spare the store, early enough to retry before the end
_FIRST_BACKOFF_MS = 1_000
_MAX_BACKOFF_MS = 600_000
_RENEWAL_MS, _LONGEST_RENEWAL_MS = 1_000, 60_000
_SHORTEST_MS = 100
_MOST_READERS = 16  # of one store at a time, for reads in the background
_UNWATCHED_MS = 2_000  # how long a local answer is good whose provider sees no changes


class CachingProvider(ConfigProvider):
    """Answers from the last read while that is good; all keys of a path always come from one read.

    A key that was not asked for before makes the whole path be read again, so that no two keys of one path ever
    come from two reads. While the store cannot be reached, the last good answer serves until ``stale_expiry_ms``;
    "not found" and "not allowed" end it at once, since revocation is not an outage. A provider that breaks its contract
    (another exception, no ConfigData) or does not answer in time counts as one that cannot be reached.

    Where the provider pushes, this class subscribes to each path in use; a push makes the path due and calls
    ``wake``. What is served always comes from a read: a push only says when.

    :attr:`memory` is the same provider for callers that must not wait: it answers with what is held, and begins a read
    beside them where that is due.

    Args:
        inner: the configured provider; closed with this one.
        name: its name in the configuration, for log lines.
        poll_ms: how long an answer without ttl is good, in milliseconds; two seconds at most for a local provider
            that does not push.
        stale_expiry_ms: how long the last good answer serves during an outage, in milliseconds.
        timeout_ms: deadline of one read in milliseconds; None: wait for ever.
        frozen: whether only :meth:`expire` and new keys make the store be asked (``reload.trigger=manual``).
        wake: called, from any thread, when a path became due out of turn.
        clock: seconds that never go back.
    """

    def __init__(
        self,
        inner: ConfigProvider,
        name: str,
        *,
        poll_ms: int,
        stale_expiry_ms: int,
        timeout_ms: int | None = None,
        frozen: bool = False,
        wake: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inner = inner
        self._name = name
        self._poll_ms = poll_ms
        self._stale_expiry_ms = stale_expiry_ms
        self._frozen = frozen
        self._wake = wake
        self._clock = clock
        self._reads = StoreReads(inner, name, timeout_ms, wake, clock)
        self._entries: dict[str, Entry] = {}
        self._waiting: deque[tuple[str, Entry, frozenset[str]]] = deque()
        self._readers = 0
        self._closed = False
        self._lock = threading.Lock()
        self.memory = Memory(self)

    @property
    def kind(self) -> str:
        """The class name of the provider inside."""
        return type(self._inner).__name__

    @property
    def local(self) -> bool:
        """As the provider inside."""
        return self._inner.local

    def configure(self, params: Mapping[str, str]) -> None:
        """Configure the provider inside."""
        self._inner.configure(params)

    def close(self) -> None:
        """Close the provider inside, end its subscriptions and forget all values."""
        with self._lock:
            self._closed = True
            self._entries.clear()
            self._waiting.clear()
        if self._inner.pushes:
            try:
                self._inner.unsubscribe_all()
            except Exception as error:  # noqa: BLE001 - the provider must be closed in any case
                _log.warning("provider '%s' did not unsubscribe: %s", self._name, type(error).__name__)
        self._inner.close()
        self._reads.close()

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        """Return the keys of a path; see the class for when the store is asked.

        Raises:
            ProviderError: the store was asked, failed, and nothing good is left that may serve.
        """
        if keys is None:  # listings are for people, who want to see the store
            return self._inner.get(path, None)
        with self._lock:
            entry = self._entries.setdefault(path, Entry())
        try:
            with entry.lock:
                now = self._clock() * 1000
                if entry.data is not None and keys <= entry.keys and now < entry.due:
                    return entry.data
                data = self._read(path, entry, keys, now)
        finally:
            while entry.told:
                with contextlib.suppress(IndexError):  # another thread says it
                    _log.warning(*entry.told.popleft())
        self._follow(path, entry)
        return data

    def versions(self) -> dict[str, int]:
        """Return for each path a number that grows whenever it answers something else than before."""
        with self._lock:
            return {path: entry.version for path, entry in self._entries.items()}

    def peek(self, path: str, keys: Set[str]) -> ConfigData:
        """Return what is held of a path, without waiting; what is missing or due is read on another thread.

        The end of that read calls ``wake``.

        Raises:
            ProviderError: nothing is held; the reason is that of the last read, or that it has not ended.
        """
        with self._lock:
            entry = self._entries.setdefault(path, Entry())
        data, problem = entry.data, entry.problem
        known = data is not None and keys <= entry.keys
        if self._clock() * 1000 >= entry.due or not (known or problem is not None):
            self._begin(path, entry, keys)
        if known and data is not None:
            return data
        raise problem or ProviderTimeoutError(f"{self._reads.where(path)} has not answered yet")

    def read_due(self, paths: Iterable[str]) -> None:
        """Begin to read those of the paths that are due and hold something; others are read when they are looked at."""
        now = self._clock() * 1000
        with self._lock:
            found = [(path, entry) for path in paths if (entry := self._entries.get(path)) is not None]
        for path, entry in found:
            if entry.keys and now >= entry.due:
                self._begin(path, entry, entry.keys)

    def _begin(self, path: str, entry: Entry, keys: Set[str]) -> None:
        """Read on another thread, one at a time for each path; a few threads read what is due at the same time."""
        with self._lock:
            if entry.reading or self._closed:
                return
            entry.reading = True
            self._waiting.append((path, entry, frozenset(keys)))
            if self._readers == _MOST_READERS:
                return
            self._readers += 1
        daemon("read", self._read_waiting).start()

    def _read_waiting(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._readers -= 1
                    return
                path, entry, keys = self._waiting.popleft()
            try:
                self.get(path, keys)
            except SparkConfigError:
                pass  # it is held as the path's problem
            except Exception as error:  # noqa: BLE001 - the end of a background thread
                _log.error("provider '%s' could not be read: %s", self._name, type(error).__name__)
            finally:
                entry.reading = False
                self._wake()

    def expire(self, path: str | None = None) -> None:
        """Make a path, or every one, due, so that the next use asks the store (KIP-421's second step)."""
        with self._lock:
            entries = [entry for each, entry in self._entries.items() if path in (None, each)]
        for entry in entries:  # without its lock, which a read may hold
            entry.ask_again()

    def renew(self, path: str, asked_at: float) -> float:
        """Make a path due, since what it answered was refused where it was used.

        The first refusal counts at once, and others a second after the last one. While that brings nothing new the
        pauses double up to a minute, so that a wrong password does not flood the store; they also double where each
        read draws a new lease. Local providers may be read as often as one likes, and the manual trigger leaves the
        moment to its owner.

        Args:
            path: of this provider; one that is not in use is left alone.
            asked_at: when the refusal was reported, in milliseconds of ``clock``.

        Returns:
            0 if the next use reads the path, or if it was read after ``asked_at``; otherwise the milliseconds until
            it may be read for this reason again.
        """
        with self._lock:
            entry = self._entries.get(path)
        if entry is None or self._frozen:
            return 0.0
        if self.local:
            entry.due = 0.0
            return 0.0
        with entry.lock:
            if entry.renewed_at >= asked_at or entry.read_at >= asked_at:
                return 0.0
            now = self._clock() * 1000
            pause = min(_RENEWAL_MS << entry.renewals, _LONGEST_RENEWAL_MS)
            left = entry.renewed_at + pause - now
            if left > 0:
                return left
            # As long again without a refusal: this is a first one.
            entry.renewals = 0 if left < -pause else min(entry.renewals + 1, 20)
            entry.renewed_at = now
            entry.ask_again()
            return 0.0

    def keep(self) -> dict[str, Kept]:
        """Return what is held of each path, for :meth:`restore`."""
        with self._lock:
            entries = list(self._entries.items())
        kept: dict[str, Kept] = {}
        for path, entry in entries:
            with entry.lock:
                kept[path] = Kept(entry.data, frozenset(entry.keys), entry.read_at, entry.due)
        return kept

    def restore(self, kept: Mapping[str, Kept]) -> None:
        """Go back to what :meth:`keep` gave: a change that did not stand the check must not be served."""
        with self._lock:
            entries = list(self._entries.items())
        for path, entry in entries:
            before = kept.get(path, Kept(None, frozenset(), 0.0, 0.0))
            with entry.lock:
                entry.data, entry.keys = before.data, set(before.keys)
                entry.version += 1
                entry.read_at, entry.due = before.read_at, before.due

    def next_due_ms(self) -> float | None:
        """Milliseconds until the first path becomes due; None: there is none.

        A path that is overdue has just been left out of a round, or failed in it: asking for it at once again
        would never end, so it waits for the next round.
        """
        if self._frozen:
            return None
        now = self._clock() * 1000
        with self._lock:
            return min((e.due - now for e in self._entries.values() if e.due > now), default=None)

    def states(self) -> list[PathState]:
        """Return the state of every path in use, without values."""
        now = self._clock() * 1000
        with self._lock:
            entries = sorted(self._entries.items())
        return [entry.state(path, now, self._stale_expiry_ms) for path, entry in entries]

    def _read(self, path: str, entry: Entry, keys: Set[str], now: float) -> ConfigData:
        wanted = frozenset(entry.keys | keys)
        pushes = entry.pushes
        entry.reads += 1
        try:
            data = self._reads.settled(path, entry, wanted)
        except ProviderUnavailableError as error:
            return self._during_outage(path, entry, keys, self._clock() * 1000, error)
        except SparkConfigError as error:
            # "Not allowed", "not found" or wrongly set up: no older answer may stand in for that. What was asked for
            # the first time says nothing about the others, which are read again.
            entry.due = 0.0
            if entry.data is None or keys <= entry.keys:
                entry.problem = error
                entry.data = None
                entry.version += 1
                entry.failures += 1
                entry.error = type(error).__name__
                entry.due = now + self._pause(entry.failures)
            raise
        if entry.failures:
            entry.told.append(("provider '%s' answers again for path '%s'", self._name, shorten(path)))
        if data.ttl is None and entry.data is not None and data.data != entry.data.data:
            entry.renewals = 0
        news = entry.data is None or differs(entry.data, data, entry.keys)
        # In this order, since others look meanwhile: who has seen a version has data that are no older.
        entry.data = data
        entry.keys = set(wanted)
        entry.version += news
        entry.problem = None
        entry.read_at = now
        # A push that came during the read may be newer than the answer.
        entry.due = now + self._good_for(data.ttl) if entry.pushes == pushes else 0.0
        entry.failures = 0
        entry.error = None
        return data

    def _during_outage(
        self, path: str, entry: Entry, keys: Set[str], now: float, error: ProviderUnavailableError
    ) -> ConfigData:
        entry.failures += 1
        entry.error = str(error)
        usable = entry.data is not None and keys <= entry.keys
        # A frozen path is read for a reason: the caller wants to know that it failed.
        if self._frozen or not usable or now - entry.read_at > self._stale_expiry_ms:
            if not usable and entry.data is not None:  # a first use; the other keys have not failed
                raise error
            news = entry.problem is None
            entry.problem = error
            entry.data = None
            entry.version += news
            entry.due = now + self._pause(entry.failures)
            raise error
        assert entry.data is not None  # noqa: S101 - for the type checker; `usable` says so
        # Never past its stale expiry.
        entry.due = min(now + self._pause(entry.failures), entry.read_at + self._stale_expiry_ms)
        text = "provider '%s' is unavailable for path '%s' (%s); serving its last good values, %d s old"
        age = (now - entry.read_at) // 1000
        entry.told.append((text, self._name, shorten(path), type(error).__name__, age))
        return entry.data

    def _pause(self, failures: int) -> float:
        """Milliseconds until a failed path is read again. Local reads fail and heal in no time."""
        if self.local:
            return _FIRST_BACKOFF_MS
        backoff = min(_FIRST_BACKOFF_MS * 2 ** min(failures - 1, 20), _MAX_BACKOFF_MS)
        return jittered(min(backoff, max(self._poll_ms, _FIRST_BACKOFF_MS) * 8))

    def _follow(self, path: str, entry: Entry) -> None:
        """Subscribe to the keys in use. A provider that cannot is polled, which is only slower."""
        if self._frozen or not self._inner.pushes or entry.subscribed >= entry.keys:
            return
        if not entry.following.acquire(blocking=False):
            return  # the next read follows what another thread leaves out
        try:
            keys, before, old = frozenset(entry.keys), entry.subscribed, entry.pushed

            def pushed(_path: str, _data: ConfigData) -> None:
                entry.ask_again()
                self._wake()

            self._inner.subscribe(path, keys, pushed)
            entry.subscribed, entry.pushed = keys, pushed
            if self.local:  # once more: it may have changed after it was read and before it was watched
                entry.due = 0.0
                self._wake()
            if old is not None:
                self._inner.unsubscribe(path, before, old)
        except Exception as error:  # noqa: BLE001 - third-party code; the path is polled
            entry.subscribed = keys
            _log.warning(
                "provider '%s' does not push changes of path '%s' (%s); it is polled",
                self._name,
                shorten(path),
                type(error).__name__,
            )
        finally:
            entry.following.release()

    def _good_for(self, ttl: int | None) -> float:
        if self._frozen:
            return math.inf
        if ttl is None or ttl <= 0:
            watched = self._inner.pushes or not self.local
            return jittered(self._poll_ms if watched else min(self._poll_ms, _UNWATCHED_MS))
        return jittered(max(ttl * _REFRESH_AT, _SHORTEST_MS))


class Memory(ConfigProvider):
    """What a cache holds, as a provider that answers at once."""

    def __init__(self, cache: CachingProvider) -> None:
        self._cache = cache

    def configure(self, params: Mapping[str, str]) -> None:
        """The cache is configured."""

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        """As :meth:`CachingProvider.peek`."""
        return self._cache.peek(path, keys or frozenset())
