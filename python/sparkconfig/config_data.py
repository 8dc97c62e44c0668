"""ConfigData: what a provider answers (KIP-297)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

__all__ = ["ConfigData"]


@dataclass(frozen=True)
class ConfigData:
    """Keys and values of one path, read at one moment, so they all belong together.

    Attributes:
        data: key to value. A key that does not exist is absent. Values are plain text here: this is the
            inside of the library; users get them as :class:`sparkconfig.Secret`.
        ttl: milliseconds for which the values are good, or None if the provider sets no limit (KIP-297).
        lease_renewable: whether the store would extend these values' lease instead of issuing new ones.
    """

    data: Mapping[str, str] = field(repr=False)
    ttl: int | None = None
    lease_renewable: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", MappingProxyType(dict(self.data)))

    def __repr__(self) -> str:
        return f"ConfigData(keys={sorted(map(str, self.data))}, ttl={self.ttl})"
