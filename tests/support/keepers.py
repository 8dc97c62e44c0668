"""Keepers over stores that change, fail, hang, answer garbage and push when a test says so."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Set

from sparkconfig import ConfigData, ConfigProvider
from sparkconfig.language.expression import Expression
from sparkconfig.providers.base import ChangeCallback
from sparkconfig.resolution.cache import CachingProvider
from sparkconfig.resolution.keeper import SnapshotKeeper
from sparkconfig.resolution.resolver import Resolver
from sparkconfig.resolution.snapshot import Snapshot
from sparkconfig.settings.schema import Settings


class Store(ConfigProvider):
    """A remote store with paths of keys; fails, hangs, answers garbage, and pushes, on demand."""

    def __init__(
        self, data: dict[str, dict[str, str]], *, pushes: bool = False, ttl: int | None = None
    ) -> None:
        self.data = data
        self.ttl = ttl
        self.failures: dict[str, BaseException] = {}
        self.garbage: object = None
        self.block: threading.Event | None = None
        self.reads = 0
        self.subscribed: list[tuple[str, frozenset[str], ChangeCallback]] = []
        self._pushes = pushes

    @property
    def pushes(self) -> bool:
        return self._pushes

    def subscribe(self, path: str, keys: Set[str], callback: ChangeCallback) -> None:
        self.subscribed.append((path, frozenset(keys), callback))

    def unsubscribe(self, path: str, keys: Set[str], callback: ChangeCallback) -> None:
        self.subscribed.remove((path, frozenset(keys), callback))

    def unsubscribe_all(self) -> None:
        self.subscribed.clear()

    def push(self, path: str) -> None:
        for subscribed, keys, callback in list(self.subscribed):
            if subscribed == path:
                callback(path, self.get(path, keys))

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        self.reads += 1
        if self.block is not None:
            self.block.wait(20)
        if path in self.failures:
            raise self.failures[path]
        if self.garbage is not None:
            return self.garbage  # type: ignore[return-value]
        row = self.data[path]  # one dict per generation: replaced, never changed
        return ConfigData({k: v for k, v in row.items() if keys is None or k in keys}, self.ttl)


class Clock:
    """The machine's seconds, and those that a test skips instead of waiting for them."""

    def __init__(self) -> None:
        self._skipped = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self._skipped

    def skip(self, seconds: float) -> None:
        self._skipped += seconds


def expressions(*texts: str) -> dict[str, Expression]:
    return {text: Expression(text) for text in texts}


def build(
    *stores: Store,
    poll_ms: int = 20,
    timeout_ms: int | None = 1000,
    stale_ms: int = 60_000,
    clock: Callable[[], float] = time.monotonic,
    settings: Settings | None = None,
    **options: object,
) -> tuple[SnapshotKeeper, list[CachingProvider]]:
    """A keeper over stores named a, b, c..., as the side process puts it together."""
    keepers: list[SnapshotKeeper] = []
    caches = [
        CachingProvider(
            store,
            "abc"[i],
            poll_ms=poll_ms,
            stale_expiry_ms=stale_ms,
            timeout_ms=timeout_ms,
            frozen=bool(options.get("manual")),
            wake=lambda: keepers[0].wake() if keepers else None,
            clock=clock,
        )
        for i, store in enumerate(stores)
    ]
    resolver = Resolver({"abc"[i]: cache for i, cache in enumerate(caches)}, settings or Settings())
    keepers.append(SnapshotKeeper(resolver, poll_ms=poll_ms, stale_ms=stale_ms, **options))
    return keepers[0], caches


def values(snapshot: Snapshot) -> dict[str, str]:
    return {id_: entry.value for id_, entry in snapshot.entries.items()}
