"""One name for each property, however a job spells it.

Spark reads many properties under several names: deprecated keys, alternatives, ``spark.hadoop.`` forms, plain
Hadoop keys in session confs and data source options, and option names in any case. A policy that compares
spellings is walked around; so names are brought into one canonical form first, and compared without case.

``spark_keys.json`` was read out of the ConfigEntry registries and alias tables of Spark 3.5, 4.0 and 4.3
(``tests/spark/test_policy_keys.py`` holds it against the Spark that is installed).
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

from sparkconfig.settings.readers import is_of_hadoop

__all__ = ["aliases", "canonical", "default_units", "fold", "generalised", "logs_in"]

HADOOP = "spark.hadoop."
_HIVE = "spark.hive."

_S3A_BUCKET = HADOOP + "fs.s3a.bucket."
_ABFS = HADOOP + "fs.azure."
_MOST_PARTS = 32

# Session confs and options whose names begin so reach the Hadoop configuration (SessionState.newHadoopConf).
_HADOOP_KEYS = (
    "fs.",
    "dfs.",
    "hadoop.",
    "hive.",
    "io.",
    "ipc.",
    "mapred.",
    "mapreduce.",
    "yarn.",
    "parquet.",
    "orc.",
    "javax.jdo.",
    "datanucleus.",
    "google.cloud.auth.",
)

# Hadoop's own deprecated names that grant access or choose where data goes (Configuration.DeprecationDelta).
_HADOOP_ALIASES = {
    "fs.default.name": "fs.defaultFS",
    "fs.s3a.server-side-encryption-algorithm": "fs.s3a.encryption.algorithm",
    "fs.s3a.server-side-encryption.key": "fs.s3a.encryption.key",
    "io.bytes.per.checksum": "dfs.bytes-per-checksum",
    "dfs.umask": "fs.permissions.umask-mode",
    "hadoop.configured.node.mapping": "net.topology.configured.node.mapping",
}

# Spark's own shorthands for Hadoop keys (SparkHadoopUtil.appendSparkHadoopConfigs).
_SPARK_TO_HADOOP = {"spark.buffer.size": HADOOP + "io.file.buffer.size"}

# What HiveServer2 and spark-sql put before a name (JDBC URL confs, --hiveconf), and the property in which a view
# keeps the conf under which its text is read.
_HIVE_FORMS = ("set:", "hiveconf:", "metaconf:")
_VIEW_FORM = "view.sqlconfig."


def fold(name: str) -> str:
    """The form in which names are compared: without case."""
    return name.lower()


def canonical(name: str, scope: str = "application") -> str:
    """The name under which policies see a property.

    Args:
        name: as the job spells it.
        scope: where it is set; in scope ``hadoop`` every name is a Hadoop key, in scope ``connector`` names
            stay as they are.
    """
    if scope == "connector":
        return name
    found = name.strip()
    lower = found.lower()
    while lower.startswith((*_HIVE_FORMS, _VIEW_FORM)):
        view = lower.startswith(_VIEW_FORM)
        found = (found[len(_VIEW_FORM) :] if view else found.partition(":")[2]).strip()
        lower = found.lower()
    known = _table().get(lower)
    if known is not None:
        return known
    return _unlisted(found, lower, scope)


def _unlisted(found: str, lower: str, scope: str) -> str:
    """The canonical name of what no table lists."""
    if lower.startswith(HADOOP):
        return _hadoop(found[len(HADOOP) :])
    if lower.startswith(_HIVE):
        return _hadoop("hive." + found[len(_HIVE) :])
    if not lower.startswith("spark.") and (scope == "hadoop" or lower.startswith(_HADOOP_KEYS)):
        return _hadoop(found)
    return found


def generalised(folded: str) -> list[str]:
    """The keys of which ``folded`` is the form for one bucket or account, the nearest first.

    ``fs.s3a.bucket.NAME.endpoint`` overrides ``fs.s3a.endpoint`` for one bucket, ``fs.azure.KEY.ACCOUNT``
    overrides ``fs.azure.KEY``: what holds for the general key holds for them, unless they are named themselves.
    """
    if folded.startswith(_S3A_BUCKET):
        parts = folded[len(_S3A_BUCKET) :].split(".")
        return [f"{HADOOP}fs.s3a.{'.'.join(parts[n:])}" for n in range(1, min(len(parts), _MOST_PARTS))]
    if folded.startswith(_ABFS):
        parts = folded.split(".")
        return [".".join(parts[:n]) for n in range(min(len(parts), _MOST_PARTS) - 1, 4, -1)]
    return []


def _hadoop(name: str) -> str:
    return HADOOP + _HADOOP_ALIASES.get(name.lower(), name)


@functools.cache
def _data() -> Mapping[str, dict[str, Any]]:
    text = resources.files("sparkconfig.policy.keys").joinpath("spark_keys.json").read_text("utf-8")
    data: dict[str, dict[str, Any]] = json.loads(text)
    return data


@functools.cache
def aliases() -> Mapping[str, str]:
    """Deprecated and alternative key to the key that Spark's documentation uses."""
    return {alias: str(target) for alias, target in _data()["aliases"].items()} | _SPARK_TO_HADOOP


@functools.cache
def default_units() -> Mapping[str, str]:
    """Key, without case, to the unit of a plain number in it (``b kib mib ms s min``)."""
    units: dict[str, str] = {}
    for section in ("units", "alias_units"):
        for unit, names in _data()[section].items():
            units.update((fold(name), unit) for name in names)
    return units


@functools.cache
def _table() -> Mapping[str, str]:
    """Every known spelling, without case, to its canonical name."""
    table = {fold(name): name for names in _data()["units"].values() for name in names}
    table.update((fold(target), target) for target in aliases().values())
    table.update((fold(alias), target) for alias, target in aliases().items())
    return table


def logs_in(scope: str, known: str) -> bool:
    """Whether a session's conf could have a file system log in with a value, perhaps at an endpoint of its own."""
    return scope == "session" and is_of_hadoop(known.removeprefix("spark.hadoop."))
