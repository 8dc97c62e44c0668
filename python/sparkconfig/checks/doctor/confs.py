"""Confs in which a reference would never become a value."""

from __future__ import annotations

from collections.abc import Iterator

from sparkconfig.checks.doctor.finding import Finding, error, warning
from sparkconfig.checks.doctor.stores import references_in
from sparkconfig.checks.doctor.subject import Subject
from sparkconfig.errors import SparkConfigError
from sparkconfig.settings.conf_places import ConfPlaces
from sparkconfig.settings.schema import PREFIX, Settings, parse

__all__ = ["misplaced", "places"]

_AREA = "settings"
_ENV = "spark.executorEnv."


def places(subject: Subject) -> Iterator[Finding]:
    """Check that each reference stands where sparkconfig can resolve it."""
    for key, advice in _advised(subject):
        if advice is not None:
            found, _, todo = advice.partition(". ")
            yield error(_AREA, found, todo)
        elif key.startswith(_ENV):
            yield warning(
                _AREA,
                f"{key}: executors' JVMs get the value, and an application in Python does not start",
                "read the value where it is used: sparkconfig.current(...) in Python",
            )


def misplaced(subject: Subject) -> frozenset[str]:
    """Return the keys that :func:`places` names: what else is wrong with their references does not matter."""
    return frozenset(key for key, advice in _advised(subject) if advice is not None)


def _advised(subject: Subject) -> Iterator[tuple[str, str | None]]:
    """Give each conf that holds something of ours, with the advice if it cannot stand there."""
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
        if ours and not where.is_of_shell(key, confs[key]):
            yield key, where.advice(key)


def _settings(confs: dict[str, str]) -> Settings:
    """Return the settings; the defaults if they are wrong, which another check reports."""
    try:
        return parse({key: text for key, text in confs.items() if key.startswith(PREFIX)})
    except SparkConfigError:
        return Settings()
