"""Who reads which confs and Hadoop keys besides Spark: `data/readers.json`, which the JVM goes by, too."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Mapping

__all__ = [
    "CONNECTORS",
    "CONNECTOR_CODE",
    "CONNECTOR_COMMANDS",
    "HADOOP",
    "is_of_application",
    "is_of_hadoop",
]

_DATA = json.loads(pkgutil.get_data("sparkconfig", "data/readers.json") or b"")

HADOOP: tuple[str, ...] = tuple(_DATA["hadoop"])
"""Prefixes of keys that file systems, formats and clients read from a Hadoop configuration."""

CONNECTORS: Mapping[str, str] = {each["prefix"]: each["reader"] for each in _DATA["connectors"]}
"""Prefixes of confs that others read from a copy of the conf, where references stay references."""

CONNECTOR_CODE: Mapping[str, tuple[str, ...]] = {
    each["prefix"]: tuple(each["code"]) for each in _DATA["connectors"] if "code" in each
}
"""Those of connectors that get values there, and the Java packages by which they are known."""

CONNECTOR_COMMANDS: tuple[str, ...] = tuple(
    each["prefix"] for each in _DATA["connectors"] if "commands" in each
)
"""Those of connectors that make commands of their own for their tables, and read options and properties in them."""


def is_of_hadoop(key: str) -> bool:
    """Whether a session's conf of this name is read from its Hadoop configuration."""
    return key.startswith(HADOOP)


#: Of Spark, or of what sparkconfig itself binds.
_OF_SPARK = ("spark.config.", "spark.datasource.", "spark.executorEnv.", "spark.hadoop.", "spark.hive.", "spark.sql.",
             "spark.kubernetes.", "spark.yarn.", "spark.ssl.", "spark.ui.")  # fmt: skip


def is_of_application(key: str) -> bool:
    """Whether a conf, as far as anybody knows, is read by an application's own code alone."""
    return key.startswith("spark.") and not key.startswith((*_OF_SPARK, *CONNECTORS))
