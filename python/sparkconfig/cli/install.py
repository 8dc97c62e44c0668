"""``sparkconfig install``: put the jar where every driver and executor of a Spark finds it."""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from sparkconfig.checks.exit_codes import ExitCode, FileError
from sparkconfig.cli.output import Output

if TYPE_CHECKING:
    from argparse import _SubParsersAction

__all__ = ["register"]

HELP = "put the jar into a Spark's own jars folder, or remove it"

_EPILOG = """\
examples:
  sparkconfig install --spark-home /opt/spark
  sparkconfig install --spark-home /opt/spark --cds /opt/spark/sparkconfig.jsa
  sparkconfig install --spark-home /opt/spark --uninstall

It is needed where plugins must be on Spark's own class path: for Hadoop's credential providers, for cluster
managers that start drivers elsewhere, and where users should not need --jars. Repeat it on every node, or in the
image, and after each update of the package. It changes jars/sparkconfig_*.jar alone.

--cds starts a small application once and keeps the classes that it loads in a file (160 MB). Drivers that start with
the confs it prints need about 0.6 of the processor time. It serves this Spark and this Java: write it again when
one of them, the package or another jar of Spark changes. Until then drivers start as if it were not there.
"""


def register(commands: _SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "install",
        description="Copy the jar into the jars folder of a Spark, and remove older ones.",
        epilog=_EPILOG,
    )
    parser.add_argument(
        "--spark-home", type=Path, metavar="DIR", required=True, help="the folder that holds 'jars'"
    )
    parser.add_argument(
        "--uninstall", action="store_true", help="remove the jar again, and the file of --cds"
    )
    parser.add_argument(
        "--cds",
        type=Path,
        metavar="FILE",
        help="write an archive of classes too, from which drivers start faster",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, out: Output) -> ExitCode:
    """Install or uninstall."""
    from sparkconfig._spark import class_archive, jars

    spark = jars.find_spark(options.spark_home)
    target: Path | None = None
    changed = False
    try:
        if not options.uninstall:
            source = jars.find_jar(scala=spark.scala)
            target = spark.jars / source.name
            changed = _copy(source, target)
        removed = _remove_others(spark.jars, target)
    except OSError as error:
        raise FileError(spark.jars, error, verb="changed") from None
    installed = None if target is None else str(target)
    data: dict[str, object] = {
        "spark": spark.version, "jar": installed, "changed": changed, "removed": removed,
    }  # fmt: skip
    lines = _lines(target, removed, changed=changed)
    if options.cds is not None:
        # Spark's launcher and Java take it as it is written, from any folder a driver starts in.
        archive = options.cds.absolute()
        try:
            if options.uninstall:
                archive.unlink(missing_ok=True)
            else:
                size = class_archive.write(spark, archive)
                data["cds"] = {"bytes": size, "confs": class_archive.confs(spark, archive)}
                lines += [f"wrote {archive}; drivers that start with these confs use it:"]
                lines += [f"  {key} {text}" for key, text in class_archive.confs(spark, archive).items()]
        except OSError as error:
            raise FileError(archive, error, verb="changed") from None
    out.result(data, lines)
    return ExitCode.OK


def _copy(source: Path, target: Path) -> bool:
    """Copy unless the same is there; a JVM that starts meanwhile sees the old jar or the new one."""
    if target.is_file() and target.read_bytes() == source.read_bytes():
        return False
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        shutil.copyfile(source, partial)
        partial.chmod(0o644)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return True


def _remove_others(folder: Path, keep: Path | None) -> list[str]:
    """Remove our jars of other versions: of two on a class path the first wins, whichever that is."""
    others = sorted(path for path in folder.glob("sparkconfig_2.1[0-9]-*.jar") if path != keep)
    for path in others:
        path.unlink()
    return [str(path) for path in others]


def _lines(target: Path | None, removed: list[str], *, changed: bool) -> list[str]:
    lines = [f"removed {path}" for path in removed]
    if target is not None:
        lines += [f"installed {target}" if changed else f"{target} is there already"]
        lines += ["turn it on with: spark.plugins=io.sparkconfig.ConfigPlugin"]
    return lines or ["nothing to remove"]
