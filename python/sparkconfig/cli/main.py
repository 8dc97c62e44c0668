"""Parse the command line, run one subcommand, turn errors into messages and exit codes."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sparkconfig import cli
from sparkconfig._base.version import __version__
from sparkconfig.checks.exit_codes import ExitCode, FileError, code_for
from sparkconfig.cli.arguments import Parser, UsageError
from sparkconfig.cli.output import Output, UnwritableError
from sparkconfig.errors import SparkConfigError

__all__ = ["commands", "main", "parser"]

_FIRST_DAY = """\
  sparkconfig migrate conf/ jobs/                 which secrets are in clear, and what would replace them
  sparkconfig seal --help                         keep them in an encrypted file
  sparkconfig init                                the lines that turn it on
  sparkconfig resolve --dry-run job.conf          which references would get a value
  sparkconfig doctor --file job.conf              whether a job would start, and what to do
  spark-submit --jars "$(sparkconfig jar)" app.py"""
_EPILOG = f"""\
examples:
{_FIRST_DAY}

exit codes:
  0 done, 1 no value, or a secret in clear, 2 wrong command line, 3 wrong configuration, 4 not found,
  5 not allowed or wrong key, 6 cannot be reached now, 7 damaged file, 8 refused by a policy,
  70 internal error, 130 interrupted
"""


class _Commands(argparse._SubParsersAction):  # type: ignore[type-arg] # noqa: SLF001 - argparse has no public name
    """Adds each command with its line of the help."""

    def add_parser(self, name: str, **options: Any) -> Any:  # noqa: ANN401 - argparse's own
        return super().add_parser(name, help=_help_of(name), **options)


def commands() -> dict[str, str]:
    """Return all commands with their lines of the help: the modules here that have a constant ``HELP``."""
    found = {name: _help_of(name) for folder in cli.__path__ for name in _modules(folder)}
    return {name: text for name, text in found.items() if text is not None}


def _modules(folder: str) -> list[str]:
    if Path(folder).is_dir():
        return sorted(path.stem for path in Path(folder).glob("*.py"))
    import pkgutil  # in a jar; it imports much

    return [each.name for each in pkgutil.iter_modules([folder])]


def _help_of(name: str) -> str | None:
    """The help line of a command, or None if the name is unknown. Its module is read, not imported."""
    spec = importlib.util.find_spec(f"sparkconfig.cli.{name}") if name.isidentifier() else None
    source = None if spec is None else getattr(spec.loader, "get_source", lambda _: None)(spec.name)
    found = re.search(r'^HELP = "(.*)"$', source or "", re.MULTILINE)
    return None if found is None else found[1]


def parser(only: str | None = None) -> Parser:
    """Return the whole command line.

    Args:
        only: the command that runs, which is then the only one; if the name is unknown, all commands have just names.
            None: all have their options.
    """
    top = Parser(
        prog="sparkconfig",
        description="Secrets and configuration for Apache Spark. No command takes or prints a secret value"
        " on its command line or output.",
        epilog=_EPILOG,
    )
    top.add_argument("--version", action="store_true", help="print the version")
    top.add_argument(
        "--json", action="store_true", help="print one JSON object, as each command does with it"
    )
    top.set_defaults(run=_version)
    added = top.add_subparsers(title="commands", metavar="COMMAND", action=_Commands)
    alone = [only] if only is not None and _help_of(only) is not None else []
    for name in alone or commands():
        if alone or only is None:
            importlib.import_module(f"sparkconfig.cli.{name}").register(added)
        else:
            added.add_parser(name)
    return top


def _version(options: argparse.Namespace, out: Output) -> ExitCode:
    if not options.version:
        options.parser.refuse(
            f"a command is missing; '{options.parser.prog} --help' lists them. On a first day:\n{_FIRST_DAY}"
        )
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
    )  # what follows belongs to the user's own command
    out = Output(as_json="--json" in own)
    _open_closed_streams()
    try:
        code = _run(words, out)
        sys.stdout.flush()
    except OSError as error:
        # Python would flush once more at exit and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):  # the reader of our output has gone
            return int(ExitCode.OK)
        print(f"sparkconfig: the output cannot be written: {error.strerror}", file=sys.stderr)
        return int(ExitCode.UNAVAILABLE)
    return code


def _open_closed_streams() -> None:
    """Replace streams that a daemon has closed by /dev/null; else the next file would get their number."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - to the end


def _run(words: Sequence[str], out: Output) -> int:
    try:
        command = next((word for word in words if not word.startswith("-")), "")
        options = parser(only=command).parse_args(words)
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
    except (BrokenPipeError, UnwritableError):
        raise
    except Exception as error:  # noqa: BLE001 - a traceback may show values of variables to some tools
        return _unexpected(error, out)


def _unexpected(error: Exception, out: Output) -> int:
    # Any file may turn out to be unreadable, even in an unexpected place. That is not a bug.
    problem = FileError.about(error) if isinstance(error, OSError) else None
    if problem is not None:
        out.failure("FileError", str(problem))
        return int(problem.code)
    out.failure("InternalError", f"internal error: {type(error).__name__}; please report what you ran")
    return int(ExitCode.INTERNAL)
