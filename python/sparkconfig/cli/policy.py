"""``sparkconfig policy test``: whether a policy decides as its author expects."""

from __future__ import annotations

import argparse
from pathlib import Path

from sparkconfig.checks.exit_codes import ExitCode, check_exists
from sparkconfig.cli.output import Output

__all__ = ["register", "run"]

HELP = "test a policy against a file of cases"
PAGE = "policies.md"

_EPILOG = """\
examples:
  sparkconfig policy test cases.json
  sparkconfig policy test cases.json --policy new-policy.json

a file of cases:
  {"policy": "team-policy.json",
   "cases": [
     {"jobType": "sql", "statement": "SELECT 1", "expect": "allow"},
     {"jobType": "sql", "statement": "ADD JAR 'x.jar'", "expect": "refuse", "message": "add-jar"},
     {"jobType": "connect", "scope": "session", "set": {"spark.jars": "x.jar"}, "expect": "refuse"}]}
"""


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "policy",
        description="Ask a policy the questions of a file, and compare the decisions with those that it expects.",
        epilog=_EPILOG,
    )
    parser.add_argument("action", choices=("test",), help="what to do")
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="cases, in JSON or TOML")
    parser.add_argument(
        "--policy", metavar="FILE", help="a document for Rules, instead of the one the cases name"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, out: Output) -> int:
    """Run all cases, and list those that differ."""
    from sparkconfig.checks.policy_cases import run_cases

    if options.policy is not None:
        check_exists(Path(options.policy))
    results = []
    for path in options.files:
        check_exists(path)
        results += run_cases(path, options.policy)
    failed = [each for each in results if each.problem]
    lines = [f"{each.name}: {each.problem}" for each in failed]
    lines.append(f"{len(results)} cases, {len(failed)} differ from what they expect")
    found = {
        "ok": not failed,
        "cases": len(results),
        "failed": [{"case": each.name, "problem": each.problem} for each in failed],
    }
    out.result(found, lines)
    return int(ExitCode.REFUSED if failed else ExitCode.OK)
