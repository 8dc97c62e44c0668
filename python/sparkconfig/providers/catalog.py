"""What providers there are: for ``sparkconfig providers``, ``doctor`` and the table of docs/providers.md."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import entry_points

from sparkconfig.errors import ConfigurationError
from sparkconfig.providers._kit.described import Described
from sparkconfig.providers._kit.params import Param
from sparkconfig.providers.base import ConfigProvider
from sparkconfig.providers.registry import BUILT_IN, ENTRY_POINTS, find_class

__all__ = ["ProviderInfo", "catalog"]


@dataclass(frozen=True)
class ProviderInfo:
    """One provider, as it describes itself.

    Attributes:
        alias: its name in ``.class``.
        target: ``package.module:Class``.
        store: what it reads.
        extra: the extra of sparkconfig that brings its client, or None.
        installed: whether the client is there; a built-in without client always is.
        params: what ``configure`` takes; None if a third party's class does not say.
        paths: what path and key mean.
        ttl: where the ttl comes from.
        auth: how it proves who it is.
    """

    alias: str
    target: str
    store: str
    extra: str | None
    installed: bool
    params: tuple[Param, ...] | None
    paths: str
    ttl: str
    auth: str


def catalog(*, third_parties: bool = True) -> list[ProviderInfo]:
    """Return the built-in providers in the order of their aliases, then what other packages publish.

    A published provider that cannot be imported is listed as not installed.
    """
    targets = BUILT_IN.targets()
    found = [_described(alias, targets[alias], kind) for alias, kind in BUILT_IN.all.items()]
    published = entry_points(group=ENTRY_POINTS) if third_parties else ()
    # Entry points left by an older version of this package do not count as third-party.
    others = {each.name: each.value for each in published if not each.value.startswith("sparkconfig.")}
    return found + [
        _third_party(alias, target) for alias, target in sorted(others.items()) if alias not in targets
    ]


def _described(alias: str, target: str, kind: type[Described]) -> ProviderInfo:
    return ProviderInfo(
        alias,
        target,
        kind.store,
        kind.extra,
        kind.client is None or _there(kind.client),
        kind.table,
        kind.paths,
        kind.ttl_rule,
        kind.auth,
    )


def _third_party(alias: str, target: str) -> ProviderInfo:
    try:
        kind = find_class(alias)
    except ConfigurationError:
        return ProviderInfo(alias, target, "(cannot be imported)", None, False, None, "", "", "")
    lines: Sequence[str] = (kind.__doc__ or "").strip().splitlines()
    store = lines[0] if lines else kind.__name__
    return ProviderInfo(alias, target, store, None, True, _module_params(kind), "", "", "")


def _module_params(kind: type[ConfigProvider]) -> tuple[Param, ...] | None:
    """Return the ``PARAMS`` beside the class, if they are there."""
    params = getattr(importlib.import_module(kind.__module__), "PARAMS", None)
    return params if isinstance(params, tuple) and all(isinstance(each, Param) for each in params) else None


def _there(module: str) -> bool:
    """Whether a module can be found, without importing more than the packages above it."""
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
