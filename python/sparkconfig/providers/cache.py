"""A provider in front of a provider: keeps each path's last answer until it is due, and while the store is down."""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass

from sparkconfig.config_data import ConfigData
from sparkconfig.errors import ProviderUnavailableError
from sparkconfig.providers.base import ConfigProvider

__all__ = ["CachingProvider", "PathState"]

_log = logging.getLogger(__name__)
_REFRESH_AT = 0.75  # of a ttl: late enough to spare the store, early enough to retry before the end
_JITTER = 0.1
_FIRST_BACKOFF_MS = 1_000
_MAX_BACKOFF_MS = 600_000


@dataclass(frozen=True)
class PathState:
    """What is known of one path, without values.

    Attributes:
        path: the provider's path.
        keys: how many keys are in use.
        age_ms: milliseconds since the last good answer, or None if there was none.
        failures: attempts in a row that failed.
        error: the last error's text, or None.
    """

    path: str
    keys: int
    age_ms: int | None
    failures: int
    error: str | None


class _Entry:
    """One path: its keys in use, the last good answer, and when to ask again. Times are in milliseconds."""

    __slots__ = ("data", "due", "error", "failures", "keys", "lock", "read_at")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.keys: set[str] = set()
        self.data: ConfigData | None = None
        self.read_at = 0.0
        self.due = 0.0
        self.failures = 0
        self.error: str | None = None


class CachingProvider(ConfigProvider):
    """Answers from the last read while that is good; all keys of a path always come from one read.

    A key that was not asked for before makes the whole path be read again, so that no two keys of one path ever
    come from two reads. While the store cannot be reached, the last good answer serves until ``stale_expiry_ms``;
    "not there" and "not allowed" end it at once, since revocation is no outage.

    Args:
        inner: the configured provider; closed with this one.
        name: its name in the configuration, for log lines.
        poll_ms: how long an answer without ttl is good, in milliseconds; not used for local providers, which are
            read at each use.
        stale_expiry_ms: how long the last good answer serves during an outage, in milliseconds.
        clock: seconds that never go back.
    """

    def __init__(
        self,
        inner: ConfigProvider,
        name: str,
        *,
        poll_ms: int,
        stale_expiry_ms: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._inner = inner
        self._name = name
        self._poll_ms = poll_ms
        self._stale_expiry_ms = stale_expiry_ms
        self._clock = clock
        self._entries: dict[str, _Entry] = {}
        self._lock = threading.Lock()

    @property
    def local(self) -> bool:
        """As the provider inside."""
        return self._inner.local

    def configure(self, params: Mapping[str, str]) -> None:
        """Configure the provider inside."""
        self._inner.configure(params)

    def close(self) -> None:
        """Close the provider inside and forget all values."""
        self._entries.clear()
        self._inner.close()

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        """Return the keys of a path; see the class for when the store is asked.

        Raises:
            ProviderError: the store was asked, failed, and nothing good is left that may serve.
        """
        if keys is None:  # listings are for people, who want to see the store
            return self._inner.get(path, None)
        with self._lock:
            entry = self._entries.setdefault(path, _Entry())
        with entry.lock:
            now = self._clock() * 1000
            if entry.data is not None and keys <= entry.keys and now < entry.due:
                return entry.data
            return self._read(path, entry, keys, now)

    def expire(self) -> None:
        """Make every path due, so that the next use asks the store (KIP-421's second step)."""
        with self._lock:
            entries = list(self._entries.values())
        for entry in entries:
            with entry.lock:
                entry.due = 0.0

    def states(self) -> list[PathState]:
        """Return the state of every path in use, without values."""
        now = self._clock() * 1000
        with self._lock:
            entries = sorted(self._entries.items())
        return [
            PathState(
                path=path,
                keys=len(entry.keys),
                age_ms=None if entry.data is None else int(now - entry.read_at),
                failures=entry.failures,
                error=entry.error,
            )
            for path, entry in entries
        ]

    def _read(self, path: str, entry: _Entry, keys: Set[str], now: float) -> ConfigData:
        wanted = frozenset(entry.keys | keys)
        try:
            data = self._inner.get(path, wanted)
        except ProviderUnavailableError as error:
            return self._during_outage(path, entry, keys, now, error)
        except Exception as error:
            # "Not allowed", "not there" or broken: no older answer may stand in for that.
            entry.data = None
            entry.failures += 1
            entry.error = type(error).__name__
            raise
        if entry.failures:
            _log.warning("provider '%s' answers again for path '%s'", self._name, path)
        entry.keys = set(wanted)
        entry.data = data
        entry.read_at = now
        entry.due = now + self._good_for(data.ttl)
        entry.failures = 0
        entry.error = None
        return data

    def _during_outage(
        self, path: str, entry: _Entry, keys: Set[str], now: float, error: ProviderUnavailableError
    ) -> ConfigData:
        entry.failures += 1
        entry.error = str(error)
        usable = entry.data is not None and keys <= entry.keys
        if not usable or now - entry.read_at > self._stale_expiry_ms:
            raise error
        assert entry.data is not None  # noqa: S101 - for the type checker; `usable` says so
        # Local reads fail and heal in no time; a store gets some air.
        if not self.local:
            backoff = min(_FIRST_BACKOFF_MS * 2 ** min(entry.failures - 1, 20), _MAX_BACKOFF_MS)
            entry.due = now + _jittered(min(backoff, max(self._poll_ms, _FIRST_BACKOFF_MS) * 8))
        _log.warning(
            "provider '%s' is unavailable for path '%s' (%s); the last good values of %d s ago serve",
            self._name,
            path,
            type(error).__name__,
            (now - entry.read_at) // 1000,
        )
        return entry.data

    def _good_for(self, ttl: int | None) -> float:
        if self.local:
            return 0.0
        if ttl is None or ttl < 0:
            return _jittered(self._poll_ms)
        return _jittered(ttl * _REFRESH_AT)


def _jittered(ms: float) -> float:
    return ms * random.uniform(1 - _JITTER, 1)  # noqa: S311 - spreads load, guards nothing
