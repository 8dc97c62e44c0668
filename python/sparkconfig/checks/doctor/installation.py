"""Java, Python, Spark and packages: what has to be there before anything is configured."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from sparkconfig._base.version import __version__
from sparkconfig._spark.jars import find_spark
from sparkconfig.checks.doctor.finding import Finding, error, note, ok, warning
from sparkconfig.checks.doctor.subject import Subject
from sparkconfig.errors import ConfigurationError

__all__ = ["java", "packages", "side_process", "spark"]

_SECONDS = 30.0
_JAVA_VERSION = re.compile(r'version "(?P<version>(?:1\.)?(?P<major>\d+)[^"]*)"')
_PROBE = "import sparkconfig, sys; print(sparkconfig.__version__, '%d.%d' % sys.version_info[:2])"


def java(subject: Subject) -> Iterator[Finding]:
    """Find the Java that Spark's scripts would start: ``JAVA_HOME``, else the one on the PATH."""
    home = subject.environ.get("JAVA_HOME", "")
    program = (
        str(Path(home) / "bin" / "java") if home else shutil.which("java", path=subject.environ.get("PATH"))
    )
    where = f"JAVA_HOME={home}" if home else "PATH"
    todo = "install Java 17 or newer, for example openjdk-17-jre-headless, and set JAVA_HOME to it"
    if program is None:
        yield error("java", "there is no java on the PATH, and JAVA_HOME is not set", todo)
        return
    try:
        done = subprocess.run(
            [program, "-version"], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        yield error("java", f"{program} ({where}) does not run: {type(problem).__name__}", todo)
        return
    found = _JAVA_VERSION.search(done.stderr + done.stdout)
    if found is None:
        yield error("java", f"{program} ({where}) does not print its version", todo)
    elif int(found["major"]) < 17:
        yield error("java", f"Java {found['version']} ({program}, from {where}) is too old", todo)
    else:
        yield ok("java", f"Java {found['version']} ({program}, from {where})")


def spark(subject: Subject) -> Iterator[Finding]:
    """Say which Spark it is, and whether the installed pyspark is of the same version."""
    if subject.spark is None:
        try:
            find_spark(None, subject.environ)
        except ConfigurationError as problem:
            yield error("spark", str(problem), "set SPARK_HOME, add --spark-home, or pip install pyspark")
        return
    install = subject.spark
    yield ok("spark", f"Spark {install.version} with Scala {install.scala} in {install.home}")
    pyspark = _version("pyspark")
    if pyspark is not None and pyspark.partition("+")[0] != install.version:
        yield warning(
            "spark",
            f"pyspark {pyspark} is installed for this Python, and Spark {install.version} is in {install.home}",
            f"pip install pyspark=={install.version}, or unset SPARK_HOME to use pyspark's own Spark",
        )


def packages(_: Subject) -> Iterator[Finding]:
    """Say which versions the package and what it depends on have."""
    python = ".".join(map(str, sys.version_info[:3]))
    yield ok("python", f"Python {python} ({sys.executable})")
    parts = [f"{name} {_version(name) or 'is missing'}" for name in ("py4j", "cryptography")]
    yield ok("package", f"sparkconfig {__version__} with {', '.join(parts)}")


def side_process(subject: Subject) -> Iterator[Finding]:
    """Find the Python in which the side process would run, in the order of ``PythonFinder.scala``."""
    area = "side process"
    named = subject.effective.get("spark.config.agent.python", "").strip()
    candidates = [named] if named else _candidates(subject)
    tried: list[str] = []
    for python in candidates:
        version = _probe(python)
        if version is None:
            tried.append(f"{python} has no sparkconfig")
        elif version[0] != __version__:
            tried.append(f"{python} has sparkconfig {version[0]}")
        else:
            yield ok(area, f"{python} (Python {version[1]})")
            if subject.operator is not None and not named:
                yield error(
                    area,
                    "the operator's file names no Python, and no job may choose the one that holds the secrets",
                    f"add spark.config.agent.python={sys.executable} (or another that jobs cannot write);"
                    " until then no application starts here",
                )
            return
    todo = (
        f"set spark.config.agent.python to a Python with sparkconfig {__version__}, such as {sys.executable}"
    )
    if named or Path(sys.executable).resolve() != Path(sys.executable):
        todo = f"{todo}; or install the wheel there: PYTHON -m pip install sparkconfig-{__version__}-py3-none-any.whl"
    finding = "; ".join(tried)
    if named:
        yield error(area, finding, todo)
    else:
        # The Python of the application comes first and cannot be seen from here.
        yield note(area, f"{finding}: only applications run by {sys.executable} itself will start", todo)


def _candidates(subject: Subject) -> list[str]:
    confs, environ = subject.effective, subject.environ
    venv = environ.get("VIRTUAL_ENV", "")
    found = [
        confs.get("spark.pyspark.driver.python", ""),
        confs.get("spark.pyspark.python", ""),
        environ.get("PYSPARK_DRIVER_PYTHON", ""),
        environ.get("PYSPARK_PYTHON", ""),
        f"{venv}/bin/python" if venv else "",
        "python3",
    ]
    return list(dict.fromkeys(each.strip() for each in found if each.strip()))


def _probe(python: str) -> tuple[str, str] | None:
    """Return the versions of sparkconfig and Python behind ``python``, or None if it has no sparkconfig."""
    try:
        done = subprocess.run(
            [python, "-I", "-c", _PROBE], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    words = done.stdout.split()
    return (words[0], words[1]) if done.returncode == 0 and len(words) == 2 else None


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
