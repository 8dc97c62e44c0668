"""Snapshot: the values of all expressions in use, read in one round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

__all__ = ["Entry", "Snapshot"]


@dataclass(frozen=True)
class Entry:
    """One value.

    Attributes:
        value: the text; never shown by ``repr``.
        secret: whether it is to be redacted wherever it could be shown.
    """

    value: str = field(repr=False)
    secret: bool


@dataclass(frozen=True)
class Snapshot:
    """One immutable generation.

    Attributes:
        generation: grows by one with each change; a newer one never gives way to an older one.
        entries: expression id to its value.
    """

    generation: int
    entries: Mapping[str, Entry] = field(repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", MappingProxyType(dict(self.entries)))

    def to_json(self) -> dict[str, object]:
        """Return the wire form, values included: for the bridge to the JVM only."""
        return {
            "generation": self.generation,
            "values": {id_: {"value": e.value, "secret": e.secret} for id_, e in self.entries.items()},
        }

    @classmethod
    def from_json(cls, node: Mapping[str, object]) -> Snapshot:
        """Read the wire form."""
        values = node.get("values")
        entries = values if isinstance(values, Mapping) else {}
        return cls(
            int(str(node.get("generation", 0))),
            {id_: Entry(str(e["value"]), bool(e.get("secret", True))) for id_, e in entries.items()},
        )
