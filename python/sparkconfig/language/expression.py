"""A value text with its key and its neighbours: what a resolver is asked."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sparkconfig._base.record import Record, field

__all__ = ["Expression"]


class Expression(Record):
    """A whole value text, which may hold references and substitutions.

    Attributes:
        text: the raw text.
        key: the key whose value it is, for messages and for KIP-269; None if there is none.
        siblings: raw texts of the other keys of the same map: KIP-269 may name them, and
            ``kafka.config.providers`` among them keep their own references.
    """

    text: str
    key: str | None = None
    siblings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.siblings, MappingProxyType):  # one of those is shared by a whole map's values
            object.__setattr__(self, "siblings", MappingProxyType(dict(self.siblings)))
        self.__dict__["_hash"] = hash((self.text, self.key, len(self.siblings)))

    def __hash__(self) -> int:
        found: int = self.__dict__["_hash"]
        return found
