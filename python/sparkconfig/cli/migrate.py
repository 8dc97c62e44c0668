"""``sparkconfig migrate``: from secrets in clear to references; values are sealed and never printed."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from sparkconfig.checks.exit_codes import ExitCode, FileError
from sparkconfig.cli.keys import add_key_options, key_and_param, key_words
from sparkconfig.cli.output import Output

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from sparkconfig.migrate.apply import Target
    from sparkconfig.migrate.plan import FilePlan, Names

__all__ = ["register"]

HELP = "find secrets in clear, and put references in their places"
PAGE = "migrate.md"

_MOST_UNKNOWN = 20

_EPILOG = """\
examples:
  sparkconfig migrate conf/spark-defaults.conf jobs/                    the plan: nothing is changed
  sparkconfig migrate conf/spark-defaults.conf jobs/ --apply --sealed-file shop.sealed --key-file shop.key --new-key
  sparkconfig migrate --check --sarif literals.sarif .                  a gate: fails if a secret is in clear
  sparkconfig migrate --undo --sealed-file shop.sealed --key-file shop.key

It rewrites confs in properties and in SparkApplication documents; elsewhere it names each place and what to write.

exit codes: 0 nothing stays in clear but what the plan would move, 1 something stays, 3 a file cannot be read;
with --check: 0 no secret is in clear, 1 one is, 3 a file cannot be read
"""


def register(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "migrate",
        description="Find secrets in clear by their keys and by what they look like, and print a plan without values."
        " With --apply, seal them and put references in their places.",
        epilog=_EPILOG,
    )
    parser.add_argument("paths", type=Path, nargs="*", metavar="PATH", help="files and folders")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--apply", action="store_true", help="change the files, and keep a sealed backup")
    mode.add_argument(
        "--check", action="store_true", help="a gate: name each secret in clear, and fail if there is one"
    )
    mode.add_argument("--undo", action="store_true", help="restore the files from before the last --apply")
    parser.add_argument(
        "--sealed-file", type=Path, metavar="FILE", help="where values go; FILE.undo is the sealed backup"
    )
    add_key_options(parser)
    parser.add_argument("--new-key", action="store_true", help="create the key file, too")
    parser.add_argument(
        "--provider", default="sealed", metavar="NAME", help="the provider's name in references (sealed)"
    )
    parser.add_argument("--section", default="app", metavar="NAME", help="section of the sealed values (app)")
    parser.add_argument(
        "--kind",
        choices=("properties", "script", "sql", "python", "notebook", "yaml", "code", "text"),
        help="what the files are; not needed if their suffixes say it",
    )
    parser.add_argument("--sarif", type=Path, metavar="FILE", help="with --check: write SARIF 2.1.0, too")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, out: Output) -> ExitCode:
    """Print the plan, carry it out, or undo the last one."""
    if options.sarif and not options.check:
        options.parser.refuse("--sarif is for --check")
    if options.undo:
        return _undo(options, out)
    if not options.paths:
        options.parser.refuse("name the files to look at")
    if options.check:
        return _check(options, out)
    return _migrate(options, out, _target(options) if options.apply or options.sealed_file else None)


def _planned(options: argparse.Namespace, names: Names) -> tuple[list[FilePlan], dict[str, str], list[Path]]:
    """The plans of the files, why others were not read, and which are no text."""
    from sparkconfig.errors import SparkConfigError
    from sparkconfig.migrate import plan

    files, unknown = plan.files_in(options.paths)
    plans: list[FilePlan] = []
    unread: dict[str, str] = {}
    for path in files:
        try:
            plans.append(plan.plan_file(path, names, provider=options.provider, kind=options.kind))
        except SparkConfigError as error:
            # One file of a folder does not keep the others from being moved, and none keeps a gate from its findings.
            if path in options.paths and not options.check:
                raise
            unread[str(path)] = str(error)
    return plans, unread, unknown


def _migrate(options: argparse.Namespace, out: Output, target: Target | None) -> ExitCode:
    from sparkconfig.migrate import plan, settings

    plans, unread, unknown = _planned(options, plan.Names(options.section, target.values() if target else {}))
    moving = [each for each in plans if each.moves]
    todo: dict[str, str] = {}
    if target is not None:
        for each in moving:
            if advice := settings.declare(each, target.confs, options.provider):
                todo[str(each.path)] = advice
    if options.apply and moving and target is not None:
        from sparkconfig.migrate.apply import apply

        apply(moving, target, new_key=options.new_key)
    _print(options, out, plans, target, todo, unread=unread, unknown=unknown)
    if unread:
        return ExitCode.CONFIGURATION
    return ExitCode.UNRESOLVED if any(each.left for each in plans) else ExitCode.OK


def _check(options: argparse.Namespace, out: Output) -> ExitCode:
    from sparkconfig._base.text import counted
    from sparkconfig.migrate import gate, plan

    plans, unread, unknown = _planned(options, plan.Names(options.section, {}))
    found, allowed = gate.findings(plans, options.provider)
    if options.sarif:
        _write(options.sarif, gate.sarif(found, unread))
    lines = [
        f"{each.path}:{each.line}: {each.key or 'text'}: {each.shape}: {each.todo}" for each in found
    ] + [*unread.values()]
    more = f", {allowed} allowed" if allowed else ""
    skipped = f"; {counted(len(unknown), 'file')} not read: no text, over 1 MiB, or a page" if unknown else ""
    lines.append(f"{counted(len(found), 'secret')} in clear{more} in {counted(len(plans), 'file')}{skipped}")
    if found:
        lines.append("where that is right, write 'sparkconfig: allow' into a comment on the line or above it")
    data = {
        "ok": not (found or unread),
        "findings": [
            {"file": str(each.path), "line": each.line, "key": each.key, "because": each.shape, "todo": each.todo}
            for each in found
        ],
        "allowed": allowed,
        "unread": unread,
        "unknown": [str(path) for path in unknown],
    }  # fmt: skip
    out.result(data, lines)
    if unread:
        return ExitCode.CONFIGURATION
    return ExitCode.UNRESOLVED if found else ExitCode.OK


def _write(path: Path, log: dict[str, object]) -> None:
    import json

    try:
        path.write_text(json.dumps(log, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise FileError(path, error, verb="written") from None


def _target(options: argparse.Namespace) -> Target:
    from sparkconfig.migrate import settings
    from sparkconfig.migrate.apply import Target

    if options.sealed_file is None:
        options.parser.refuse("name the sealed file with --sealed-file, and its key with --key-file")
    key, param = key_and_param(options)
    confs = settings.of(options.provider, options.sealed_file, param)
    return Target(options.sealed_file, key, options.provider, confs)


def _undo(options: argparse.Namespace, out: Output) -> ExitCode:
    from sparkconfig.migrate.apply import undo

    restored, earlier = undo(_target(options))
    paths = [str(path) for path in restored]
    lines = [f"{path}: restored, with its secrets in clear" for path in paths]
    if earlier:
        verb = "is" if earlier == 1 else "are"
        lines.append(f"the same command again undoes the migration before: there {verb} {earlier} more")
    lines.append(f"the values stay in {options.sealed_file}")
    data = {"restored": paths, "earlier": earlier, "sealed_file": str(options.sealed_file)}
    out.result(data, lines)
    return ExitCode.OK


def _print(
    options: argparse.Namespace,
    out: Output,
    plans: list[FilePlan],
    target: Target | None,
    todo: dict[str, str],
    *,
    unread: dict[str, str],
    unknown: list[Path],
) -> None:
    from sparkconfig._base.text import counted

    moved = sum(len(each.moves) for each in plans)
    left = sum(len(each.left) for each in plans)
    data = {
        "applied": bool(options.apply),
        "moved": moved,
        "left": left,
        "files": [_as_json(each, options.provider, todo) for each in plans],
        "unread": unread,
        "unknown": [str(path) for path in unknown],
    }
    lines: list[str] = []
    for each in plans:
        lines += _described(each, options.provider, todo)
    if unread:
        lines += [
            f"not looked at, {counted(len(unread), 'file')}:",
            *(f"  {why}" for why in unread.values()),
            "",
        ]
    if unknown:
        shown = [f"  {path}" for path in unknown[:_MOST_UNKNOWN]]
        shown += ["  …, see --json"] if len(unknown) > _MOST_UNKNOWN else []
        lines += [
            f"not read, {counted(len(unknown), 'file')} (no text, over 1 MiB, or a page; --kind text reads one):",
            *shown,
            "",
        ]
    verb = "moved" if options.apply else "to move"
    lines.append(f"{counted(moved, 'secret')} {verb}, {left} left, in {counted(len(plans), 'file')}")
    if options.apply and moved and target is not None:
        lines += _after(options, target, plans)
    elif moved:
        lines.append("nothing was changed; to do it, add --apply, --sealed-file and --key-file")
    if own := _own_keys(plans):
        lines.append(
            "if the application itself reads one of these confs, as in DriverManager.getConnection(conf.get(...)), it"
            f" gets the reference; this line gives it the value: spark.config.inplace.keys {','.join(own)}"
        )
    if left:
        lines.append(
            "what is left is yours to do: 'sparkconfig seal set' seals a value under the name in its reference"
        )
    out.result(data, lines)


def _own_keys(plans: list[FilePlan]) -> list[str]:
    """Confs that neither Spark nor a connector reads: the application's own, if anybody does."""
    from sparkconfig.settings.readers import is_of_application

    return sorted({move.key for each in plans for move in each.moves if is_of_application(move.key)})


def _described(each: FilePlan, provider: str, todo: dict[str, str]) -> list[str]:
    from sparkconfig.cli.output import table

    if not (each.moves or each.left or each.unfilled):
        return []
    lines = [f"{each.path}"]
    rows = [[str(m.line), m.key, m.shape, f"${{{provider}:{m.name}}}"] for m in each.moves]
    if rows:
        lines += [f"  {line}" for line in table(["line", "key", "because", "becomes"], rows)]
    lines += [
        f"  line {left.line}: {left.key or 'text'} stays ({left.shape}): {left.why}" for left in each.left
    ]
    lines += [
        f"  line {line}: {key} is filled in by something else: write the reference there by hand"
        for line, key in each.unfilled
    ]
    if each.settings:
        lines.append(f"  added: {', '.join(each.settings)}")
    if str(each.path) in todo:
        lines.append(f"  to do: {todo[str(each.path)]}")
    return [*lines, ""]


def _after(options: argparse.Namespace, target: Target, plans: list[FilePlan]) -> list[str]:
    from sparkconfig.migrate.apply import backup_of

    backup = backup_of(target.path)
    sealed_file = shlex.quote(str(target.path))
    init = f"sparkconfig init --provider {target.provider} --sealed-file {sealed_file} {key_words(options)}"
    files = [shlex.quote(str(each.path)) for each in plans if each.moves and each.kind == "properties"]
    turn_on = [f"{init} --conf-file {file}" for file in files] or [init]
    return [
        "checked with the provider: every text in these files has the same value as before",
        f"{backup} holds the original files, sealed, for 'migrate --undo'; delete it once you trust the result",
        "the old values were in clear until now: rotate those that others could read",
        *(f"to turn it on: {each}" for each in turn_on),
    ]


def _as_json(each: FilePlan, provider: str, todo: dict[str, str]) -> dict[str, object]:
    return {
        "file": str(each.path),
        "kind": each.kind,
        "moves": [
            {"line": m.line, "key": m.key, "because": m.shape, "reference": f"${{{provider}:{m.name}}}"}
            for m in each.moves
        ],
        "left": [{"line": m.line, "key": m.key, "because": m.shape, "why": m.why} for m in each.left],
        "unfilled": [{"line": line, "key": key} for line, key in each.unfilled],
        "settings": sorted(each.settings),
        "to_do": todo.get(str(each.path)),
    }
