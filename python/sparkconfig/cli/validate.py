"""``sparkconfig validate``: what a policy would refuse, before a job runs (KIP-108's validate-only)."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from sparkconfig.checks.exit_codes import ExitCode, FileError, check_exists
from sparkconfig.cli.output import Output, table
from sparkconfig.errors import ConfigurationError
from sparkconfig.settings.job_types import JOB_TYPES
from sparkconfig.settings.scopes import Scope

if TYPE_CHECKING:
    from sparkconfig.checks.validate import Report

__all__ = ["register"]

HELP = "check confs and SQL against a policy, before the job runs"
PAGE = "policies.md"

_EPILOG = """\
examples:
  sparkconfig validate --properties-file job.conf --job-type batch
  sparkconfig validate --policy team-policy.json --conf spark.executor.memory=64g --job-type sql --explain
  sparkconfig validate --policy team-policy.json --job-type sql --sql create_tables.sql --json
  sparkconfig validate --job-type connect --user ana --statement 'SELECT * FROM text.`/etc/passwd`' --explain

exit codes: 0 everything is allowed, 3 a policy or setting is wrong, 8 something is refused. It is the code that
decides in a running application, too; values are never printed.
"""


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "validate",
        description="Check what a job sets against the operator's policy, with nothing started.",
        epilog=_EPILOG,
    )
    parser.add_argument(
        "--properties-file",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="confs, as for spark-submit",
    )
    parser.add_argument(
        "--conf", action="append", default=[], metavar="KEY=VALUE", help="one conf; wins over files"
    )
    parser.add_argument("--job-type", choices=JOB_TYPES, default="batch", help="default: batch")
    parser.add_argument(
        "--streaming", action="store_true", help="check as a streaming query inside a job of that type"
    )
    parser.add_argument("--application", default="", metavar="NAME", help="main class or script")
    parser.add_argument("--scope", choices=get_args(Scope), default="application")
    parser.add_argument(
        "--format", default="", metavar="NAME", help="the data source whose options the confs are"
    )
    parser.add_argument("--user", default="", metavar="NAME", help="the authenticated user who would ask")
    parser.add_argument(
        "--policy",
        metavar="FILE_OR_NAME",
        help="a JSON document for Rules, or the name or class of a policy; instead of the operator's",
    )
    parser.add_argument(
        "--operator-file", type=Path, metavar="FILE", help="default: the one that a driver here would find"
    )
    parser.add_argument(
        "--sql", type=Path, action="append", default=[], metavar="FILE", help="statements to check"
    )
    parser.add_argument(
        "--statement",
        action="append",
        default=[],
        metavar="SQL",
        help="one statement to check, what it does included",
    )
    parser.add_argument(
        "--resolve",
        action="store_true",
        help="ask the providers, so that values behind references can be evaluated",
    )
    parser.add_argument("--explain", action="store_true", help="show which rule decided each key")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, out: Output) -> int:
    """Check, and report everything at once."""
    from sparkconfig.checks.conf_files import read_confs
    from sparkconfig.checks.validate import Question, check, is_document

    check_exists(options.operator_file)
    if options.policy is not None and is_document(options.policy):
        check_exists(Path(options.policy))
    question = Question(
        confs=read_confs(options.properties_file, options.conf),
        job_type=options.job_type,
        streaming=options.streaming,
        application=options.application,
        scope=options.scope,
        format=options.format,
        user=options.user,
        sql={str(path): _read(path) for path in options.sql},
        statements={f"statement {n}": text for n, text in enumerate(options.statement, 1)},
    )
    report = check(question, policy=options.policy, operator=options.operator_file, resolve=options.resolve)
    out.result(_as_json(report, explain=options.explain), _lines(report, explain=options.explain))
    return int(ExitCode.REFUSED if report.violations else ExitCode.OK)


def _read(path: Path) -> str:
    from sparkconfig.formats import reading

    try:
        return reading.read(path).decode("utf-8-sig")
    except OSError as error:
        raise FileError(path, error) from None
    except UnicodeDecodeError:
        problem = f"{path} is not UTF-8 text"
    raise ConfigurationError(problem)


def _as_json(report: Report, *, explain: bool) -> Mapping[str, object]:
    found: dict[str, object] = {
        "ok": not report.violations,
        "mode": report.mode,
        "job_type": report.job_type,
        "violations": report.violations,
        "sets": sorted(report.defaults),
        "notes": report.notes,
    }
    if explain:
        found["explanation"] = [item._asdict() for item in report.explanation]
    return found


def _lines(report: Report, *, explain: bool) -> list[str]:
    lines: list[str] = []
    if explain and report.explanation:
        rows = [
            (item.subject, item.verdict, item.reason if item.verdict != "denied" else "", item.decided_by)
            for item in report.explanation
        ]
        lines += [*table(("what", "verdict", "why", "decided by"), rows), ""]
    lines += report.notes
    if report.defaults:
        lines.append(f"the policy itself sets: {', '.join(sorted(report.defaults))}")
    if not report.violations:
        return [*lines, f"allowed for a job of type {report.job_type}"]
    count = len(report.violations)
    lines.append(f"{count} {'finding is' if count == 1 else 'findings are'} not allowed:")
    lines += [f"  - {text}" for text in report.violations]
    if report.mode == "warn":
        lines.append("(the operator's mode is warn: a running job gets warnings)")
    return lines
