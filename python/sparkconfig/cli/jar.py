"""``sparkconfig jar``: the path for ``--jars``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sparkconfig.checks.exit_codes import ExitCode
from sparkconfig.cli.output import Output

if TYPE_CHECKING:
    from argparse import _SubParsersAction

__all__ = ["register"]

HELP = "print the path of the jar that fits a Spark"

_EPILOG = """\
examples:
  spark-submit --jars "$(sparkconfig jar)" --conf spark.plugins=io.sparkconfig.ConfigPlugin app.py
  spark-submit --jars "$(sparkconfig jar),$(sparkconfig jar --kafka)" --packages ... app.py
  sparkconfig jar --spark-home /opt/spark
  sparkconfig jar --scala 2.12        for a Spark 3.5 that is not on this machine
"""


def register(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "jar",
        description="Print the path of the jar that fits the Spark found: --spark-home, else SPARK_HOME, else the"
        " installed pyspark.",
        epilog=_EPILOG,
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--spark-home", type=Path, metavar="DIR", help="the folder that holds Spark's 'jars'")
    which.add_argument("--scala", choices=["2.12", "2.13"], help="Scala version of a Spark elsewhere")
    from sparkconfig._spark.jars import CONNECTORS

    small = parser.add_mutually_exclusive_group()
    for name, held in CONNECTORS.items():
        small.add_argument(
            f"--{name}", dest="connector", action="store_const", const=name, help=f"the jar with {held}"
        )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, out: Output) -> ExitCode:
    """Print the path."""
    from sparkconfig._spark import jars

    if options.scala:
        path = jars.find_jar(scala=options.scala, connector=options.connector)
        out.result({"jar": str(path), "scala": options.scala}, [str(path)])
        return ExitCode.OK
    spark = jars.find_spark(options.spark_home)
    path = jars.find_jar(scala=spark.scala, connector=options.connector)
    found = {"spark_home": str(spark.home), "spark": spark.version, "scala": spark.scala}
    out.result({"jar": str(path), **found}, [str(path)])
    return ExitCode.OK
