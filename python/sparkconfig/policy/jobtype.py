"""What kind of job it is, from facts about the application; the operator's word wins."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import PurePath

from sparkconfig._base.late import late
from sparkconfig._base.record import Record

__all__ = ["SHARED", "Launch", "detect"]

SHARED = ("connect", "sql")
"""Job types of servers that several users share."""

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
# PySparkShell is the name that bin/pyspark sets; every `python job.py` has pyspark-shell as its resource.
_SHELL_WORDS = frozenset(
    {"spark-shell", "sparkr-shell", "pysparkshell", "pyspark/shell.py", "ipykernel_launcher"}
)


def detect(confs: Mapping[str, str], command: str = "", main_class: str = "") -> str:
    """Tell the job type of an application.

    Args:
        confs: its Spark confs.
        command: the driver JVM's command (``sun.java.command``), or the command of the Python that started it.
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


# What was started: main class or script, read from the commands of the driver's JVM and of its parent.
# Mains that start another program: that program is the application.
_LAUNCHERS = late(
    r"org\.apache\.spark\.(deploy\.SparkSubmit|deploy\.yarn\.(ApplicationMaster|ExecutorLauncher)"
    r"|deploy\.worker\.DriverWrapper)"
)
_PYTHON = late(r"python[0-9.]*")
# Options of spark-submit that stand alone; all others have a value.
_FLAGS = frozenset({"--verbose", "-v", "--supervise", "--help", "-h", "--version", "--usage-error"})
# What replaces a resource when there is none.
_NO_RESOURCE = frozenset(
    {"pyspark-shell", "pyspark-shell-main", "spark-shell", "sparkr-shell", "spark-internal"}
)
_RESOURCE = late(r".*\.(py|jar|zip|egg|r)", re.IGNORECASE | re.DOTALL)
_PYTHON_VALUE_OPTIONS = frozenset({"-W", "-X"})


class Launch(Record):
    """How the driver was started.

    Attributes:
        command: the driver JVM's main and arguments (``sun.java.command``).
        parent: the words of the command of the process that started the JVM, if that is a Python.
    """

    command: str = ""
    parent: Sequence[str] = ()

    @cached_property
    def _words(self) -> list[str]:
        """The command without the job's own arguments, which must not make it another type of job."""
        words = self.command.split()
        if not words or _LAUNCHERS.fullmatch(words[0]) is None:
            return words[:1]
        place = 1
        while place < len(words):
            word = words[place]
            if word.startswith("-"):
                place += 1 if word in _FLAGS else 2
            elif word in _NO_RESOURCE or _RESOURCE.fullmatch(word):
                break
            else:  # a piece of a name with spaces: the JVM does not tell words from their pieces
                place += 1
        return words[: place + 1]

    @property
    def main_class(self) -> str:
        """The class that runs, looking through spark-submit; ``""`` if there is none."""
        if len(self._words) == 1 and _LAUNCHERS.fullmatch(self._words[0]) is None:
            return self._words[0]
        found = [place for place, word in enumerate(self._words[:-1]) if word == "--class"]
        return self._words[found[0] + 1] if found else ""

    @property
    def application(self) -> str:
        """The main class, else the script (its path as it was given), else ``""``."""
        resource = self._words[-1] if len(self._words) > 1 else ""
        return self.main_class or (resource if _RESOURCE.fullmatch(resource) else "") or self.script

    @property
    def script(self) -> str:
        """The script or module that the parent Python runs."""
        if not self._from_python:
            return ""
        words = iter(self.parent[1:])
        for word in words:
            if word == "-m":
                return next(words, "")
            if word == "-c":
                return ""
            if word in _PYTHON_VALUE_OPTIONS:
                next(words, "")
            elif not word.startswith("-"):
                return word
        return ""

    def detect(self, confs: Mapping[str, str]) -> str:
        """Tell the job type; the operator's word, which comes later, wins."""
        somebody_types = self._from_python and len(self.parent) == 1
        words = [*self._words, "pysparkshell" if somebody_types else self.script]
        return detect(confs, " ".join(words), self.main_class)

    @property
    def _from_python(self) -> bool:
        return bool(self.parent) and _PYTHON.fullmatch(PurePath(self.parent[0]).name) is not None
