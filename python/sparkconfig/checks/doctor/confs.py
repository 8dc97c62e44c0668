"""Confs in which a reference would never become a value."""

from __future__ import annotations

from collections.abc import Iterator

from sparkconfig.checks.doctor.finding import Finding, error, warning
from sparkconfig.checks.doctor.stores import references_in
from sparkconfig.checks.doctor.subject import Subject
from sparkconfig.errors import SparkConfigError
from sparkconfig.settings.conf_places import ConfPlaces
from sparkconfig.settings.schema import PREFIX, Settings, parse

__all__ = ["places"]

_AREA = "settings"
_ENV = "spark.executorEnv."


def places(subject: Subject) -> Iterator[Finding]:
    """Check that each reference stands where sparkconfig can resolve it."""
    confs = subject.effective
    settings = _settings(confs)
    where = ConfPlaces.of(settings, confs)
    held = dict(references_in(subject))
    if settings.substitution_enabled:
        held.update({key: [] for key, text in confs.items() if "$[" in text and not key.startswith(PREFIX)})
    for key, references in held.items():
        ours = "$[" in confs[key] or any(
            each.provider not in settings.foreign_providers for each in references
        )
        advice = where.advice(key) if ours else None
        if advice is not None:
            found, _, todo = advice.partition(". ")
            yield error(_AREA, found, todo)
        elif ours and key.startswith(_ENV):
            yield warning(
                _AREA,
                f"{key}: executors' JVMs get the value, and an application in Python does not start",
                "read the value where it is used: sparkconfig.current(...) in Python",
            )


def _settings(confs: dict[str, str]) -> Settings:
    """Return the settings; the defaults if they are wrong, which another check reports."""
    try:
        return parse({key: text for key, text in confs.items() if key.startswith(PREFIX)})
    except SparkConfigError:
        return Settings()
