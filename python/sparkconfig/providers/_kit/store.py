"""What all secret stores share: documented params, attempts, and errors that hold nothing of an answer."""

from __future__ import annotations

import importlib
import logging
from abc import abstractmethod
from collections.abc import Callable, Mapping, Set
from typing import Any, ClassVar, TypeVar

from sparkconfig._base import advice
from sparkconfig.errors import ConfigurationError, ProviderError, ProviderUnavailableError, SparkConfigError
from sparkconfig.providers._kit.described import Described
from sparkconfig.providers._kit.params import Param, ParamValues, read_params
from sparkconfig.providers._kit.retry import Attempts
from sparkconfig.providers.base import ConfigData

__all__ = ["NETWORK", "TTL", "StoreProvider"]

_Answer = TypeVar("_Answer")
_LEAST_TTL = 100
"""As the poll interval's: a number meant as seconds would read a store two hundred times a second."""
TTL = Param("ttl", "how long values stay good; unset: the poll interval of the settings")
NETWORK = (
    Param("timeout", "deadline of one read, its attempts included", default="10s"),
    Param("attempts", "how many times to ask a store that is unreachable or busy", default="3"),
)


class StoreProvider(Described):
    """A provider over a store's own client.

    A subclass declares itself in class attributes, makes its client in :meth:`_open`, reads in :meth:`_read`
    and says in :meth:`_failure` what the client's exceptions mean. Everything else is here.

    Attributes:
        noisy_loggers: loggers of the client that would write answers or credentials at level DEBUG.
    """

    ttl_rule: ClassVar[str] = "`ttl`"
    noisy_loggers: ClassVar[tuple[str, ...]] = ()

    def __init__(self) -> None:
        self._attempts: Attempts | None = None
        self._ttl: int | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def configure(self, params: Mapping[str, str]) -> None:
        """Check the params against ``table`` and make the client; no call to the store yet.

        Raises:
            ConfigurationError: a param is missing, unknown or malformed, or the client is not installed.
        """
        values = read_params(self.alias, self.table, params)
        names = {param.name for param in self.table}
        self._ttl = values.milliseconds("ttl", _LEAST_TTL) if "ttl" in names else None
        for name in self.noisy_loggers:
            logging.getLogger(name).setLevel(logging.INFO)
        limit = values.number("attempts", 1) if "attempts" in names else 1
        seconds = (values.milliseconds("timeout") or 10_000) / 1000 if "timeout" in names else 10.0
        self._open(values, seconds)
        self._attempts = Attempts(limit, seconds)

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        """Read ``keys`` at ``path``; see :class:`~sparkconfig.providers.base.ConfigProvider`."""
        if self._attempts is None:
            raise ConfigurationError(f"provider {self.alias}: get before configure")
        if keys is not None and not keys:
            return ConfigData({}, ttl=self._ttl)
        return self._attempts.run(lambda left: self._try(path, keys, left))

    def _try(self, path: str, keys: Set[str] | None, left: float) -> ConfigData:
        """Read once."""
        return self._mapped(path, lambda: self._read(path, keys, left))

    def _mapped(self, path: str, call: Callable[[], _Answer]) -> _Answer:
        """Call the client; its exception is gone before ours is raised, so that no context keeps it."""
        try:
            return call()
        except SparkConfigError:
            raise
        except Exception as error:  # noqa: BLE001 - clients raise anything; all of it is mapped
            failure = self._failure(error, path)
        raise failure

    def close(self) -> None:
        """End pauses between attempts; subclasses also release their client."""
        if self._attempts is not None:
            self._attempts.stop()

    @abstractmethod
    def _open(self, values: ParamValues, seconds: float) -> None:
        """Make the client, which must not call the store; ``seconds`` is the longest that a read may take."""

    @abstractmethod
    def _read(self, path: str, keys: Set[str] | None, left: float) -> ConfigData:
        """Read once, in ``left`` seconds; raise the client's exceptions as they come."""

    def _failure(self, error: Exception, path: str) -> ProviderError:
        """Say what the client's exception means; the default is "answered something unexpected"."""
        kind = type(error).__name__
        return ProviderUnavailableError(f"{self._where(path)}: the store gave an unusable answer ({kind})")

    def _where(self, path: str) -> str:
        return f"provider {self.alias}, path {path!r}"

    def _import(self, module: str) -> Any:  # noqa: ANN401 - any module
        """Import a client's module.

        Raises:
            ConfigurationError: it is not installed; names the extra.
        """
        try:
            return importlib.import_module(module)
        except ImportError:
            pass
        raise ConfigurationError(
            f"provider {self.alias} needs {module.partition('.')[0]}: {advice.install(self.extra or 'all')}"
        )
