"""What references in option maps cost: analysis, JDBC connections, and memory over many queries.

    python bench/bench_options.py [--rounds 15] [--connections 300] [--queries 1000]

Starts stock Spark and Spark with the plugin, one after the other, and prints the same measures of both: milliseconds
of analysing plans of 200 operators, without data sources and over 50 tables, whose options hold no reference or one
each; connections per second through Spark's own provider and through ours; used heap after garbage collections, while
1,000 queries are planned.
"""

# ruff: noqa: SLF001, ANN401, E402 - the measures are in the JVM, whose sessions have no types here
from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "python")]

from sparkconfig._spark import driver
from support.jdbc import postgresql_driver
from support.postgres import PostgresServer, new_password
from support.processes import Run
from support.session import running_session
from support.shim import shim_jar

DERBY = {
    "url": "jdbc:derby:memory:bench;create=true",
    "driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver",
}
TABLES = 50
Options = dict[str, str]


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def analysis(spark: Any, text: str, rounds: int) -> str:
    """Median and quartiles of the phase that Spark itself measures; the first rounds warm up."""
    spent = []
    for _ in range(rounds + 5):
        phases = spark.sql(text)._jdf.queryExecution().tracker().phases()
        spent.append(phases.apply("analysis").durationMs())
    quartiles = statistics.quantiles(spent[5:], n=4)
    return f"{quartiles[1]:.0f} ms ({quartiles[0]:.0f} to {quartiles[2]:.0f})"


def operators() -> str:
    """Ten branches, each with a filter and a projection in turn, 200 operators in all."""
    branch = "SELECT id FROM range(9)"
    for number in range(10):
        branch = f"SELECT id + {number} AS id FROM ({branch}) WHERE id > {number}"
    return " UNION ALL ".join([branch] * 10)


def union(tables: list[str]) -> str:
    """Four operators over each of 50 tables."""
    return " UNION ALL ".join(
        f"SELECT a + 1 AS a FROM (SELECT a FROM {table} WHERE a > 1)" for table in tables
    )


def tables(spark: Any, folder: Path, name: str, separators: list[str]) -> list[str]:
    data = folder / "data"
    data.mkdir(exist_ok=True)
    (data / "a.csv").write_text("1|2\n")
    names = [f"{name}{number}" for number in range(len(separators))]
    for table, separator in zip(names, separators, strict=True):
        spark.sql(
            f"CREATE TABLE {table} (a INT, b INT) USING csv OPTIONS (sep '{separator}') LOCATION '{data}'"
        )
    return names


def connections(spark: Any, options: Options, number: int) -> str:
    """Connections in a second, as the executors' tasks open them; best of three."""
    jvm = spark._jvm
    scala = jvm.PythonUtils.toScalaMap({**options, "dbtable": "t"})
    parsed = jvm.org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions(scala)
    factory = jvm.org.apache.spark.sql.jdbc.JdbcDialects.get(options["url"]).createConnectionFactory(parsed)
    rates = []
    for _ in range(4):
        started = time.perf_counter()
        for _ in range(number):
            factory.apply(-1).close()
        rates.append(number / (time.perf_counter() - started))
    return f"{max(rates[1:]):.0f}/s"


def heap(spark: Any) -> float:
    """Megabytes used after garbage collections that free nothing more."""
    jvm = spark._jvm
    memory = jvm.java.lang.management.ManagementFactory.getMemoryMXBean()
    least = float("inf")
    for _ in range(4):
        jvm.java.lang.System.gc()
        time.sleep(0.3)
        least = min(least, memory.getHeapMemoryUsage().getUsed() / 1e6)
    return least


def planned(spark: Any, folder: Path, queries: int, options: Any) -> str:
    """Used heap before, in the middle and after; Spark itself keeps nothing of a plan that was only made."""
    seen = []
    for number in range(queries + 100):
        if number in (100, 100 + queries // 2):
            seen.append(heap(spark))
        frame = spark.read.options(**options(number)).csv(str(folder / "data"), schema="a int, b int")
        frame.filter("a > 1")._jdf.queryExecution().executedPlan().toString()
    seen.append(heap(spark))
    return " -> ".join(f"{each:.1f}" for each in seen) + " MB"


def measure(spark: Any, folder: Path, jdbc: Options, arguments: argparse.Namespace, *, plugin: bool) -> None:
    reference = f"${{files:{folder}/store.properties:KEY}}"

    def ref(key: str) -> str:
        return reference.replace("KEY", key)

    spark.sparkContext.setLogLevel("ERROR")  # 50 separators are too short to mask, and each would be reported
    say(f"{'with the plugin' if plugin else 'stock Spark'}, {spark.version}")
    say(f"  analysis, 200 operators: {analysis(spark, operators(), arguments.rounds)}")
    plain = tables(spark, folder, "plain", ["|"] * TABLES)
    say(f"  analysis, 50 tables, no reference: {analysis(spark, union(plain), arguments.rounds)}")
    if plugin:
        held = tables(spark, folder, "held", [ref(f"sep{number}") for number in range(TABLES)])
        say(f"  analysis, 50 tables, 50 references: {analysis(spark, union(held), arguments.rounds)}")
    spark._jvm.java.lang.Class.forName(DERBY["driver"])
    password = ref("pw") if plugin else jdbc["password"]
    say(f"  connections, Derby in memory: {connections(spark, DERBY, arguments.connections * 10)}")
    if plugin:
        derby = {**DERBY, "user": "u", "password": password}
        say(
            f"  connections, Derby, password by reference: {connections(spark, derby, arguments.connections * 10)}"
        )
    rate = connections(spark, {**jdbc, "password": password}, arguments.connections)
    say(f"  connections, PostgreSQL with SCRAM: {rate}")
    same = {"sep": ref("sep0") if plugin else "|"}
    used = planned(spark, folder, arguments.queries, lambda _: same)
    say(f"  {arguments.queries} queries planned, one reference: heap {used}")
    if plugin:
        texts = {"sep": f"$[keyValue=edge]{ref('none')}", "edge": "|"}
        used = planned(spark, folder, arguments.queries, lambda number: {**texts, "my.number": str(number)})
        say(f"  {arguments.queries} queries planned, each with other options beside $[...]: heap {used}")
        say(f"  expressions held in the end: {len(driver.status()['references'])}")


def main() -> None:
    """Print the measures of stock Spark, then those with the plugin."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--connections", type=int, default=300)
    parser.add_argument("--queries", type=int, default=1000)
    arguments = parser.parse_args()
    with Run() as run, tempfile.TemporaryDirectory() as name:
        postgres = PostgresServer(run, cache=ROOT / ".cache")
        jar = postgresql_driver(run, cache=ROOT / ".cache")
        password = new_password()
        postgres.create(role="bench", password=password, database="bench")
        jdbc = {"url": postgres.jdbc_url("bench"), "driver": "org.postgresql.Driver", "user": "bench",
                "password": password}  # fmt: skip
        for plugin in (False, True):
            folder = Path(name) / str(plugin)
            folder.mkdir()
            values = {"pw": password, "none": "", **{f"sep{number}": "|" for number in range(TABLES)}}
            text = "".join(f"{key}={value}\n" for key, value in values.items())
            (folder / "store.properties").write_text(text)
            conf = {
                "spark.master": "local[2]",
                "spark.ui.enabled": "false",
                "spark.jars": "",
                "spark.driver.extraClassPath": f"{shim_jar()}:{jar}" if plugin else str(jar),
                "spark.driver.extraJavaOptions": f"-Dderby.system.home={folder}",
            }
            if plugin:
                conf |= {
                    "spark.config.providers": "files",
                    "spark.config.providers.files.class": "file",
                    "spark.config.substitution.enabled": "true",
                }
            with running_session(conf, folder=folder, plugin=plugin) as spark:
                measure(spark, folder, jdbc, arguments, plugin=plugin)
        postgres.stop()


if __name__ == "__main__":
    main()
