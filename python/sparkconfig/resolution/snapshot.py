"""Snapshot: the values of all expressions in use, read in one round."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from sparkconfig._base.record import Record, field
from sparkconfig.resolution.files import StoredFile

__all__ = ["Entry", "Snapshot"]


class Entry(Record):
    """One value.

    Attributes:
        value: the text; never shown by ``repr``.
        secret: whether it is to be redacted wherever it could be shown.
        files: ids of the files whose markers are in the value.
        secrets: the secrets in the value, by which it is masked.
    """

    value: str
    secret: bool
    files: frozenset[str] = frozenset()
    secrets: tuple[str, ...] = field(default=(), compare=False)


class Snapshot(Record):
    """One immutable generation.

    Attributes:
        generation: grows by one with each change; a newer one never gives way to an older one.
        entries: expression id to its value.
        files: id to content of the files that clients need.
        inherited: secrets of values that another process resolved, where it is not known whose they are.
    """

    generation: int
    entries: Mapping[str, Entry]
    files: Mapping[str, StoredFile] = field(default_factory=dict)
    inherited: frozenset[str] = field(default=frozenset(), compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "entries", MappingProxyType(dict(self.entries)))
        object.__setattr__(self, "files", MappingProxyType(dict(self.files)))

    @property
    def secrets(self) -> list[str]:
        """Everything in the values that redaction must mask, each once: references' values, not texts around them."""
        found = dict.fromkeys(secret for entry in self.entries.values() for secret in entry.secrets)
        return list(found | dict.fromkeys(self.inherited))

    def changes_json(self, known: int, ids: Iterable[str]) -> dict[str, object]:
        """Return the wire form of what differs from another generation, values included.

        Args:
            known: the other generation; neither it nor this one may hold files.
            ids: the expressions whose entries may differ.
        """
        ids = list(ids)
        return {
            "since": known,
            "generation": self.generation,
            "values": {
                id_: {**_entry(entry), "redact": list(entry.secrets)}
                for id_ in ids
                if (entry := self.entries.get(id_)) is not None
            },
            "removed": [id_ for id_ in ids if id_ not in self.entries],
        }

    def to_json(self) -> dict[str, object]:
        """Return the wire form, values included: for the bridge to the JVM only."""
        node: dict[str, object] = {
            "generation": self.generation,
            "values": {id_: _entry(e) for id_, e in self.entries.items()},
            "redact": sorted(self.secrets),
        }
        if self.files:
            node["files"] = {
                id_: {"name": file.name, "content": base64.b64encode(file.content).decode("ascii")}
                for id_, file in self.files.items()
            }
        return node

    @classmethod
    def from_json(cls, node: Mapping[str, object]) -> Snapshot:
        """Read the wire form."""
        values = node.get("values")
        entries = values if isinstance(values, Mapping) else {}
        files = node.get("files")
        redact = node.get("redact")
        return cls(
            int(str(node.get("generation", 0))),
            {
                id_: Entry(str(e["value"]), bool(e.get("secret", True)), frozenset(e.get("files", ())))
                for id_, e in entries.items()
            },
            {
                id_: StoredFile(str(file["name"]), base64.b64decode(file["content"]))
                for id_, file in (files if isinstance(files, Mapping) else {}).items()
            },
            frozenset(map(str, redact if isinstance(redact, list) else ())),
        )


def _entry(entry: Entry) -> dict[str, object]:
    node: dict[str, object] = {"value": entry.value, "secret": entry.secret}
    return {**node, "files": sorted(entry.files)} if entry.files else node
