"""Which jar fits which Spark: Scala 2.12 for Spark 3.5, Scala 2.13 for Spark 4, and small ones for connectors."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sparkconfig._base.version import __version__
from sparkconfig.errors import ConfigurationError

__all__ = ["CONNECTORS", "FOLDER", "SparkInstall", "find_jar", "find_spark"]

FOLDER = Path(__file__).parents[1] / "jars"
"""Where the package keeps its jars."""

CONNECTORS = {
    "aws": "credentials for S3A and Iceberg, which belong beside the AWS SDK",
    "azure": "tokens and signatures for ABFS, which belong beside hadoop-azure",
    "cassandra": "logins for the Cassandra connector, which belong beside spark-cassandra-connector",
    "gcs": "tokens for Cloud Storage, which belong beside gcs-connector",
    "iceberg": "tokens for REST catalogs, which belong beside iceberg-spark-runtime",
    "kafka": "Kafka's config provider and OAuth tokens, which belong beside kafka-clients",
}
"""The small jars, and what each of them holds."""

_CORE = re.compile(r"spark-core_(?P<scala>\d+\.\d+)-(?P<version>\d+\.\d+\.\d+.*)\.jar")
# Databricks' driver: SPARK_HOME has a file VERSION and no jars; these are beside it, under names of Databricks' own.
_DATABRICKS = Path("/databricks/spark")
_DATABRICKS_CORE = re.compile(r"-*\w+--core--core-.*_(?P<scala>\d\.\d+)_deploy.*\.jar")
_SUPPORTED = {"2.12": "3.5", "2.13": "4.0 to 4.3"}


@dataclass(frozen=True)
class SparkInstall:
    """One Spark on this machine.

    Attributes:
        home: the folder that holds ``jars`` and ``bin`` (``SPARK_HOME``).
        version: Spark's version, such as ``4.0.1``.
        scala: its Scala binary version, such as ``2.13``.
        core: the jar that holds Spark's core.
    """

    home: Path
    version: str
    scala: str
    core: Path

    @property
    def jars(self) -> Path:
        """The folder that is on the class path of every driver and executor."""
        return self.core.parent

    @property
    def of_databricks(self) -> bool:
        """Whether it is laid out as on a Databricks node, where confs are in fragments."""
        return _DATABRICKS_CORE.fullmatch(self.core.name) is not None


def find_spark(home: Path | None = None, environ: Mapping[str, str] | None = None) -> SparkInstall:
    """Return the Spark at ``home``, or at ``SPARK_HOME``, or Databricks', or the one of the installed pyspark.

    pyspark is looked up and not imported, which would take 0.2 s.

    Raises:
        ConfigurationError: there is none, or it is one that has no jar here.
        OSError: this user may not look there.
    """
    home = home or _default_home(os.environ if environ is None else environ)
    found = _apache(home) or _databricks(home)
    if found is None:
        raise ConfigurationError(
            f"{home} holds no Spark: there is no jars/spark-core_*.jar. Name the folder that holds 'jars' and 'bin'"
        )
    version, scala = found.version, found.scala
    if not version.startswith("3.5." if scala == "2.12" else "4."):
        raise ConfigurationError(
            f"Spark {version} with Scala {scala} in {home} is not supported; supported are Spark 3.5 with Scala 2.12,"
            f" and Spark {_SUPPORTED['2.13']}"
        )
    return found


def _apache(home: Path) -> SparkInstall | None:
    for path in _files_in(home / "jars"):
        if match := _CORE.fullmatch(path.name):
            return SparkInstall(home, match["version"], match["scala"], path)
    return None


def _files_in(folder: Path) -> list[Path]:
    """Return what is in a folder; nothing, if there is none. Unlike ``glob``, it tells "closed" from "empty"."""
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []


def _databricks(home: Path) -> SparkInstall | None:
    try:
        version = (home / "VERSION").read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return None
    for path in _files_in(home.parent / "jars"):
        if match := _DATABRICKS_CORE.fullmatch(path.name):
            return SparkInstall(home, version, match["scala"], path)
    return None


def find_jar(home: Path | None = None, *, scala: str | None = None, connector: str | None = None) -> Path:
    """Return the jar for the Spark that :func:`find_spark` finds, or for a Scala version.

    Args:
        home: a SPARK_HOME; None: the environment's.
        scala: ``2.12`` or ``2.13``, for a Spark that cannot be checked from here.
        connector: one of `CONNECTORS`, for its jar instead of the main one.

    Raises:
        ConfigurationError: no such Spark, or this package came without the jar.
    """
    wanted = scala or find_spark(home).scala
    if wanted not in _SUPPORTED:
        raise ConfigurationError(f"there is no jar for Scala {wanted}; there are {' and '.join(_SUPPORTED)}")
    jar = FOLDER / f"sparkconfig{f'-{connector}' if connector else ''}_{wanted}-{__version__}.jar"
    if jar.is_file():
        return jar
    # The package may be read from the very jar that is asked for; --packages puts its group before its name.
    if FOLDER.parents[1].name.endswith(jar.name) and FOLDER.parents[1].is_file():
        return FOLDER.parents[1]
    others = sorted(path.name for path in FOLDER.glob("sparkconfig*.jar"))
    raise ConfigurationError(
        f"this package has no {jar.name} (for Spark {_SUPPORTED[wanted]}); it has {', '.join(others) or 'no jar'}."
        " In a checkout, 'make jar' builds the one for the environment's Spark and 'make dist' both;"
        " otherwise install the package again"
    )


def _default_home(environ: Mapping[str, str]) -> Path:
    if environ.get("SPARK_HOME"):
        return Path(environ["SPARK_HOME"])
    if (_DATABRICKS / "VERSION").is_file():  # its pyspark has no jars, and %sh may come without SPARK_HOME
        return _DATABRICKS
    found = importlib.util.find_spec("pyspark")
    if found is None or found.origin is None:
        raise ConfigurationError(
            "no Spark found: SPARK_HOME is not set and pyspark is not installed here; use --spark-home DIR"
        )
    home = Path(found.origin).parent
    if not (home / "jars").is_dir():
        raise ConfigurationError(
            f"the pyspark in {home} is a client without Spark's jars; sparkconfig belongs to the server,"
            " so use --spark-home DIR there"
        )
    return home
