"""Parse the command line, run one subcommand, turn errors into messages and exit codes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from sparkconfig._version import __version__
from sparkconfig.checks.exit_codes import ExitCode, code_for
from sparkconfig.cli import (
    completion,
    connections,
    doctor,
    init,
    install,
    jar,
    migrate,
    policy,
    providers,
    refresh,
    resolve,
    run,
    scrub,
    seal,
    validate,
)
from sparkconfig.cli.arguments import Parser, UsageError
from sparkconfig.cli.output import Output
from sparkconfig.errors import SparkConfigError

__all__ = ["main", "parser"]

COMMANDS = (
    init, seal, resolve, validate, policy, migrate, scrub, run, providers, connections, refresh, doctor, jar, install,
    completion,
)  # fmt: skip
_EPILOG = """\
examples:
  sparkconfig init                                    the lines that turn it on
  sparkconfig seal --help                             keep passwords in an encrypted file
  sparkconfig resolve --dry-run spark-defaults.conf   which references would get a value
  sparkconfig migrate conf/ jobs/                     which secrets are in clear, and what would replace them
  sparkconfig doctor                                  what is missing on this machine, and what to do
  spark-submit --jars "$(sparkconfig jar)" app.py

exit codes:
  0 done, 1 references without a value, 2 wrong command line, 3 wrong configuration, 4 not found,
  5 not allowed or wrong key, 6 cannot be reached now, 7 damaged file, 8 refused by a policy,
  70 internal error, 130 interrupted
"""


def parser() -> Parser:
    """Return the whole command line."""
    top = Parser(
        prog="sparkconfig",
        description="Secrets and configuration for Apache Spark. No command takes or prints a secret value"
        " on its command line or output.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="store_true", help="print the version")
    top.add_argument(
        "--json", action="store_true", help="print one JSON object, as each command does with it"
    )
    top.set_defaults(run=_version)
    commands = top.add_subparsers(title="commands", metavar="COMMAND")
    for command in COMMANDS:
        command.register(commands)
    return top


def _version(options: argparse.Namespace, out: Output) -> ExitCode:
    if not options.version:
        options.parser.refuse(f"a command is missing; '{options.parser.prog} --help' lists them")
    out.result({"version": __version__}, [f"sparkconfig {__version__}"])
    return ExitCode.OK


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: the command line without the program's name; None: this process's.

    Returns:
        The exit code, one of :class:`ExitCode`.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    # Known before the command line is understood: a wrong one is answered in the same form.
    own = (
        words[: words.index("--")] if "--" in words else words
    )  # what follows belongs to a command of the user's
    out = Output(as_json="--json" in own)
    try:
        code = _run(words, out)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read our output has gone. Python would flush once more at exit and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.OK)
    return code


def _run(words: Sequence[str], out: Output) -> int:
    try:
        options = parser().parse_args(words)
        return int(options.run(options, out))
    except UsageError as error:
        print(error.usage, end="", file=sys.stderr)
        out.failure("UsageError", str(error))
        return int(ExitCode.USAGE)
    except SparkConfigError as error:
        out.failure(type(error).__name__, str(error))
        return int(code_for(error))
    except KeyboardInterrupt:
        out.failure("Interrupted", "interrupted")
        return int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        raise
    except Exception as error:  # noqa: BLE001 - a traceback may show values of variables to some tools
        out.failure("InternalError", f"internal error: {type(error).__name__}; please report what you ran")
        return int(ExitCode.INTERNAL)
