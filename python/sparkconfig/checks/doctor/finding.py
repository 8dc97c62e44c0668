"""One thing that was checked."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sparkconfig.checks.exit_codes import ExitCode

__all__ = ["Finding", "Level", "error", "note", "ok", "warning"]


class Level(str, Enum):
    """How bad it is."""

    OK = "ok"
    NOTE = "note"
    """Nothing is wrong, and worth knowing."""
    WARNING = "warning"
    """An application starts, and something is weaker than it could be."""
    ERROR = "error"
    """An application does not start, or a secret is not protected."""


@dataclass(frozen=True)
class Finding:
    """One thing that was checked. No text holds a value.

    Attributes:
        area: what was checked, such as ``java`` or ``provider vault``.
        level: how bad it is.
        found: what is there.
        todo: what to do; empty if nothing.
        code: the exit code that an error asks for.
    """

    area: str
    level: Level
    found: str
    todo: str = ""
    code: ExitCode = ExitCode.CONFIGURATION

    def as_json(self) -> dict[str, str]:
        """Return it for machines."""
        return {"area": self.area, "level": self.level.value, "found": self.found, "todo": self.todo}


def ok(area: str, found: str) -> Finding:
    """Return a finding with which nothing is wrong."""
    return Finding(area, Level.OK, found)


def note(area: str, found: str, todo: str = "") -> Finding:
    """Return one that is worth knowing."""
    return Finding(area, Level.NOTE, found, todo)


def warning(area: str, found: str, todo: str) -> Finding:
    """Return one that weakens something."""
    return Finding(area, Level.WARNING, found, todo)


def error(area: str, found: str, todo: str, code: ExitCode = ExitCode.CONFIGURATION) -> Finding:
    """Return one that stops an application or leaves a secret unprotected."""
    return Finding(area, Level.ERROR, found, todo, code)
