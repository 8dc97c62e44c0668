"""Restarts at the end of a ttl, as Kafka Connect's workers schedule them (KIP-297)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from sparkconfig.errors import ConfigurationError
from sparkconfig.resolution.transformer import ConfigTransformer, ConfigTransformerResult

__all__ = ["ACTION", "ReloadingTransformer", "Request", "reload_action"]

ACTION = "config.action.reload"
"""The key among a job's own configs (Kafka's spelling) that says what a changed value triggers."""


class Request(Protocol):
    """A restart that was requested."""

    def cancel(self) -> None:
        """Take it back."""


def reload_action(configs: Mapping[str, object]) -> str:
    """Return ``restart`` or ``none``; case and space around the word do not matter, unset is ``restart``.

    Raises:
        ConfigurationError: another word.
    """
    given = configs.get(ACTION)
    word = "restart" if given is None else str(given).strip().lower()
    if word not in ("restart", "none"):
        raise ConfigurationError(f"{ACTION}: expected restart or none")
    return word


class ReloadingTransformer:
    """Resolves the configs of named jobs and asks for a restart of each when a ttl of its values ends.

    Args:
        transformer: resolves.
        restart: asks for a restart of a job (its name) in a number of milliseconds.
    """

    def __init__(self, transformer: ConfigTransformer, restart: Callable[[str, int], Request]) -> None:
        self._transformer = transformer
        self._restart = restart
        self._requests: dict[tuple[str, str], Request] = {}

    def transform(self, name: str | None, configs: Mapping[str, object]) -> ConfigTransformerResult:
        """Resolve the configs of the job ``name``; without a name nothing is scheduled.

        A new request for the same job and path replaces the earlier one; ``none`` asks for nothing and, as in
        Kafka, leaves earlier requests alone.

        Raises:
            ConfigurationError: ``config.action.reload`` is not one of its words; nothing is scheduled.
            SparkConfigError: as :meth:`ConfigTransformer.transform`.
        """
        result = self._transformer.transform(configs)
        if name is not None and reload_action(result.reveal()) == "restart":
            soonest: dict[str, int] = {}
            for (_, path), ttl in result.ttls.items():
                soonest[path] = min(ttl, soonest.get(path, ttl))
            for path, ttl in soonest.items():
                self._schedule(name, path, ttl)
        return result

    def _schedule(self, name: str, path: str, ttl: int) -> None:
        earlier = self._requests.pop((name, path), None)
        if earlier is not None:
            earlier.cancel()
        self._requests[name, path] = self._restart(name, ttl)
