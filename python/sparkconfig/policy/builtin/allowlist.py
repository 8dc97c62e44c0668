"""The built-in policy ``Allowlist`` (KIP-1188): overrides of listed names are allowed."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sparkconfig._base.text import shorten
from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.base import KeyPolicy
from sparkconfig.policy.keys.keys import canonical, fold
from sparkconfig.policy.request import OverrideRequest

__all__ = ["AllowlistPolicy"]

_KAFKA_ALLOWLIST = "connector.client.config.override.allowlist"


class AllowlistPolicy(KeyPolicy):
    """Overrides of listed names are allowed; by default the list is empty.

    Param ``allowlist``: names, separated by commas; no wildcards. The list itself is checked as Kafka checks
    its own ``connector.client.config.override.allowlist``, which is taken as a param, too.
    """

    policy_name = "Allowlist"

    def __init__(self) -> None:
        self._exact: frozenset[str] = frozenset()
        self._folded: frozenset[str] = frozenset()

    def configure(self, params: Mapping[str, str], defaults: Mapping[str, str]) -> None:  # noqa: ARG002
        """Take ``allowlist``.

        Raises:
            ConfigurationError: an empty or repeated entry, or another param.
        """
        unknown = sorted(set(params) - {"allowlist", _KAFKA_ALLOWLIST})
        if unknown:
            raise ConfigurationError(
                f"the policy 'Allowlist' knows no param '{shorten(unknown[0])}'; it takes 'allowlist'"
            )
        names: list[str] = []
        for param, text in params.items():
            names += _names(param, text)
        self._exact = frozenset(names)
        self._folded = frozenset(fold(canonical(name)) for name in names)

    def allows(self, request: OverrideRequest, name: str) -> bool:
        """What is listed; exactly in scope ``connector``, else in any spelling that Spark knows."""
        if request.scope == "connector":
            return name in self._exact
        return fold(canonical(name, request.scope)) in self._folded


def _names(param: str, given: object) -> list[str]:
    """A list as Kafka's ConfigDef reads one, with the checks of ``ValidList.anyNonDuplicateValues``.

    A document or a program may have it as a list already.
    """
    if isinstance(given, str):
        stripped = given.strip()
        names = re.split(r"\s*,\s*", stripped) if stripped else []
    elif isinstance(given, list | tuple) and all(isinstance(name, str) for name in given):
        names = [name.strip() for name in given]
    else:
        raise ConfigurationError(
            f"the policy 'Allowlist' takes names as its param '{param}', separated by commas or as a list,"
            f" and got {type(given).__name__}"
        )
    if len(set(names)) != len(names):
        raise ConfigurationError(f"Configuration '{param}' values must not be duplicated.")
    if "" in names:
        raise ConfigurationError(f"Configuration '{param}' values must not be empty.")
    return names
