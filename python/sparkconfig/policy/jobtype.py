"""What kind of job it is, from facts about the application; the operator's word wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.patterns import Pattern
from sparkconfig.policy.request import JOB_TYPES
from sparkconfig.references import shorten

__all__ = ["JobTypes", "detect", "parse_map"]

_SQL = (
    "org.apache.spark.sql.hive.thriftserver.",
    "org.apache.kyuubi.",
)
_CONNECT = ("org.apache.spark.sql.connect.",)
_SHELL_CLASSES = (
    "org.apache.spark.repl.",
    "org.apache.livy.",
    "org.apache.zeppelin.",
    "org.apache.toree.",
)
# PySparkShell is the name that bin/pyspark gives; every `python job.py` has pyspark-shell as its resource.
_SHELL_WORDS = frozenset(
    {"spark-shell", "sparkr-shell", "pysparkshell", "pyspark/shell.py", "ipykernel_launcher"}
)


def detect(confs: Mapping[str, str], command: str = "", main_class: str = "") -> str:
    """Tell the job type of an application.

    Args:
        confs: its Spark confs.
        command: the driver JVM's command (``sun.java.command``), or that of the Python that started it.
        main_class: the main class that spark-submit runs.

    Streaming is found at query level: an application that only streams looks like any other when it starts.
    """
    words = f"{main_class} {command}".split()
    plugins = [name.strip() for name in confs.get("spark.plugins", "").split(",")]
    if any(word.startswith(_CONNECT) for word in [*words, *plugins]):
        return "connect"
    if any(word.startswith(_SQL) for word in words):
        return "sql"
    if "spark.repl.class.outputDir" in confs or "spark.repl.class.uri" in confs:
        return "interactive"
    for word in words:
        lower = word.lower()
        if lower in _SHELL_WORDS or word.startswith(_SHELL_CLASSES):
            return "interactive"
        if lower.endswith(("/pyspark/shell.py", "/ipykernel_launcher.py", "/ipykernel/__main__.py")):
            return "interactive"
    return "batch"


def parse_map(text: str) -> tuple[tuple[Pattern, str], ...]:
    """Read ``spark.config.job.type.map``: ``com.acme.stream.*=streaming, *report*.py=batch``.

    Raises:
        ConfigurationError: an entry has no job type, or one that does not exist.
    """
    found: list[tuple[Pattern, str]] = []
    for entry in (part.strip() for part in text.split(",")):
        if not entry:
            continue
        pattern, equals, job_type = (part.strip() for part in entry.rpartition("="))
        if not equals or not pattern or job_type not in JOB_TYPES:
            raise ConfigurationError(
                f"spark.config.job.type.map: '{shorten(entry, 60)}' is not PATTERN=TYPE with a type among"
                f" {', '.join(JOB_TYPES)}"
            )
        found.append((Pattern(pattern), job_type))
    return tuple(found)


class JobTypes:
    """The operator's word on job types.

    Args:
        fixed: ``spark.config.job.type`` of the operator; None: not fixed.
        mapping: ``spark.config.job.type.map``: the first pattern that fits main class or script decides.
    """

    def __init__(self, fixed: str | None = None, mapping: Sequence[tuple[Pattern, str]] = ()) -> None:
        self._fixed = fixed
        self._mapping = tuple(mapping)

    def of(self, application: str, detected: str) -> str:
        """The job type that counts for the application ``application``, detected as ``detected``."""
        if self._fixed is not None:
            return self._fixed
        return next((kind for pattern, kind in self._mapping if pattern.matches(application)), detected)
