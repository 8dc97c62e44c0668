"""The paths of a run, as readers know them: numbers and references."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class WatchedPath:
    """A path with two keys.

    Attributes:
        name: such as ``renamed``.
        user: the reference to its first key.
        password: the reference to its second key.
        url: for logins, of the database behind it, without ``jdbc:``.
    """

    number: int
    name: str
    user: str
    password: str
    url: str = ""


@dataclass(frozen=True)
class Plan:
    """What an application reads, and where it writes that down.

    Attributes:
        name: of the application.
        seconds: how long its Python tasks run.
        reads: how often each of them reads.
        pause: milliseconds between two jobs.
    """

    name: str
    folder: str
    paths: Sequence[WatchedPath]
    seconds: float = 0.15
    reads: int = 200
    pause: int = 300

    def save(self, file: Path) -> None:
        """Write it for the application."""
        file.write_text(json.dumps(asdict(self)))

    @classmethod
    def load(cls, file: Path) -> Plan:
        """Read it again."""
        found = json.loads(file.read_text())
        return cls(**{**found, "paths": tuple(WatchedPath(**each) for each in found["paths"])})

    @property
    def for_scala(self) -> str:
        """The paths as `HistoryPath.all` takes them."""
        return "\n".join(f"{each.number}\t{each.user}\t{each.password}\t{each.url}" for each in self.paths)
