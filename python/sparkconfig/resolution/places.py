"""What the caches of all providers know, by provider and path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sparkconfig.providers.base import ConfigProvider
from sparkconfig.resolution.cache import CachingProvider
from sparkconfig.resolution.result import Place

__all__ = ["read_due", "versions_of"]


def versions_of(providers: Mapping[str, ConfigProvider]) -> dict[Place, int]:
    """Return :meth:`.CachingProvider.versions` of all of them."""
    return {
        (name, path): version
        for name, provider in providers.items()
        if isinstance(provider, CachingProvider)
        for path, version in provider.versions().items()
    }


def read_due(providers: Mapping[str, ConfigProvider], places: Iterable[Place]) -> None:
    """Begin to read those of the places that are due, without waiting."""
    paths: dict[str, list[str]] = {}
    for name, path in places:
        paths.setdefault(name, []).append(path)
    for name, found in paths.items():
        provider = providers.get(name)
        if isinstance(provider, CachingProvider):
            provider.read_due(found)
