"""Where in an application's confs a reference would never become a value, and what to do instead."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sparkconfig._base.late import late
from sparkconfig._base.record import Record
from sparkconfig.settings.early import advice_if_early
from sparkconfig.settings.readers import CONNECTOR_CODE, CONNECTORS

if TYPE_CHECKING:
    from sparkconfig.settings.schema import Settings

__all__ = ["ConfPlaces"]

_EXECUTOR_ENV = "spark.executorEnv."
_USE = (
    "Read the value where it is used: sparkconfig.current(...) in Python, and in the JVM from a conf of your own"
    " (docs/confs.md)"
)
_APP_MASTER_ENV = "spark.yarn.appMasterEnv."
_DEFAULT = late(r"\$\{[A-Za-z_][A-Za-z0-9_]*:[-=+?][^{}]*\}")
"""A default of a shell, as in ``${HOME:-/tmp}``, which looks like a reference to a provider ``HOME``."""
_SHELL = "YARN writes the text of the reference into a shell script, and the shell turns it into nothing"
_POD = late(
    r"spark\.kubernetes\.(?:[A-Za-z]+\.)*(?:label|annotation|secrets|secretKeyRef|volumes|node\.selector)\."
)
_DRIVER_ENV = "spark.kubernetes.driverEnv."


class ConfPlaces(Record):
    """What decides whether a reference can be in a conf.

    Attributes:
        in_place: the patterns of ``spark.config.inplace.keys``.
        kept: the patterns of ``spark.config.reference.keys``.
        resolved: the prefixes of ``spark.config.resolve.prefixes``.
        master: ``spark.master``; empty if it is not known yet.
        filters: the classes of ``spark.ui.filters``.
    """

    in_place: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    resolved: tuple[str, ...] = tuple(CONNECTOR_CODE)
    master: str = ""
    filters: frozenset[str] = frozenset()

    @classmethod
    def of(cls, settings: Settings, confs: Mapping[str, str]) -> ConfPlaces:
        """Take the settings, and what the application's confs say about master and filters."""
        filters = confs.get("spark.ui.filters", "").split(",")
        return cls(
            in_place=settings.inplace_keys,
            kept=settings.reference_keys,
            resolved=tuple(settings.resolve_prefixes),
            master=confs.get("spark.master", "").strip(),
            filters=frozenset(name.strip() for name in filters if name.strip()),
        )

    def advice(self, key: str) -> str | None:
        """Return why a reference cannot be in this conf and what to do, or None if it can."""
        if key.startswith(_EXECUTOR_ENV):
            return advice_if_early(key) or self._executor_env(key)
        return advice_if_early(key) or self._cluster(key) or self._filter(key) or self.of_connector(key)

    def is_of_shell(self, key: str, text: str) -> bool:
        """Whether what looks like references in this conf is the shell's own, such as ``${HOME:-/tmp}``.

        YARN writes these variables into a shell script, where such texts have always worked.
        """
        yarn = self.master == "yarn" and key.startswith(_EXECUTOR_ENV)
        rest = _DEFAULT.sub("", text)
        return (yarn or key.startswith(_APP_MASTER_ENV)) and "${" not in rest and "$[" not in rest

    def _executor_env(self, key: str) -> str:
        if self.master == "yarn":
            return f"{key}: {_SHELL}. {_USE}"
        if self.master.startswith("k8s://"):
            name = key.removeprefix(_EXECUTOR_ENV)
            return (
                f"{key}: Kubernetes would give executors the text of the reference. Use"
                f" spark.kubernetes.executor.secretKeyRef.{name}=SECRET:KEY. {_USE}"
            )
        return f"{key}: environment variables show in launch scripts, /proc and the master's page. {_USE}"

    def _cluster(self, key: str) -> str | None:
        if key.startswith(_APP_MASTER_ENV):
            return f"{key}: {_SHELL}. {_USE}"
        if key == "spark.yarn.tags":
            return f"{key}: YARN shows tags to everybody. Write the tags themselves; no secret belongs there"
        if key.startswith(_DRIVER_ENV):
            name = key.removeprefix(_DRIVER_ENV)
            return (
                f"{key}: Kubernetes would give the driver the text of the reference. Use"
                f" spark.kubernetes.driver.secretKeyRef.{name}=SECRET:KEY"
            )
        if _POD.match(key):
            return (
                f"{key}: Spark copies it into the specification of a pod or service, with the text of the reference."
                " Write the text itself; users who may read the specification would see a secret"
            )
        return None

    def _filter(self, key: str) -> str | None:
        if not key.startswith(tuple(f"spark.{name}.param." for name in self.filters)):
            return None
        return (
            f"{key}: Spark passes the filter the text of the reference. Let the filter read the value from a file,"
            " if it can, or write it here"
        )

    def of_connector(self, key: str) -> str | None:
        """Return why a connector would use the text of a reference in this conf, or None if it would not."""
        reader = next((name for prefix, name in CONNECTORS.items() if key.startswith(prefix)), None)
        if (
            reader is None
            or key.startswith(self.resolved)
            or self._fits(key, self.in_place)
            or self._fits(key, self.kept)
        ):
            return None
        return (
            f"{key}: {reader} reads this conf by itself and would use the text of the reference. Name the key in"
            " spark.config.inplace.keys, which puts the value into the conf, or the connector's package in"
            " spark.config.resolve.prefixes. If only your own code reads it, name it in spark.config.reference.keys"
        )

    @staticmethod
    def _fits(key: str, patterns: tuple[str, ...]) -> bool:
        return any(fnmatch.fnmatchcase(key, pattern) for pattern in patterns)
