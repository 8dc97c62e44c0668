"""``sparkconfig completion``: what a shell needs to complete commands and options."""

from __future__ import annotations

import argparse
import pkgutil
from typing import TYPE_CHECKING

from sparkconfig.checks.exit_codes import ExitCode
from sparkconfig.cli.output import Output

if TYPE_CHECKING:
    from argparse import _SubParsersAction

__all__ = ["SHELLS", "register"]

HELP = "print a shell's completion script"

SHELLS = ("bash", "zsh")
_EPILOG = """\
examples:
  sparkconfig completion bash > ~/.local/share/bash-completion/completions/sparkconfig
  sparkconfig completion zsh > "${fpath[1]}/_sparkconfig"

The scripts are static: they start no Python, and complete commands, options and files, never a value.
"""


def register(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "completion",
        description="Print a script that completes commands and options.",
        epilog=_EPILOG,
    )
    parser.add_argument("shell", choices=SHELLS)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, out: Output) -> ExitCode:
    """Print the script, which ``tools/docs/generate.py`` wrote."""
    script = (pkgutil.get_data("sparkconfig", f"data/completion.{options.shell}.txt") or b"").decode("utf-8")
    if out.as_json:
        out.result({"shell": options.shell, "script": script}, [])
    else:
        print(script, end="")
    return ExitCode.OK
