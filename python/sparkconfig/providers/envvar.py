"""Environment variables (Kafka: ``EnvVarConfigProvider``): ``${envvar:NAME}``."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Set

from sparkconfig._base.late import late
from sparkconfig._base.text import shorten
from sparkconfig.errors import ConfigurationError
from sparkconfig.providers._kit.described import Described
from sparkconfig.providers._kit.params import Param, read_params
from sparkconfig.providers.base import ConfigData

__all__ = ["EnvVarConfigProvider"]

_NESTED = late(r"(?<!\\)\[[^\]]*(?:(?<!\\)\[|&&)")


class EnvVarConfigProvider(Described):
    """Reads variables of the process; a reference has no path: ``${envvar:DB_PASSWORD}``.

    Args:
        environ: the variables; None: those of this process.
    """

    alias = "envvar"
    java = ("EnvVarConfigProvider",)
    store = "environment variables"
    table = (
        Param(
            "allowlist.pattern",
            "regular expression that the whole name of a variable must match to be readable; unset: every variable",
        ),
    )
    paths = "no path; key: a variable"
    auth = "the process's own environment"

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        self._environ = os.environ if environ is None else environ
        self._allowed: re.Pattern[str] | None = None

    @property
    def local(self) -> bool:
        """Reading costs nothing."""
        return True

    def configure(self, params: Mapping[str, str]) -> None:
        """Take ``allowlist.pattern``.

        Raises:
            ConfigurationError: the pattern is not a regular expression.
        """
        read_params(self.alias, self.table, params)
        self.allow(params.get("allowlist.pattern"))  # an empty pattern allows nothing, as in Kafka

    def allow(self, pattern: str | None) -> None:
        """Let only variables be read whose whole name matches; None: all.

        Raises:
            ConfigurationError: the pattern is not a regular expression.
        """
        self._allowed, reason = None, ""
        # Java reads what looks like a class within a class in another way: nothing may be allowed by that.
        if pattern is not None and _NESTED.search(pattern):
            reason = "it has a class within a class"
        elif pattern is not None:
            try:
                self._allowed = re.compile(pattern, re.ASCII)
            except re.error as error:
                reason = str(error)
        if reason:
            raise ConfigurationError(f"provider envvar: allowlist.pattern is not a usable pattern: {reason}")

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        """Return variables. One that the pattern forbids is left out, like one that is not set (Kafka).

        Raises:
            ConfigurationError: a path was given.
        """
        if path:
            raise ConfigurationError(
                f"Path is not supported for EnvVarConfigProvider, invalid value '{shorten(path)}'"
            )
        names = self._environ.keys() if keys is None else keys
        return ConfigData({name: self._environ[name] for name in names if self._readable(name)})

    def _readable(self, name: str) -> bool:
        try:
            found = name in self._environ
        except ValueError:  # no variable can have such a name: a lone surrogate, for example
            return False
        return found and (self._allowed is None or self._allowed.fullmatch(name) is not None)
