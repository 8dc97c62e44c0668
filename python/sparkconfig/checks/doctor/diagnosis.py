"""All examinations, in the order in which an application would meet their subjects."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sparkconfig import databricks
from sparkconfig._spark.jars import SparkInstall, find_spark
from sparkconfig.checks.conf_files import Application, read_applications
from sparkconfig.checks.doctor import class_path, installation, log_levels, safety, start
from sparkconfig.checks.doctor.finding import Finding, Level, error
from sparkconfig.checks.doctor.subject import Subject
from sparkconfig.checks.exit_codes import ExitCode, FileError, code_for
from sparkconfig.errors import ConfigurationError
from sparkconfig.settings import operator_file

__all__ = ["Diagnosis", "diagnose"]

_Examination = Callable[[Subject], Iterator[Finding]]
_REACHABLE = "run the doctor as the user that starts the applications, or let this user read the file"
_EXAMINATIONS: tuple[_Examination, ...] = (
    installation.java,
    installation.packages,
    installation.spark,
    class_path.jar,
    class_path.class_path,
    class_path.plugin,
    installation.side_process,
    safety.operator,
    start.references,
    start.policy,
    safety.rpc,
    safety.shipped_files,
    safety.config_maps,
    safety.sinks,
    log_levels.log_levels,
)


@dataclass(frozen=True)
class Diagnosis:
    """What was found.

    Attributes:
        findings: in the order in which an application would meet them.
        files: the properties files that were read.
    """

    findings: Sequence[Finding]
    files: Sequence[Path] = ()

    @property
    def code(self) -> ExitCode:
        """OK without errors; CONFIGURATION if anything here has to be repaired, else the first error's own code."""
        codes = [each.code for each in self.findings if each.level is Level.ERROR]
        if ExitCode.CONFIGURATION in codes:
            return ExitCode.CONFIGURATION
        return codes[0] if codes else ExitCode.OK


def diagnose(
    files: Sequence[Path] = (),
    *,
    spark_home: Path | None = None,
    operator: Path | None = None,
    environ: Mapping[str, str] | None = None,
    skip: Sequence[str] = (),
) -> Diagnosis:
    """Look at everything and change nothing.

    Args:
        files: properties files of the application; none: the spark-defaults.conf that Spark here would read, or the
            fragments of a Databricks driver.
        spark_home: the Spark; None: ``SPARK_HOME``, else the installed pyspark.
        operator: the operator's file; None: the one that a driver here would find.
        environ: environment variables; None: this process's.
        skip: areas that are left out.
    """
    environ = os.environ if environ is None else environ
    findings: list[Finding] = []
    install = _spark(spark_home, environ, findings)
    files = list(files) or _defaults(environ, install)
    applications = _applications(files, findings)
    operator_path = _operator(operator, environ, findings)
    operator_confs: Mapping[str, str] = {}
    if operator_path is not None:
        try:
            operator_confs = operator_file.load(operator_path, check=False).confs
        except (ConfigurationError, OSError):
            operator_confs = {}  # safety.operator says why
    found = []
    for each in applications:
        subject = Subject(environ, install, files, each.confs, operator_path, operator_confs)
        found.append(_of_one(subject, findings, skip))
    for each, own in zip(applications, found, strict=True):
        for finding in own:
            shared = len(found) == 1 or all(finding in others for others in found)
            named = finding if shared else replace(finding, found=f"{each.name}: {finding.found}")
            if named not in findings:
                findings.append(named)
    return Diagnosis(findings, files)


def _of_one(subject: Subject, earlier: Sequence[Finding], skip: Sequence[str]) -> list[Finding]:
    """What is found about one application."""
    found: list[Finding] = []
    for examine in _EXAMINATIONS:
        for each in _examined(examine, subject):
            if each.area not in skip and not _is_known(each, [*earlier, *found]):
                found.append(each)
    return found


def _examined(examine: _Examination, subject: Subject) -> Iterator[Finding]:
    """What an examination finds. A file out of its reach is a finding too, and ends none of the others."""
    try:
        yield from examine(subject)
    except OSError as problem:
        unreadable = FileError.about(problem)
        if unreadable is None:
            raise
        yield error(examine.__name__.replace("_", " "), str(unreadable), _REACHABLE, unreadable.code)


def _is_known(finding: Finding, earlier: Sequence[Finding]) -> bool:
    """Whether an examination found what an earlier one has reported, perhaps in more words."""
    return finding.level is Level.ERROR and any(
        each.level is Level.ERROR and finding.found in each.found for each in earlier
    )


def _spark(home: Path | None, environ: Mapping[str, str], findings: list[Finding]) -> SparkInstall | None:
    try:
        return find_spark(home, environ)
    except ConfigurationError as problem:
        if home is not None:  # without --spark-home, installation.spark reports it
            findings.append(error("spark", str(problem), "correct --spark-home"))
        return None
    except OSError as problem:
        unreadable = FileError.about(problem)
        if unreadable is None:
            raise
        findings.append(error("spark", str(unreadable), _REACHABLE, unreadable.code))
        return None


def _defaults(environ: Mapping[str, str], install: SparkInstall | None) -> list[Path]:
    if install is not None and install.of_databricks:
        return databricks.fragments_in(install.home.parent / "driver" / "conf")
    folders = [Path(environ["SPARK_CONF_DIR"])] if environ.get("SPARK_CONF_DIR") else []
    folders += [install.home / "conf"] if install is not None else []
    return [path for folder in folders[:1] if _is_there(path := folder / "spark-defaults.conf")]


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # it may be: reading it says what is wrong
        return True


def _applications(files: Sequence[Path], findings: list[Finding]) -> list[Application]:
    try:
        return read_applications(files)
    except ConfigurationError as problem:
        todo = (
            "name a file that is there and can be read"
            if isinstance(problem, FileError)
            else "correct the file"
        )
        findings.append(error("confs", str(problem), todo, code_for(problem)))
        return [Application()]


def _operator(given: Path | None, environ: Mapping[str, str], findings: list[Finding]) -> Path | None:
    if given is not None:
        return given
    try:
        return operator_file.find(environ)
    except ConfigurationError as problem:
        found, _, todo = str(problem).rpartition("; ")
        findings.append(error("operator file", found, todo, ExitCode.NOT_FOUND))
        return None
