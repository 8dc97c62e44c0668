"""scalafmt and scalafix over the shim's sources: ``python jvm-shim/format.py [--check] [--java JAVA]``.

Both come from Maven Central by their coordinates, with ``mvn``, once: 30 s and 50 MB in ``.cache/jars``. What they do
stands in ``.scalafmt.conf`` and ``.scalafix.conf``. scalafix runs only rules that need no compiler.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = {
    "scalafmt-3.7.17": ("org.scalameta", "scalafmt-cli_2.13", "3.7.17"),
    "scalafix-0.14.2": ("ch.epfl.scala", "scalafix-cli_2.13.16", "0.14.2"),
}
GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"


def jars(name: str) -> Path:
    """Return the folder with a tool and what it needs, fetched if it is not there."""
    folder = ROOT / ".cache" / "jars" / name
    if folder.is_dir():
        return folder
    if shutil.which("mvn") is None:
        raise SystemExit(f"{name} is fetched with mvn, which is not there: install Maven")
    group, artifact, version = TOOLS[name]
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{name}.") as scratch:
        pom = Path(scratch) / "pom.xml"
        pom.write_text(
            "<project><modelVersion>4.0.0</modelVersion><groupId>tools</groupId><artifactId>jars</artifactId>"
            f"<version>1</version><dependencies><dependency><groupId>{group}</groupId>"
            f"<artifactId>{artifact}</artifactId><version>{version}</version></dependency></dependencies></project>",
            encoding="utf-8",
        )
        found = Path(scratch) / "jars"
        subprocess.run(["mvn", "-B", "-q", "-f", str(pom), GOAL, f"-DoutputDirectory={found}"], check=True)
        found.rename(folder)
    return folder


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
    fmt, fix = (jars(name) for name in TOOLS)
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
