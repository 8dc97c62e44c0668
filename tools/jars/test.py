"""The tests of the shim that are written in Scala.

    python tools/jars/test.py --pyspark DIR [--java JAVA] [--jar JAR]

munit comes from Maven Central by its coordinates, with ``mvn``, once. The tests run against the jar for the given
pyspark, without Spark; they are compiled with its Scala compiler.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from build import SHIM, build, scala_version
from fetched import ROOT, jars

MUNIT = "1.0.0"


def main() -> int:
    """Compile the suites and run them."""
    parser = argparse.ArgumentParser(description="run the shim's tests that are written in Scala")
    home = os.environ.get("JAVA_HOME")
    parser.add_argument("--pyspark", type=Path, required=True, help="an installed pyspark package directory")
    parser.add_argument("--java", default=str(Path(home) / "bin" / "java") if home else "java")
    parser.add_argument("--jar", type=Path, help="the jar to test; if it is not given, the checkout's own")
    options = parser.parse_args()
    spark = options.pyspark / "jars"
    jar = options.jar or build(options.pyspark, ROOT / "python" / "sparkconfig" / "jars", options.java)
    scala = scala_version(spark)
    munit = jars(f"munit_{scala}", "org.scalameta", f"munit_{scala}", MUNIT)
    # What is about classes of one flavour alone stands beside the others.
    roots = [SHIM / "src" / "test" / name for name in ("scala", f"scala-{scala}")]
    found = [(root, path) for root in roots for path in sorted(root.rglob("*.scala"))]
    sources = [path for _, path in found]
    suites = [
        ".".join(path.relative_to(root).with_suffix("").parts)
        for root, path in found
        if path.stem.endswith("Suite")
    ]
    # The compiler and the suites in one JVM each, on few threads: two minutes of a small machine are too many.
    opened = [f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in ("io", "lang")]  # as Spark has it
    java = [options.java, *opened, "-Xss8m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp"]
    with tempfile.TemporaryDirectory(prefix="sparkconfig-suites-") as classes:
        compiled = subprocess.run(
            [*java, f"{spark}/*", "scala.tools.nsc.Main", "-encoding", "UTF-8", "-d", classes,
             "-cp", os.pathsep.join([str(jar), *map(str, munit.glob("*.jar")), *map(str, spark.glob("*.jar"))]),
             *map(str, sources)],
            check=False,
        )  # fmt: skip
        if compiled.returncode:
            return compiled.returncode
        path = os.pathsep.join([classes, str(jar), f"{munit}/*", f"{spark}/*"])
        return subprocess.run(
            [*java, path, f"-Dsparkconfig.root={ROOT}", "org.junit.runner.JUnitCore", *suites], check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(main())
