"""scalafmt and scalafix over the shim's sources: ``python jvm-shim/format.py [--check] [--java JAVA]``.

Both come from Maven Central by their coordinates, with ``mvn``, once: 30 s and 50 MB in ``.cache/jars``. What they do
stands in ``.scalafmt.conf`` and ``.scalafix.conf``. scalafix runs only rules that need no compiler.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from tools import ROOT, jars

TOOLS = (
    ("scalafmt", "org.scalameta", "scalafmt-cli_2.13", "3.7.17"),
    ("scalafix", "ch.epfl.scala", "scalafix-cli_2.13.16", "0.14.2"),
)


def sources() -> list[str]:
    """Return the Scala files of the shim."""
    return sorted(
        str(path) for part in ("src", "versions") for path in (ROOT / "jvm-shim" / part).rglob("*.scala")
    )


def main() -> int:
    """Format, or with ``--check`` only tell what is not formatted; then run scalafix's rules."""
    parser = argparse.ArgumentParser(description="scalafmt and scalafix over the shim's sources")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; fail if something is not formatted"
    )
    home = os.environ.get("JAVA_HOME")
    parser.add_argument("--java", default=str(Path(home) / "bin" / "java") if home else "java")
    options = parser.parse_args()
    fmt, fix = (jars(*tool) for tool in TOOLS)
    files = sources()
    check = ["--list"] if options.check else []
    # --list answers 1 where a file would change.
    formatted = subprocess.run(
        [options.java, "-cp", f"{fmt}/*", "org.scalafmt.cli.Cli", "--non-interactive", "--quiet",
         "--config", str(ROOT / ".scalafmt.conf"), *check, *files],
        check=False,
    )  # fmt: skip
    fixed = subprocess.run(
        [options.java, "-cp", f"{fix}/*", "scalafix.v1.Main", "--syntactic", "--check",
         "--config", str(ROOT / ".scalafix.conf"), "--files", *files],
        check=False,
    )  # fmt: skip
    if formatted.returncode and options.check:
        sys.stderr.write("these files are not formatted: python jvm-shim/format.py\n")
    return 1 if formatted.returncode or fixed.returncode else 0


if __name__ == "__main__":
    sys.exit(main())
