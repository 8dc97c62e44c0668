"""``sparkconfig resolve --dry-run``: which references get a value, and from where; names, never values."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sparkconfig.checks.exit_codes import ExitCode, check_exists
from sparkconfig.cli.output import Output

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from sparkconfig.checks.dry_run import Report, Row, Substitution

__all__ = ["register"]

HELP = "check the references in a properties file"

_EPILOG = """\
examples:
  sparkconfig resolve --dry-run conf/spark-defaults.conf
  sparkconfig resolve --dry-run --explain --json job.properties
  sparkconfig resolve --dry-run job.properties --conf 'spark.shop.token=${sealed:shop:token}'
  sparkconfig resolve --dry-run --operator-file sparkconfig.conf      what its connections and defaults refer to

The providers are asked as a driver on this machine would ask them, with this user's permissions. Settings come from
the operator's file if there is one (--operator-file, /etc/spark/sparkconfig.conf, $SPARK_HOME/conf or
$SPARK_CONF_DIR), else from the files given.
"""


def register(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "resolve",
        description="List the references in properties files (spark-defaults.conf, --properties-file), the provider"
        " that answers each, and whether it can. Values are never printed.",
        epilog=_EPILOG,
    )
    parser.add_argument(
        "files",
        type=Path,
        nargs="*",
        metavar="FILE",
        help="Java properties, or SparkApplications in YAML, each of which is judged by itself; later files win",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="needed, and the only mode: values are not printed",
    )
    parser.add_argument("--conf", action="append", default=[], metavar="KEY=VALUE", help="as in spark-submit")
    parser.add_argument("--operator-file", type=Path, metavar="FILE", help="the operator's sparkconfig.conf")
    parser.add_argument(
        "--explain", action="store_true", help="also the provider's class, path, key, ttl and generation"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, out: Output) -> ExitCode:
    """Ask the providers and print what they said about names."""
    from sparkconfig.checks.conf_files import read_applications
    from sparkconfig.checks.dry_run import check_all

    if not options.files and options.operator_file is None:
        options.parser.refuse("name a file with confs, or the operator's with --operator-file")
    if not options.dry_run:
        options.parser.refuse(
            "add --dry-run, the only mode: the providers are asked, names are printed and values never"
        )
    check_exists(options.operator_file)
    applications = read_applications(options.files, options.conf)
    report = check_all(applications, options.operator_file)
    lines = _explained(report) if options.explain else _short(report)
    lines += _listed("problem", report.problems) + _listed("warning", report.warnings)
    out.result(report.as_json(explain=options.explain), lines)
    return ExitCode.UNRESOLVED if report.problems else ExitCode.OK


def _listed(what: str, texts: Sequence[str]) -> list[str]:
    from sparkconfig._base.text import counted

    return ["", f"{counted(len(texts), what)}:", *(f"  - {text}" for text in texts)] if texts else []


def _key(found: Row | Substitution) -> str:
    return f"{found.application}: {found.key}" if found.application else found.key


def _short(report: Report) -> list[str]:
    from sparkconfig.cli.output import table

    rows = [[_key(row), row.reference, row.provider, row.state] for row in report.rows]
    return _tables(report, table(["conf", "reference", "provider", "answer"], rows))


def _tables(report: Report, references: list[str]) -> list[str]:
    """The table of references, and one of substitutions if there are any."""
    from sparkconfig.cli.output import table

    lines = references if report.rows else []
    if report.substitutions:
        rows = [
            [_key(s), "$[...]" if s.type is None else f"$[{s.type}={s.identifier}]", s.state]
            for s in report.substitutions
        ]
        lines = [*lines, *([""] if lines else []), *table(["conf", "substitution", "answer"], rows)]
    return lines or ["no references found"]


def _explained(report: Report) -> list[str]:
    from sparkconfig.cli.output import table

    rows = [
        [_key(row), row.provider, row.provider_class or "-", row.path or "-", row.name or "-",
         "-" if row.ttl is None else f"{row.ttl} ms",
         "-" if row.generation is None else str(row.generation), row.state]
        for row in report.rows
    ]  # fmt: skip
    head = ["conf", "provider", "class", "path", "key", "ttl", "generation", "answer"]
    return _tables(report, table(head, rows))
