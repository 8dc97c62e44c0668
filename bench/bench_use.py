"""What a use of a reference costs on the driver, beside stock Spark: connections, analysis, ``current()``.

    python bench/bench_use.py [--laps 9] [--turns 2] [--json FILE]

Stock Spark and Spark with the plugin by turns, on equal confs. Measured inside of the JVM, as processor time of the
calling thread, so that a busy machine changes little; the least of the laps of each turn counts.
"""

# ruff: noqa: SLF001, ANN401 - the measures are in the JVM, whose sessions have no types here
from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "python")]

from leaks.support import compile_scala  # noqa: E402
from sparkconfig._spark import driver  # noqa: E402
from support.session import running_session  # noqa: E402
from support.shim import shim_jar  # noqa: E402

DERBY = {
    "url": "jdbc:derby:memory:bench;create=true",
    "driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver",
    "user": "u",
}
TABLES = 50
# Of 3,000 connections each, until the compiler of the JVM has seen the code of both.
WARM_LAPS = 12
IN_USE = (1, 50, 1000)
Found = dict[str, list[float]]


def union(name: str) -> str:
    """Four operators over each of 50 tables."""
    return " UNION ALL ".join(
        f"SELECT a + 1 AS a FROM (SELECT a FROM {name}{number} WHERE a > 1)" for number in range(TABLES)
    )


def tables(spark: Any, folder: Path, name: str, separators: list[str]) -> None:
    data = folder / "data"
    data.mkdir(exist_ok=True)
    (data / "a.csv").write_text("1|2\n")
    for number, separator in enumerate(separators):
        spark.sql(
            f"CREATE TABLE {name}{number} (a INT, b INT) USING csv OPTIONS (sep '{separator}') LOCATION '{data}'"
        )


def python_current(text: str, count: int, laps: int) -> float:
    """Microseconds of wall time, the best lap: most of it is the way to the JVM and back."""
    found = []
    for _ in range(laps):
        began = time.perf_counter()
        for _ in range(count):
            driver.current(text)
        found.append((time.perf_counter() - began) / count * 1e6)
    return min(found)


def bridge(spark: Any, count: int, laps: int) -> float:
    """A bare call into the JVM, for comparison."""
    system = spark._jvm.java.lang.Runtime.getRuntime()
    found = []
    for _ in range(laps):
        began = time.perf_counter()
        for _ in range(count):
            system.availableProcessors()
        found.append((time.perf_counter() - began) / count * 1e6)
    return min(found)


def measure(spark: Any, folder: Path, laps: int, found: Found, *, plugin: bool) -> None:
    def note(name: str, microseconds: Any) -> None:
        found.setdefault(name, []).append(min(microseconds))

    spark.sparkContext.setLogLevel("ERROR")
    jvm, bench = spark._jvm, spark._jvm.bench.UseBench
    jvm.java.lang.Class.forName(DERBY["driver"])
    tables(spark, folder, "plain", ["|"] * TABLES)
    if not plugin:
        bench.connections({**DERBY, "password": "x"}, 3000, WARM_LAPS)
        note("connection", bench.connections({**DERBY, "password": "x"}, 1000, laps))
        bench.analysis(spark._jsparkSession, union("plain"), 20)
        note("analysis", bench.analysis(spark._jsparkSession, union("plain"), laps))
        return
    store = folder / "store.properties"

    def text(number: int) -> str:
        return f"${{files:{store}:sep{number}}}"

    reference = f"${{files:{store}:pw}}"
    jdbc = {**DERBY, "password": reference}
    bench.connections(jdbc, 3000, WARM_LAPS)
    known = 0
    for count in IN_USE:
        while known < count:
            known += 1
            driver.current(text(known))
        note(f"connection, {count} in use", bench.connections(jdbc, 1000, laps))
        bench.current(reference, 20_000, 3)
        note(f"current() in Scala, {count} in use", bench.current(reference, 5000, laps))
        found.setdefault(f"current() in Python, {count} in use", []).append(
            python_current(reference, 300, laps)
        )
    found.setdefault("a bare call from Python", []).append(bridge(spark, 300, laps))
    bench.analysis(spark._jsparkSession, union("plain"), 20)
    note("analysis, plugin, no reference", bench.analysis(spark._jsparkSession, union("plain"), laps))
    tables(spark, folder, "held", [text(number) for number in range(TABLES)])
    bench.analysis(spark._jsparkSession, union("held"), 20)
    note("analysis, 50 references", bench.analysis(spark._jsparkSession, union("held"), laps))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--laps", type=int, default=9)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    found: Found = {}
    with tempfile.TemporaryDirectory() as name:
        classes = Path(name) / "classes"
        compile_scala(Path(__file__).with_name("UseBench.scala"), classes)
        for turn in range(arguments.turns * 2):
            plugin = turn % 2 == 1
            folder = Path(name) / str(turn)
            folder.mkdir()
            lines = [f"sep{number}=|\n" for number in range(max(IN_USE) + 1)]
            (folder / "store.properties").write_text("pw=a-password-of-derby\n" + "".join(lines))
            conf = {
                "spark.master": "local[2]",
                "spark.ui.enabled": "false",
                "spark.jars": "",
                "spark.driver.extraClassPath": f"{classes}:{shim_jar()}",
                "spark.driver.extraJavaOptions": f"-Dderby.system.home={folder}",
                "spark.config.providers": "files",
                "spark.config.providers.files.class": "file",
            }
            with running_session(conf, folder=folder, plugin=plugin) as spark:
                measure(spark, folder, arguments.laps, found, plugin=plugin)
    report(found)
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=1) + "\n")


def report(found: Found) -> None:
    """Print each measure in microseconds, least and most of the turns, and how it compares with stock Spark."""
    stock = {name: min(found[name]) for name in ("connection", "analysis")}
    for name, laps in sorted(found.items()):
        base = stock.get(name.partition(",")[0])
        ratio = "" if base is None else f"   {min(laps) / base:6.2f} of stock"
        spread = f"({min(laps):.2f} to {max(laps):.2f})"
        print(f"{name:38} {statistics.median(laps):12.2f} us {spread:26}{ratio}", flush=True)


if __name__ == "__main__":
    main()
