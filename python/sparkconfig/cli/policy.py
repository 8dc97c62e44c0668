"""``sparkconfig policy``: whether a policy decides as its author expects, and in what two policies differ."""

from __future__ import annotations

import argparse
from pathlib import Path

from sparkconfig.checks.exit_codes import ExitCode, check_exists
from sparkconfig.cli.output import Output
from sparkconfig.errors import ConfigurationError

__all__ = ["register", "run"]

HELP = "test a policy against a file of cases, or compare two"
PAGE = "policies.md"

_EPILOG = """\
examples:
  sparkconfig policy test cases.json
  sparkconfig policy test cases.json --policy new-policy.json
  sparkconfig policy diff shared-server team.json                what the second decides by other rules

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
        description="test: ask a policy the questions of a file, and compare the decisions with those that it"
        " expects. diff: print the rules in which two policies differ, with all that they extend.",
        epilog=_EPILOG,
    )
    parser.add_argument("action", choices=("test", "diff"), help="what to do")
    told = "cases, in JSON; or two policies, files or names of shipped ones"
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help=told)
    parser.add_argument(
        "--policy", metavar="FILE", help="a document for Rules, instead of the one the cases name"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, out: Output) -> int:
    """Run all cases, and list those that differ; or compare two policies."""
    from sparkconfig.checks.policy_cases import run_cases

    if options.action == "diff":
        return _diff(options, out)
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


def _diff(options: argparse.Namespace, out: Output) -> int:
    from sparkconfig.checks.policy_diff import differences

    if len(options.files) != 2 or options.policy is not None:
        raise ConfigurationError("policy diff takes two policies: sparkconfig policy diff OLD NEW")
    found = differences(*map(str, options.files))
    lines = [f"{'+' if each.added else '-'} {each.section}: {each.text}" for each in found]
    lines.append(f"{len(lines)} rules differ")
    out.result({"ok": not found, "added": [f"{each.section}: {each.text}" for each in found if each.added],
                "removed": [f"{each.section}: {each.text}" for each in found if not each.added]}, lines)  # fmt: skip
    return int(ExitCode.REFUSED if found else ExitCode.OK)
