"""Whether the JVMs would find the jar, and whether it is the right one."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from sparkconfig._base.text import shorten
from sparkconfig._base.version import __version__
from sparkconfig._spark import jars
from sparkconfig.checks.doctor.finding import Finding, error, note, ok, warning
from sparkconfig.checks.doctor.subject import PLUGIN, Subject
from sparkconfig.errors import ConfigurationError

__all__ = ["class_path", "jar", "plugin"]

_ON_PATH = (
    "spark.jars",
    "spark.yarn.dist.jars",
    "spark.yarn.jars",
    "spark.driver.extraClassPath",
    "spark.executor.extraClassPath",
)
_SEPARATOR = {"spark.jars": ",", "spark.yarn.dist.jars": ",", "spark.yarn.jars": ","}
_HERE = ("", "file", "local")
_COPY = "check that it is a copy of the jar that 'sparkconfig jar' prints; copy it again after each update"
_REPLACED = (
    "spark.jars alone names the jar: the --jars of a job replace it, and the plugin's class is not found then"
)
_INSTALL = "run 'sparkconfig install --spark-home {home}' on every node"


def jar(subject: Subject) -> Iterator[Finding]:
    """Check the jar inside this package."""
    if subject.spark is None:
        return
    todo = "install the package again, or run 'make jar' in a checkout"
    try:
        found = jars.find_jar(scala=subject.spark.scala)
    except ConfigurationError as missing:
        yield error("jar", str(missing), todo)
        return
    problem = _problem(found, subject.spark.scala)
    yield error("jar", problem, todo) if problem else ok("jar", str(found))


def plugin(subject: Subject) -> Iterator[Finding]:
    """Say whether the confs turn it on."""
    if subject.plugin_named:
        yield ok("plugin", f"{PLUGIN} is in spark.plugins")
    elif subject.files or subject.operator_confs:
        yield warning(
            "plugin",
            f"spark.plugins does not name {PLUGIN}: applications start without sparkconfig",
            f"add spark.plugins={PLUGIN}, to the plugins already there ('sparkconfig init' prints all lines)",
        )
    else:
        yield note(
            "plugin", "no spark-defaults.conf was found", "name the application's confs with --file FILE"
        )


def class_path(subject: Subject) -> Iterator[Finding]:
    """Check the jars named by confs, and those in Spark's own ``jars``."""
    if subject.spark is None:
        return
    origins = {origin for origin, _ in (*_elsewhere(subject), *_named(subject))}
    for origin, url in _elsewhere(subject):
        name, wanted = url.rpartition("/")[2], f"sparkconfig_{subject.spark.scala}-{__version__}.jar"
        if name == wanted:
            yield note("class path", f"{origin}: {shorten(url)} cannot be checked from here", _COPY)
        else:
            yield warning("class path", f"{origin}: {shorten(url)} is not named {wanted}", _COPY)
    for origin, path in _named(subject):
        problem = f"{path} does not exist" if not path.is_file() else _problem(path, subject.spark.scala)
        if problem:
            yield error("class path", f"{origin}: {problem}", 'use the path that "sparkconfig jar" prints')
        else:
            yield ok("class path", f"{origin}: {path}")
    installed = sorted(subject.spark.jars.glob("sparkconfig_2.1*.jar"))
    again = _INSTALL.format(home=subject.spark.home)
    for path in installed:
        problem = _problem(path, subject.spark.scala)
        if problem:
            yield error("class path", problem, again)
        else:
            yield ok("class path", f"{path}: every driver and executor of this Spark finds it")
    if len(installed) > 1:
        yield error("class path", f"{len(installed)} sparkconfig jars are in {subject.spark.jars}", again)
    if not installed:
        yield from _reach(subject, origins, again)


def _reach(subject: Subject, origins: set[str], install: str) -> Iterator[Finding]:
    """Whether a job may lose the jar that confs name."""
    if origins == {"spark.jars"}:
        yield warning(
            "class path", _REPLACED, f"{install}, or write the lines that 'sparkconfig init' prints"
        )
    elif not origins:
        yield (warning if subject.plugin_named else note)(
            "class path",
            "no conf names the jar, and it is not in Spark's own jars",
            f'spark-submit --jars "$(sparkconfig jar)", or {install.removeprefix("run ")}',
        )


def _named(subject: Subject) -> Iterator[tuple[str, Path]]:
    confs = subject.effective
    for key in _ON_PATH:
        for part in confs.get(key, "").split(_SEPARATOR.get(key, ":")):
            url = urlsplit(part.strip())
            if "sparkconfig_2.1" in url.path and url.scheme in _HERE:
                yield key, Path(url.path)


def _elsewhere(subject: Subject) -> Iterator[tuple[str, str]]:
    """The jars named in hdfs:, s3a: and the like, which only Spark itself reads."""
    confs = subject.effective
    for key in _ON_PATH:
        # A class path separates with colons, which are in addresses too, and holds files of the machine alone.
        for part in confs.get(key, "").split(",") if key in _SEPARATOR else ():
            if "sparkconfig_2.1" in part and urlsplit(part.strip()).scheme not in _HERE:
                yield key, part.strip().partition("#")[0].partition("?")[0]


def _problem(path: Path, scala: str) -> str:
    """Return what is wrong with a jar of ours, or an empty text."""
    try:
        with zipfile.ZipFile(path) as archive:
            text = archive.read("META-INF/sparkconfig.properties").decode()
    except (OSError, KeyError, zipfile.BadZipFile):
        return f"{path} is not a sparkconfig jar"
    about = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    if about.get("version") != __version__:
        return f"{path} is version {about.get('version')}, and this package is {__version__}"
    if f"scala-{scala}" not in about.get("flavour", ""):
        return f"{path} is for {about.get('flavour')}, and this Spark has Scala {scala}"
    return ""
