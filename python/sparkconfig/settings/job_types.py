"""The kinds of job that policies tell apart, and the settings that name them."""

from __future__ import annotations

from sparkconfig._base.text import shorten
from sparkconfig.settings.kinds import Kind, names

__all__ = ["JOB_TYPES", "job_type_map", "job_types"]

JOB_TYPES: tuple[str, ...] = ("batch", "streaming", "sql", "connect", "interactive")


def _types(given: str | None) -> tuple[str, ...]:
    found = names.parse(given)
    for name in found:
        if name not in JOB_TYPES:
            raise ValueError(f"'{shorten(name, 40)}' is not a job type; use {', '.join(JOB_TYPES)}")
    return found


def _map(given: str | None) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    for entry in (part.strip() for part in (given or "").split(",")):
        if not entry:
            continue
        pattern, equals, job_type = (part.strip() for part in entry.rpartition("="))
        if not equals or not pattern or job_type not in JOB_TYPES:
            raise ValueError(
                f"'{shorten(entry, 60)}' is not PATTERN=TYPE with a type among {', '.join(JOB_TYPES)}"
            )
        found.append((pattern, job_type))
    return tuple(found)


job_types: Kind[tuple[str, ...]] = Kind("job types, separated by commas", _types)
job_type_map: Kind[tuple[tuple[str, str], ...]] = Kind("PATTERN=TYPE, separated by commas", _map)
