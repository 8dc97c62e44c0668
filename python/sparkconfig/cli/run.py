"""``sparkconfig run``: start a command that reads its confs before plugins, with values that no disk holds."""

from __future__ import annotations

import argparse
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from sparkconfig.cli.output import Output

if TYPE_CHECKING:
    from argparse import _SubParsersAction

__all__ = ["register"]

HELP = "start a command with values in place of references"
PAGE = "run.md"

_PLACE = "{properties}"
_EPILOG = """\
examples:
  sparkconfig run --properties-file master.conf -- \\
      spark-class org.apache.spark.deploy.master.Master --properties-file {properties}
  sparkconfig run --properties-file job.conf --early-only -- spark-submit --properties-file {properties} app.py
  sparkconfig run --properties-file job.conf --env 'PGPASSWORD=${sealed:shop:password}' -- psql -h db shop

{properties} stands for a file in memory (0400) that holds the confs with values. The command
takes the place of this one, and the file ends with it.
"""


def register(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "run",
        description="Resolve the references of a properties file and of variables, and start a command with them: for"
        " confs that Spark reads before plugins start (spark.ssl.*, spark.authenticate.secret of masters and workers).",
        epilog=_EPILOG,
    )
    parser.add_argument(
        "--properties-file", type=Path, action="append", default=[], metavar="FILE",
        help="Java properties; later files win",
    )  # fmt: skip
    parser.add_argument("--conf", action="append", default=[], metavar="KEY=VALUE", help="as in spark-submit")
    parser.add_argument("--operator-file", type=Path, metavar="FILE", help="the operator's sparkconfig.conf")
    parser.add_argument(
        "--env", action="append", default=[], metavar="NAME[=TEXT]",
        help="a variable of the command; without TEXT, its own text is resolved",
    )  # fmt: skip
    parser.add_argument(
        "--early-only", action="store_true", help="leave the references that the plugin resolves as they are"
    )
    parser.add_argument(
        "--json", action="store_true", help="errors before the command starts as one JSON object"
    )
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="after '--': program and arguments")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, out: Output) -> int:
    """Become the command."""
    from sparkconfig.checks.conf_files import read_confs
    from sparkconfig.formats import properties
    from sparkconfig.launch import values
    from sparkconfig.launch.private_file import private_file

    del out
    named = any(_PLACE in word for word in options.command)
    if not options.properties_file and not options.env:
        options.parser.refuse("nothing to resolve; add --properties-file or --env")
    if options.properties_file and not named and not options.env:
        options.parser.refuse(f"the command does not use the file: write {_PLACE} where its path belongs")
    confs = read_confs(options.properties_file, options.conf)
    resolved = values.resolve(
        confs, _variables(options), operator=options.operator_file, early_only=options.early_only
    )
    path = private_file(properties.dump(resolved.confs).encode("utf-8"))
    command = [word.replace(_PLACE, path) for word in options.command]
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python alone
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execvpe(command[0], command, {**os.environ, **resolved.variables})  # noqa: S606 - no shell is wanted
    except FileNotFoundError:
        missing = "the command was not found; check its name and PATH"
    except PermissionError:
        missing = "the command is not executable, or this user may not run it"
    except OSError as error:  # a script that names no interpreter, too many words, a file as a folder
        missing = f"the command cannot be started: {error.strerror or type(error).__name__}"
    options.parser.refuse(missing)
    raise AssertionError


def _variables(options: argparse.Namespace) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in options.env:
        name, equals, text = word.partition("=")
        if not name.isidentifier():
            options.parser.refuse("--env takes NAME or NAME=TEXT")
        if not equals and name not in os.environ:
            options.parser.refuse("--env names a variable that is not set; set it, or write NAME=TEXT")
        found[name] = text if equals else os.environ[name]
    return found
