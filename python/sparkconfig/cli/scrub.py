"""``sparkconfig scrub``: find what leaked into event logs and logs, and mask it; values are never printed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from sparkconfig.checks.exit_codes import ExitCode, FileError
from sparkconfig.cli.keys import add_key_options, key_and_param
from sparkconfig.cli.output import Output

if TYPE_CHECKING:
    from argparse import _SubParsersAction

    from sparkconfig.scrub.engine import Engine
    from sparkconfig.scrub.logs import Log, Result

__all__ = ["register"]

HELP = "find secrets in event logs and logs, and mask them"
PAGE = "scrub.md"

_EPILOG = """\
examples:
  sparkconfig scrub find /var/log/spark/events                        what looks like a secret
  sparkconfig scrub find /var/log/spark/events --conf-file conf/spark-defaults.conf
  sparkconfig scrub clean /var/log/spark/events --conf-file conf/spark-defaults.conf --since 30d

Values come from the references in the files, from a sealed file, or from lines on standard input (--stdin): old
passwords that no store holds any more.
"""
_FIND_EXAMPLES = """\
examples:
  sparkconfig scrub find /var/log/spark/events                               what looks like a secret
  sparkconfig scrub find /var/log/spark --sealed-file shop.sealed --key-file shop.key --no-shapes
  pass show shop/old | sparkconfig scrub find /var/log/spark --stdin         a password that no store holds any more
"""
_CLEAN_EXAMPLES = """\
examples:
  sparkconfig scrub clean /var/log/spark/events --conf-file conf/spark-defaults.conf --dry-run
  sparkconfig scrub clean /var/log/spark/events --conf-file conf/spark-defaults.conf --since 30d
  sparkconfig scrub clean /var/log/spark --sealed-file shop.sealed --key-file shop.key
"""
_MOST_LINES = 50
_UNITS = {"d": "days", "h": "hours", "m": "minutes"}


def register(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command with its own subcommands."""
    parser = commands.add_parser(
        "scrub",
        description="Search event logs, logs of drivers and executors, and history directories for secrets.",
        epilog=_EPILOG,
    )
    actions = parser.add_subparsers(title="actions", metavar="ACTION")
    find = actions.add_parser(
        "find",
        help="say where they are; nothing is changed",
        description="Say where values are, and what looks like a secret. Nothing is changed, and no value is printed.",
        epilog=_FIND_EXAMPLES,
    )
    _options(find)
    find.add_argument(
        "--no-shapes", action="store_true", help="count values only, which is three times faster"
    )
    find.set_defaults(run=run, clean=False, shapes=False, dry_run=False)
    clean = actions.add_parser(
        "clean",
        help="put masks in their places",
        description="Rewrite files with masks in the places of values. Times, owner and permissions stay.",
        epilog=_CLEAN_EXAMPLES,
    )
    _options(clean)
    clean.add_argument("--shapes", action="store_true", help="also mask what only looks like a secret")
    clean.add_argument("--dry-run", action="store_true", help="say which files would be rewritten")
    clean.set_defaults(run=run, clean=True, no_shapes=False)


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files and folders")
    parser.add_argument(
        "--conf-file", "--properties-file", dest="conf_file", type=Path, action="append", default=[], metavar="FILE",
        help="properties whose references name values; can be repeated",
    )  # fmt: skip
    parser.add_argument("--conf", action="append", default=[], metavar="KEY=VALUE", help="as in spark-submit")
    parser.add_argument("--operator-file", type=Path, metavar="FILE", help="the operator's sparkconfig.conf")
    parser.add_argument("--sealed-file", type=Path, metavar="FILE", help="all values of this file")
    add_key_options(parser)
    parser.add_argument("--stdin", action="store_true", help="each line of standard input is a value")
    parser.add_argument("--since", metavar="TIME", help="files changed since then: 30d, 12h, 2026-11-01")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace, out: Output) -> ExitCode:
    """Search or clean, and print the report."""
    from sparkconfig.scrub import logs

    since = _since(options)
    _check(options)
    try:
        found = logs.logs_in(options.paths, since=since)
    except OSError as error:
        raise FileError(Path(error.filename or "."), error) from None
    engine = _engine(options)
    results = _here(options, found, engine)
    return _print(out, results, engine.unfit)


def _check(options: argparse.Namespace) -> None:
    named = options.conf_file or options.conf or options.sealed_file or options.stdin or options.operator_file
    if options.clean and not named and not options.shapes:
        options.parser.refuse("say whose values to mask: --conf-file, --sealed-file or --stdin; or --shapes")


def _engine(options: argparse.Namespace) -> Engine:
    from sparkconfig.checks.conf_files import read_confs
    from sparkconfig.scrub import values
    from sparkconfig.scrub.engine import Engine

    found: dict[str, str] = {}
    if options.conf_file or options.conf:
        confs = read_confs(options.conf_file, options.conf)
        found |= values.of_references(values.named_in(confs.values()), confs, options.operator_file)
    if options.sealed_file is not None:
        found |= values.of_sealed_file(options.sealed_file, key_and_param(options)[0], "sealed")
    if options.stdin:
        found |= values.of_lines(sys.stdin.buffer.read())
    return Engine(found, by_shape=not options.no_shapes and not options.clean, mask_shapes=options.shapes)


def _here(options: argparse.Namespace, found: list[Log], engine: Engine) -> list[Result]:
    from sparkconfig.scrub import logs

    each = logs.clean if options.clean and not options.dry_run else logs.find
    return [each(log, engine) for log in found]


def _since(options: argparse.Namespace) -> float:
    text = options.since
    if text is None:
        return 0.0
    try:
        if text[-1:] in _UNITS:
            span = timedelta(**{_UNITS[text[-1]]: float(text[:-1])})
            return (datetime.now().astimezone() - span).timestamp()
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        options.parser.refuse(
            "--since needs a time such as 30d, 12h, 2026-11-01 or 2026-11-01T08:00:00+00:00"
        )
    raise AssertionError


def _print(out: Output, results: list[Result], unfit: Sequence[str]) -> ExitCode:
    from sparkconfig._base.text import counted
    from sparkconfig.cli.output import table
    from sparkconfig.scrub import logs
    from sparkconfig.scrub.engine import Counts

    total = Counts()
    for result in results:
        total.add(result.counts)
    hit = [result for result in results if result.counts]
    changed = [result for result in results if result.changed]
    unread = [result for result in results if result.unread]
    named = logs.still_named(results)
    data = {
        "ok": not unread,
        "files": len(results),
        "bytes": sum(result.size for result in results),
        "values": dict(total.values),
        "shapes": dict(total.shapes),
        "withheld_lines": total.withheld,
        "rewritten": [str(result.path) for result in changed],
        "found": [
            {
                "file": str(each.path),
                "values": dict(each.counts.values),
                "shapes": dict(each.counts.shapes),
                "places": [place._asdict() for place in each.counts.places],
            }
            for each in hit
        ],
        "not_searched": [{"file": str(each.path), "why": each.skip} for each in unread],
        "values_not_searched": list(unfit),
        "other_names": [{"file": str(path), "names": count} for path, count in named],
    }
    lines: list[str] = []
    if hit:
        rows = [
            [
                str(r.path),
                *(str(c.total()) for c in (r.counts.values, r.counts.shapes)),
                "yes" if r.changed else "no",
            ]
            for r in hit
        ]
        lines += [*table(["file", "values", "shapes", "rewritten"], rows), ""]
        names = [
            [name, str(count)] for name, count in (*total.values.most_common(), *total.shapes.most_common())
        ]
        lines += [*table(["value or shape", "times"], names), ""]
        lines += _places(hit)
    lines += [f"not searched: {each.path}: {each.skip}" for each in unread]
    lines += [f"not searched for: {name} is too short or too common a word" for name in unfit]
    lines += [
        f"{path}: the old content is still under {counted(count, 'hard link')} elsewhere: clean or remove that, too"
        for path, count in named
    ]
    if total.withheld:
        lines.append(f"{counted(total.withheld, 'line')} left out: no mask could keep them readable")
    lines.append(
        f"{counted(total.values.total(), 'value')} and {counted(total.shapes.total(), 'shape')} in"
        f" {len(hit)} of {counted(len(results), 'file')}; {len(changed)} rewritten"
    )
    out.result(data, lines)
    return ExitCode.UNAVAILABLE if unread else ExitCode.OK


def _places(hit: Sequence[Result]) -> list[str]:
    from sparkconfig._base.text import counted

    found = [
        f"{each.path}:{place.line}:{place.column}: {f'{place.key}: ' if place.key else ''}{place.what}"
        for each in hit
        if not each.changed
        for place in each.counts.places
    ]
    left = len(found) - _MOST_LINES
    more = [f"and {counted(left, 'place')} more: --json lists them"] if left > 0 else []
    return [*found[:_MOST_LINES], *more, ""] if found else []
