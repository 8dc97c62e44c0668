"""One read of a store: in time, in the form that the contract has, and for files after they have settled."""

from __future__ import annotations

import time
from collections.abc import Callable

from sparkconfig._base.deadline import CallPool, Outcome
from sparkconfig._base.text import shorten
from sparkconfig.errors import (
    ProviderTimeoutError,
    ProviderUnavailableError,
    SecretNotFoundError,
    SparkConfigError,
)
from sparkconfig.providers.base import ConfigData, ConfigProvider
from sparkconfig.resolution.cache_entry import Entry, SlowRead

__all__ = ["StoreReads"]

_PATIENCE_MS = 2_000
_SETTLE_S, _SETTLE_READS = 0.05, 10


class StoreReads:
    """Reads paths of one provider for :class:`.CachingProvider`, which has the parameters' meanings."""

    def __init__(
        self,
        inner: ConfigProvider,
        name: str,
        timeout_ms: int | None,
        wake: Callable[[], None],
        clock: Callable[[], float],
    ) -> None:
        self._inner = inner
        self._name = name
        self._timeout_ms = timeout_ms
        self._wake = wake
        self._clock = clock
        self._pool = CallPool(width=2)

    def close(self) -> None:
        """End the threads."""
        self._pool.close()

    def where(self, path: str) -> str:
        """Name a path in messages."""
        return f"provider '{self._name}' at path '{shorten(path)}'"

    def settled(self, path: str, entry: Entry, wanted: frozenset[str]) -> ConfigData:
        """Read; what has vanished from a local file must stay away for half a second.

        A program that writes into a file instead of replacing it makes it empty first, and removes it before renaming
        another into its place: that is not a revocation.
        """
        before = entry.data
        if not self._inner.local or before is None:
            return self._ask(path, entry, wanted)
        for _ in range(_SETTLE_READS):
            try:
                data = self._ask(path, entry, wanted)
                if data.data.keys() >= before.data.keys():
                    return data
            except SecretNotFoundError:
                pass
            time.sleep(_SETTLE_S)
        return self._ask(path, entry, wanted)

    def _ask(self, path: str, entry: Entry, wanted: frozenset[str]) -> ConfigData:
        """Read once; a breach of the contract is an outage, without its own message.

        A read that takes longer than :data:`_PATIENCE_MS` goes on behind the back of a caller who has last good
        values: a slow store must not hold up every use. Its answer counts as the next read.
        """
        if self._timeout_ms is None:
            return self._checked(path, Outcome.of(lambda: self._inner.get(path, wanted)))
        now = self._clock() * 1000
        slow = entry.slow
        if slow is not None and slow.wanted >= wanted:
            if slow.outcome is not None:
                entry.slow = None
                if slow.pushes == entry.pushes:  # otherwise it may be older than the question
                    return self._checked(path, slow.outcome)
            elif now < slow.until:
                raise ProviderTimeoutError(f"{self.where(path)} has not answered yet")
        read = SlowRead(wanted, now + self._timeout_ms, entry.pushes)

        def call() -> None:
            read.outcome = Outcome.of(lambda: self._inner.get(path, wanted))
            # Only the end of a read that has no caller any more is news: waking at every read would make
            # the keeper read for ever.
            if read.left:
                entry.due = 0.0
                self._wake()

        limit = self._timeout_ms if entry.data is None else min(self._timeout_ms, _PATIENCE_MS)
        entry.slow = read
        self._pool.run([(path, call)], limit / 1000)
        read.left = read.outcome is None
        # Once more: it may have ended before it was known to be left.
        if read.outcome is None:
            raise ProviderTimeoutError(f"{self.where(path)} did not answer within {limit} ms")
        entry.slow = None
        return self._checked(path, read.outcome)

    def _checked(self, path: str, outcome: Outcome[ConfigData]) -> ConfigData:
        if isinstance(outcome.error, SparkConfigError):
            raise outcome.error
        problem = None
        if outcome.error is not None:
            problem = f"failed with {type(outcome.error).__name__}"
        elif not isinstance(outcome.value, ConfigData):
            problem = f"answered {type(outcome.value).__name__}, not ConfigData"
        elif not all(value is None or isinstance(value, str) for value in outcome.value.data.values()):
            problem = "answered something that is not text"
        else:
            return outcome.value
        raise ProviderUnavailableError(f"{self.where(path)} {problem}")
