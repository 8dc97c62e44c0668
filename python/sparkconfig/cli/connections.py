"""``sparkconfig connections``: the named connections, and whether one has all its values; no values."""

from __future__ import annotations

import argparse
from pathlib import Path

from sparkconfig.checks.exit_codes import ExitCode, check_exists
from sparkconfig.cli.output import Output, table

__all__ = ["register", "run"]

HELP = "list named connections, or try one"
PAGE = "connections.md"

_EPILOG = """\
examples:
  sparkconfig connections
  sparkconfig connections --file conf/spark-defaults.conf --json
  sparkconfig connections --test shop

The settings come from --file if it is given, else from the operator's file (--operator-file,
/etc/spark/sparkconfig.conf, $SPARK_HOME/conf or $SPARK_CONF_DIR). '--test' asks the stores as a driver on this
machine would, with this user's permissions. It opens no connection.
"""


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "connections",
        description="List the connections that spark.config.connections.* declares: names, data sources and the"
        " names of options. Or ask the stores whether the references of one have values. Values are never printed.",
        epilog=_EPILOG,
    )
    parser.add_argument(
        "--test", metavar="NAME", help="whether the references of this connection have values"
    )
    parser.add_argument(
        "--file", type=Path, action="append", default=[], help="Java properties with the settings"
    )
    parser.add_argument("--operator-file", type=Path, metavar="FILE", help="the operator's sparkconfig.conf")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, out: Output) -> ExitCode:
    """List the connections, or try one."""
    from sparkconfig.checks.connections import connections_of, settings_of, try_connection
    from sparkconfig.cli.progress import doing

    check_exists(options.operator_file)
    confs = settings_of(options.file, options.operator_file)
    if options.test is not None:
        with doing("asking the providers"):
            trial = try_connection(confs, options.test)
        out.result(trial.as_json(), trial.lines())
        return trial.code
    found = connections_of(confs)
    rows = [
        (each.name, each.format, ", ".join(sorted(each.options)), ", ".join(each.user_options))
        for each in found
    ]
    lines = table(("connection", "format", "sets", "users may set"), rows) if rows else ["no connections"]
    listed = [
        {
            "name": each.name,
            "format": each.format,
            "options": sorted(each.options),
            "user_options": list(each.user_options),
        }
        for each in found
    ]
    out.result({"connections": listed}, lines)
    return ExitCode.OK
