"""The contract of a config provider (KIP-297, ``org.apache.kafka.common.config.provider.ConfigProvider``)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Set
from types import MappingProxyType, TracebackType
from typing import TypeVar

from sparkconfig._base.record import Record, field

__all__ = ["ChangeCallback", "ConfigData", "ConfigProvider"]


# ConfigData: what a provider answers (KIP-297).
class ConfigData(Record):
    """Keys and values of one path, read at one moment, so they all belong together.

    Attributes:
        data: key to value. A key that does not exist is absent. Values are plain text here: this is the
            inside of the library; users get them as :class:`sparkconfig.Secret`.
        ttl: milliseconds for which the values are good, or None if the provider sets no limit (KIP-297).
        plain: keys whose values the store itself does not treat as secrets, such as those of a ConfigMap.
        objects: keys that were asked for and are objects, with the names of their fields; for messages.
    """

    data: Mapping[str, str]
    ttl: int | None = None
    plain: frozenset[str] = frozenset()
    objects: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", MappingProxyType(dict(self.data)))

    @classmethod
    def of(
        cls,
        values: Mapping[str, str],
        keys: Set[str] | None,
        ttl: int | None = None,
        plain: frozenset[str] = frozenset(),
    ) -> ConfigData:
        """What ``keys`` name in all ``values`` of a path, in which fields of objects have dotted names."""
        if keys is None or values.keys() == keys:
            return cls(values, ttl, plain=plain)
        data = {key: values[key] for key in keys if key in values}
        objects = {
            key: fields
            for key in keys - data.keys()
            if (fields := tuple(name for name in values if name.startswith(f"{key}.")))
        }
        return cls(data, ttl, plain=plain & data.keys(), objects=objects)

    def __repr__(self) -> str:
        return f"ConfigData(keys={sorted(map(str, self.data))}, ttl={self.ttl})"


ChangeCallback = Callable[[str, ConfigData], None]
"""Called with the path and the whole new ConfigData (KIP-297: ``ConfigChangeCallback.onChange``)."""


_Self = TypeVar("_Self", bound="ConfigProvider")


class ConfigProvider(ABC):
    """Answers keys of a path from one store.

    Life cycle: created without arguments, :meth:`configure` once, any number of calls from any thread,
    :meth:`close` once (also after a configure that failed). :meth:`get` must be thread-safe, must not keep
    values longer than it says by ``ttl``, and must never put a value into an error or a log line.
    """

    def configure(self, params: Mapping[str, str]) -> None:  # noqa: B027 - optional
        """Take the params of ``providers.NAME.param.*``.

        Raises:
            ConfigurationError: a param is missing, unknown or malformed; the message names it.
        """

    @abstractmethod
    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        """Return the values of ``keys`` at ``path``, or of all keys when ``keys`` is None.

        One call is one read: all the values returned belong to one moment. A key that does not exist is left
        out; the caller decides whether that is an error.

        Raises:
            SecretNotFoundError: the path does not exist (where that differs from "no such key").
            AccessDeniedError: the store or an allowlist refuses.
            ProviderUnavailableError: the store cannot be reached.
        """

    @property
    def local(self) -> bool:
        """Whether a read stays on this machine: then it is repeated when a file changes, or every two seconds."""
        return False

    @property
    def pushes(self) -> bool:
        """Whether :meth:`subscribe` works; without it the caller polls."""
        return False

    def subscribe(self, path: str, keys: Set[str], callback: ChangeCallback) -> None:
        """Call ``callback`` with the whole new ConfigData whenever one of ``keys`` at ``path`` changes.

        Raises:
            NotImplementedError: this provider does not push (KIP-297: UnsupportedOperationException).
        """
        raise NotImplementedError(f"{type(self).__name__} does not push changes; poll it")

    def unsubscribe(self, path: str, keys: Set[str], callback: ChangeCallback) -> None:
        """End one subscription; raises NotImplementedError like :meth:`subscribe`."""
        raise NotImplementedError(f"{type(self).__name__} does not push changes; poll it")

    def unsubscribe_all(self) -> None:
        """End all subscriptions; raises NotImplementedError like :meth:`subscribe`."""
        raise NotImplementedError(f"{type(self).__name__} does not push changes; poll it")

    def close(self) -> None:  # noqa: B027 - optional
        """Release connections, threads and leases. Called once, also after a failed configure."""

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
