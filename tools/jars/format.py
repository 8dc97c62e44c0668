"""scalafmt and scalafix over all Scala sources: ``python tools/jars/format.py [--check] [--java JAVA]``.

Both come from Maven Central by their coordinates, with ``mvn``, once: 30 s and 50 MB in ``.cache/jars``. What they do
is in ``.scalafmt.conf`` and ``.scalafix.conf``. scalafix runs only rules that need no compiler; its OrganizeImports
needs one, so scalafmt sorts and groups the imports.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from fetched import ROOT, jars

TOOLS = (
    ("scalafmt", "org.scalameta", "scalafmt-cli_2.13", "3.7.17"),
    ("scalafix", "ch.epfl.scala", "scalafix-cli_2.13.16", "0.14.2"),
)
FOLDERS = ("jvm-shim/src", "jvm-shim/versions", "tests", "bench", "docs")
WIDEST = 120


def sources() -> list[str]:
    """Return the Scala files of the shim, those that tests and benches compile, and the examples."""
    return sorted(str(path) for part in FOLDERS for path in (ROOT / part).rglob("*.scala"))


def too_wide(files: list[str]) -> Iterator[str]:
    """Yield file and number of each line that scalafmt could not break: comments and texts."""
    for name in files:
        for number, line in enumerate(Path(name).read_text(encoding="utf-8").splitlines(), 1):
            if len(line) > WIDEST:
                yield f"{name}:{number}"


def main() -> int:
    """Format, or with ``--check`` only tell what is not formatted; then run scalafix's rules."""
    parser = argparse.ArgumentParser(description="scalafmt and scalafix over all Scala sources")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; fail if something is not formatted"
    )
    home = os.environ.get("JAVA_HOME")
    parser.add_argument("--java", default=str(Path(home) / "bin" / "java") if home else "java")
    options = parser.parse_args()
    fmt, fix = (jars(*tool) for tool in TOOLS)
    files = sources()
    check = ["--list"] if options.check else []
    # Each lives for seconds, in which the optimizing compiler takes more time than it saves.
    java = (options.java, "-XX:TieredStopAtLevel=1")
    # --list answers 1 where a file would change.
    formatted = subprocess.run(
        [*java, "-cp", f"{fmt}/*", "org.scalafmt.cli.Cli", "--non-interactive", "--quiet",
         "--config", str(ROOT / ".scalafmt.conf"), *check, *files],
        check=False,
    )  # fmt: skip
    fixed = subprocess.run(
        [*java, "-cp", f"{fix}/*", "scalafix.v1.Main", "--syntactic", "--check",
         "--config", str(ROOT / ".scalafix.conf"), "--files", *files],
        check=False,
    )  # fmt: skip
    if formatted.returncode and options.check:
        sys.stderr.write("these files are not formatted: python tools/jars/format.py\n")
    wide = list(too_wide(files))
    sys.stderr.writelines(f"{place}: more than {WIDEST} columns\n" for place in wide)
    return 1 if formatted.returncode or fixed.returncode or wide else 0


if __name__ == "__main__":
    sys.exit(main())
