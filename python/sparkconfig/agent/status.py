"""What can be told of a running application: names, times and counts, never values."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol

from sparkconfig.language.references import scan
from sparkconfig.resolution.in_use import Use
from sparkconfig.resolution.result import Place

if TYPE_CHECKING:
    from sparkconfig.agent.generations import GenerationHistory
    from sparkconfig.agent.policies import Policies
    from sparkconfig.resolution.cache import CachingProvider
    from sparkconfig.resolution.keeper import SnapshotKeeper
    from sparkconfig.resolution.resolver import Resolver
    from sparkconfig.settings.schema import Settings

__all__ = ["Running", "status_of"]


class Running(Protocol):
    """What the status of an application is made of."""

    keeper: SnapshotKeeper
    settings: Settings
    policies: Policies | None
    resolver: Resolver
    caches: dict[str, CachingProvider]
    history: GenerationHistory


def status_of(application: Running) -> dict[str, Any]:
    """Return the state for the UI, for metrics and for ``sparkconfig refresh --status``, ready for JSON.

    Times of day are milliseconds since the epoch, durations milliseconds.
    """
    keeper = application.keeper
    settings = application.settings
    in_use = _keys_in_use(keeper.uses().values())
    return {
        "generation": keeper.snapshot.generation,
        "published_at": int(keeper.published_at * 1000),
        "now": int(time.time() * 1000),
        "reload_trigger": settings.reload_trigger,
        "reload_action": settings.reload_action,
        "poll_interval_ms": settings.poll_interval,
        "rounds": keeper.rounds,
        "failed_rounds": keeper.failed_rounds,
        "policy": {} if application.policies is None else application.policies.status(),
        "providers": [
            _provider(application, name, in_use) for name in sorted(application.resolver.providers)
        ],
        "references": [
            {
                "key": use.key,
                "references": list(use.references),
                "changed_at": None if use.changed_at is None else int(use.changed_at * 1000),
                "problem": use.problem,
            }
            for use in sorted(keeper.uses().values(), key=lambda use: (use.references, use.key or ""))
        ],
        "generations": application.history.recent(),
        "decisions": [] if application.policies is None else _decisions(application.policies),
    }


def _decisions(policies: Policies) -> list[dict[str, Any]]:
    """The last policy decisions, the newest first."""
    shown = ("time", "user", "session", "scope", "subject", "canonical", "decision", "reason", "rule")
    records = list(policies.engine.recent)
    # Users see their own decisions; where a link of a statement's path leads is for the operator.
    return [
        {
            name: record[name]
            for name in shown
            if name in record and (name != "canonical" or "statement" not in record)
        }
        for record in reversed(records)
    ]


def _keys_in_use(uses: Iterable[Use]) -> dict[Place, list[str]]:
    """The keys of each (provider, path) that references in use name, not those that were ever asked for."""
    found: dict[Place, set[str]] = {}
    for use in uses:
        for text in use.references:
            for reference in scan(text):
                found.setdefault((reference.provider, reference.path or ""), set()).add(reference.key)
    return {place: sorted(keys) for place, keys in found.items()}


def _provider(application: Running, name: str, in_use: dict[Place, list[str]]) -> dict[str, Any]:
    cache = application.caches.get(name)
    states = [] if cache is None else cache.states()
    return {
        "name": name,
        "class": "" if cache is None else cache.kind,
        "up": all(state.failures == 0 for state in states),
        "paths": [
            {
                "path": state.path,
                "keys": in_use.get((name, state.path), []),
                "age_ms": state.age_ms,
                "due_ms": max(0, state.due_ms),
                "expires_ms": state.expires_ms,
                "failures": state.failures,
                "error": state.error,
                "reads": state.reads,
                "pushed": state.pushed,
            }
            for state in states
        ],
    }
