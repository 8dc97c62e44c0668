"""The caches in front of an application's providers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sparkconfig.providers.base import ConfigProvider
from sparkconfig.resolution.cache import CachingProvider
from sparkconfig.settings.schema import Settings

__all__ = ["Caches"]


def _nobody_waits() -> None:
    """During the start, pushes of providers wake no one."""


class Caches:
    """One cache for each provider.

    Args:
        settings: of the application.

    Attributes:
        by_name: provider name to cache.
        on_push: called when a provider has pushed.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.by_name: dict[str, CachingProvider] = {}
        self.on_push: Callable[[], None] = _nobody_waits

    def add(self, name: str, provider: ConfigProvider) -> ConfigProvider:
        """Put a cache in front of a provider, and return it."""
        cache = CachingProvider(
            provider,
            name,
            poll_ms=self._settings.poll_interval,
            stale_expiry_ms=self._settings.stale_expiry,
            # Less than the resolver's own deadline, so that the cache has the time to serve last good values.
            timeout_ms=max(1, self._settings.provider_timeout * 9 // 10),
            frozen=self._settings.reload_trigger == "manual",
            wake=self._pushed,
        )
        self.by_name[name] = cache
        return cache

    def _pushed(self) -> None:
        self.on_push()

    def next_due_ms(self) -> float | None:
        """Milliseconds until the first of them is due; None: none will be."""
        due = [ms for cache in self.by_name.values() if (ms := cache.next_due_ms()) is not None]
        return min(due, default=None)

    def states(self) -> Mapping[str, Any]:
        """What each holds, by provider name."""
        return {name: cache.states() for name, cache in self.by_name.items()}
