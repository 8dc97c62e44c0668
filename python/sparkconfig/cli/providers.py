"""``sparkconfig providers``: which providers there are; ``providers test NAME``: what one may read, no values."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sparkconfig.checks.exit_codes import ExitCode, check_exists
from sparkconfig.cli.output import Output

if TYPE_CHECKING:
    from argparse import _SubParsersAction

__all__ = ["register"]

HELP = "list providers, or try one"
PAGE = "providers.md"

_EPILOG = """\
examples:
  sparkconfig providers                          what is installed, and what brings the others
  sparkconfig providers --params                 what each of them can be told
  sparkconfig providers test vault --path db/prod
  sparkconfig providers test aws --path shop/prod --key password --file conf/spark-defaults.conf

'test' asks as a driver on this machine would, with this user's permissions. The settings come from the operator's
file if there is one (--operator-file, /etc/spark/sparkconfig.conf, $SPARK_HOME/conf or $SPARK_CONF_DIR), else from
--file.
"""


def register(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "providers",
        description="List the providers, installed or not, and what they can be told, or try one with the"
        " operator's configuration. Values are never printed.",
        epilog=_EPILOG,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--params", action="store_true", help="what each of them can be told")
    parser.set_defaults(run=run_list)
    test = parser.add_subparsers(metavar="test").add_parser(
        "test",
        help="try a provider",
        description="Configure one provider and read; print names of keys and the ttl, no values.",
        epilog=_EPILOG,
    )
    test.add_argument("name", metavar="NAME", help="its name in spark.config.providers")
    test.add_argument(
        "--path", action="append", default=[], help="read this path; may be given more than once"
    )
    test.add_argument("--key", action="append", default=[], help="ask for this key; default: all keys")
    test.add_argument(
        "--file", type=Path, action="append", default=[], help="Java properties with the settings"
    )
    test.add_argument("--operator-file", type=Path, metavar="FILE", help="the operator's sparkconfig.conf")
    test.add_argument("--json", action="store_true", help="print one JSON object")
    test.set_defaults(run=run_test)


def run_list(options: argparse.Namespace, out: Output) -> ExitCode:
    """Print the catalog."""
    from dataclasses import asdict

    from sparkconfig.cli import provider_tables
    from sparkconfig.providers.catalog import catalog

    found = catalog()
    lines = provider_tables.params(found) if options.params else provider_tables.overview(found)
    out.result(
        {
            "providers": [
                asdict(each) | {"params": each.params and [vars(param) for param in each.params]}
                for each in found
            ]
        },
        lines,
    )
    return ExitCode.OK


def run_test(options: argparse.Namespace, out: Output) -> ExitCode:
    """Configure the provider, read the paths, print what came without the values."""
    from sparkconfig.checks.conf_files import read_confs
    from sparkconfig.checks.provider_trial import try_provider

    check_exists(options.operator_file)
    trial = try_provider(
        options.name,
        options.path,
        keys=frozenset(options.key) or None,
        confs=read_confs(options.file),
        operator=options.operator_file,
    )
    out.result(trial.as_json(), trial.lines())
    return trial.code
