"""``sparkconfig doctor``: everything that could keep an application here from starting safely."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sparkconfig.checks.exit_codes import ExitCode
from sparkconfig.cli.output import Output

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from sparkconfig.checks.doctor.diagnosis import Diagnosis

__all__ = ["register"]

HELP = "check everything on this machine, and say what to do"

_EPILOG = """\
examples:
  sparkconfig doctor
  sparkconfig doctor --file conf/spark-defaults.conf --spark-home /opt/spark
  sparkconfig doctor --quiet --json       only what is wrong, for machines

It looks and changes nothing: Java, Python, Spark, the versions of package and jar, the class path, the operator's
file and its permissions, the settings, each provider with what the confs refer to, the protection of Spark's RPC, and
what redaction reaches. Run it as the user, and on the host, that runs the driver. Values are never printed.

exit codes: 0 nothing is wrong (warnings are possible), 3 something has to be repaired here, 4 a reference leads
nowhere, 5 something is not allowed, 6 a store cannot be reached, 8 an application sets what only the operator may
"""
_SIGNS = {"ok": "ok     ", "note": "note   ", "warning": "warning", "error": "ERROR  "}


def register(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "doctor",
        description="Check everything on this machine that an application with sparkconfig needs.",
        epilog=_EPILOG,
    )
    parser.add_argument(
        "--file",
        "--properties-file",
        dest="file",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="the application's confs, as for spark-submit; default: the spark-defaults.conf of this"
        " Spark; may be given more than once",
    )
    parser.add_argument(
        "--spark-home", type=Path, metavar="DIR", help="default: SPARK_HOME, else the installed pyspark"
    )
    parser.add_argument(
        "--operator-file", type=Path, metavar="FILE", help="default: the one that a driver here would find"
    )
    parser.add_argument(
        "--skip",
        metavar="AREA",
        action="append",
        default=[],
        help="leave out an area of the report, such as java",
    )
    parser.add_argument("--quiet", action="store_true", help="only warnings and errors")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, out: Output) -> ExitCode:
    """Look, and report everything at once."""
    from sparkconfig.checks.doctor.diagnosis import diagnose

    diagnosis = diagnose(
        options.file, spark_home=options.spark_home, operator=options.operator_file, skip=options.skip
    )
    shown = [
        each for each in diagnosis.findings if not options.quiet or each.level.value in ("warning", "error")
    ]
    data = {
        "ok": diagnosis.code is ExitCode.OK,
        "files": [str(path) for path in diagnosis.files],
        "findings": [each.as_json() for each in shown],
    }
    lines = [f"confs: {', '.join(map(str, diagnosis.files)) or 'none'}"] if not options.quiet else []
    for each in shown:
        lines.append(f"{_SIGNS[each.level.value]}  {each.area}: {each.found}")
        if each.todo:
            lines.append(f"         -> {each.todo}")
    out.result(data, [*lines, _summary(diagnosis)])
    return diagnosis.code


def _summary(diagnosis: Diagnosis) -> str:
    counts = {
        level: sum(each.level.value == level for each in diagnosis.findings) for level in ("error", "warning")
    }
    words = [f"{count} {level}{'' if count == 1 else 's'}" for level, count in counts.items()]
    return f"{', '.join(words)}: {_outcome(diagnosis)}"


def _outcome(diagnosis: Diagnosis) -> str:
    """Whether a job would start, as the last word."""
    found = {(each.area, each.level.value) for each in diagnosis.findings}
    if any(level == "error" for _, level in found):
        return "a job would not start, or not safely; repair the errors"
    if not diagnosis.files:
        return "name a job's confs with --file, to know whether it would start"
    if ("plugin", "warning") in found:
        return "a job with these confs would start without sparkconfig"
    if ("class path", "warning") in found:
        return "a job with these confs would start if it finds the jar, see 'class path'"
    return "a job with these confs would start"
