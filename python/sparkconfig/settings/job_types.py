"""The kinds of job that policies tell apart, and the settings that name them."""

from __future__ import annotations

from typing import Literal, get_args

from sparkconfig._base.text import shorten
from sparkconfig.settings.kinds import Kind, names

__all__ = ["JOB_TYPES", "JobType", "job_types"]

JobType = Literal["batch", "streaming", "sql", "connect", "interactive"]
JOB_TYPES: tuple[str, ...] = get_args(JobType)


def _types(given: str | None) -> tuple[str, ...]:
    found = names.parse(given)
    for name in found:
        if name not in JOB_TYPES:
            raise ValueError(f"'{shorten(name, 40)}' is not a job type; use {', '.join(JOB_TYPES)}")
    return found


job_types: Kind[tuple[str, ...]] = Kind("job types, separated by commas", _types)
