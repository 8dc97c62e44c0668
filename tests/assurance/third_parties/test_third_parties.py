"""A job with products of others: with sparkconfig it does what it does without.

``make third-parties`` runs it without sparkconfig, with it behind the others and with it in front, on Spark 3.5 and
4.1. What the run without sparkconfig found is kept beside this file.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyspark
import pytest

from leaks.support import compile_scala
from support.maven import maven_jars
from support.processes import Run
from support.session import QUIET
from support.shim import shim_jar
from support.spark_home import spark_environment, spark_home

SPARK = ".".join(pyspark.__version__.split(".")[:2])
#: Their newest releases for each Spark. There were none for later Sparks.
RELEASES = {
    "3.5": (
        "io.delta:delta-spark_2.12:3.3.3",
        "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.12.0",
        "io.openlineage:openlineage-spark_2.12:1.53.0",
    ),
    "4.1": (
        "io.delta:delta-spark_4.1_2.13:4.4.0",
        "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
        "io.openlineage:openlineage-spark_2.13:1.53.0",
    ),
}
#: It has a release for Scala 2.12 alone that can be had.
MEASURE = {"3.5": "ch.cern.sparkmeasure:spark-measure_2.12:0.24"}
HERE = Path(__file__).parent
LISTENERS = "io.openlineage.spark.agent.OpenLineageSparkListener,shop.Events" + (
    ",ch.cern.sparkmeasure.FlightRecorderStageMetrics" if SPARK in MEASURE else ""
)
CACHE = HERE.parents[2] / ".cache"
DELTA = "io.delta.sql.DeltaSparkSessionExtension"
ICEBERG = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
OURS = "io.sparkconfig.ConfigExtensions"
LOGGING = """
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d %p %c{1}: %m%n%ex
appender.till.type = RollingFile
appender.till.name = till
appender.till.fileName = ${sys:shop.folder}/till.log
appender.till.filePattern = ${sys:shop.folder}/till-%i.log
appender.till.layout.type = PatternLayout
appender.till.layout.pattern = %p|%c{1}|%m%n
appender.till.policies.type = SizeBasedTriggeringPolicy
appender.till.policies.size = 1MB
logger.shop.name = shop
logger.shop.level = info
logger.shop.appenderRef.till.ref = till
logger.ours.name = io.sparkconfig
logger.ours.level = info
"""

pytestmark = [
    pytest.mark.spark,
    pytest.mark.timeout(1500),
    pytest.mark.skipif(SPARK not in RELEASES, reason="Delta and Iceberg have no release for this Spark"),
]


@dataclass(frozen=True)
class Order:
    """Who stands where in the confs that name plugins and session extensions."""

    plugins: str
    extensions: str

    @property
    def ours(self) -> bool:
        return "sparkconfig" in self.plugins


STOCK = Order("shop.Plugin", f"{DELTA},{ICEBERG}")
#: The plugin adds its extension by itself, behind the others.
LAST = Order("shop.Plugin,io.sparkconfig.ConfigPlugin", f"{DELTA},{ICEBERG}")
FIRST = Order("io.sparkconfig.ConfigPlugin,shop.Plugin", f"{OURS},{DELTA},{ICEBERG}")


@pytest.fixture(scope="module")
def jars(harness_run: Run) -> Iterator[list[Path]]:
    """Everybody's jars, and the user's classes compiled for this Spark."""
    with tempfile.TemporaryDirectory() as folder:
        yield [*released(harness_run), _user_jar(Path(folder))]


def released(run: Run) -> list[Path]:
    """The jars of their releases."""
    found = maven_jars(
        run, f"third-parties-{SPARK}", RELEASES[SPARK], cache=CACHE,
        without=["org.apache.spark:*", "org.scala-lang:*", "org.apache.hadoop:*", "org.apache.logging.log4j:*"],
    )  # fmt: skip
    if SPARK in MEASURE:
        name = "-".join(MEASURE[SPARK].split(":")[1:])
        found += maven_jars(run, name, [MEASURE[SPARK]], cache=CACHE, transitive=False)
    # Where Spark has a library itself, that one stays.
    spark = {_library(jar) for jar in (spark_home() / "jars").glob("*.jar")}
    return [jar for jar in found if _library(jar) not in spark]


def _library(jar: Path) -> str:
    return re.sub(r"-\d.*", "", jar.name)


def _user_jar(folder: Path) -> Path:
    source = folder / "Shop.scala"
    servlets = "javax.servlet" if SPARK.startswith("3.") else "jakarta.servlet"
    source.write_text((HERE / "Shop.scala").read_text().replace("SERVLET", servlets))
    compile_scala(source, folder / "classes")
    shutil.make_archive(str(folder / "shop"), "zip", folder / "classes")
    return folder / "shop.zip"


def lakehouses(folder: Path) -> dict[str, str]:
    """Confs of Delta, Iceberg and OpenLineage."""
    return {
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": str(folder / "ice"),
        "spark.openlineage.transport.type": "file",
        "spark.openlineage.transport.location": str(folder / "lineage"),
        "spark.sparkmeasure.outputFormat": "json",
        "spark.sparkmeasure.outputFilename": str(folder / "measures"),
    }


def found_by(run: Run, name: str, order: Order, jars: list[Path]) -> dict[str, Any]:
    """Run the job and return what it and everybody beside it found."""
    folder = run.private_dir(f"third-parties-{name}")
    conf = folder / "conf"
    conf.mkdir()
    (conf / "log4j2.properties").write_text(LOGGING)
    (folder / "secrets.properties").write_text("password=Canary-third-parties-4471\n")
    confs = {
        **QUIET,
        "spark.plugins": order.plugins,
        "spark.sql.extensions": order.extensions,
        "spark.extraListeners": LISTENERS,
        "spark.sql.queryExecutionListeners": "shop.Queries",
        "spark.ui.filters": "shop.Header",
        "spark.shop.Header.param.word": "hello",
        "spark.driver.extraClassPath": ":".join(map(str, [*([shim_jar()] if order.ours else []), *jars])),
        "spark.driver.extraJavaOptions": f"-Dshop.folder={folder} -Dderby.system.home={folder}",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        **lakehouses(folder),
    }
    if order.ours:
        confs |= {
            "spark.config.providers": "files",
            "spark.config.providers.files.class": "file",
            "spark.config.inplace.keys": "spark.shop.password",
            "spark.shop.password": f"${{files:{folder}/secrets.properties:password}}",
        }
    pairs = [part for key, text in confs.items() for part in ("--conf", f"{key}={text}")]
    command = [spark_home() / "bin" / "spark-submit", "--master", "local[2]", *pairs, HERE / "job.py", folder]
    child = run.start(f"third-parties-{name}", command, env=spark_environment(conf, folder / "local"))
    assert child.wait(timeout=500) == 0, child.output()[-4000:]
    if order.ours:
        assert "redacted by value" in child.output()
    outcome: dict[str, Any] = json.loads((folder / "found.json").read_text())
    return outcome


def recorded() -> Path:
    """What the run without sparkconfig found."""
    return HERE / f"stock-{SPARK}.json"


def lineage(events: list[str]) -> list[str]:
    """Each job with its inputs and outputs, and each facet: which of a job's events come differs in stock Spark too."""
    told = [json.loads(event) for event in events]
    jobs = {f"{name}: {sets}" for _, name, sets, _ in told}
    return sorted(jobs | {facet for *_, facets in told for facet in facets})


def differences(found: dict[str, Any]) -> list[str]:
    """Where this is not what was recorded: each finding, and of lists the elements that are on one side alone."""
    known = json.loads(recorded().read_text())
    lines = []
    for name in sorted(found.keys() | known.keys()):
        ours, stock = found.get(name), known.get(name)
        if name == "lineage":
            ours, stock = lineage(ours or []), lineage(stock or [])
        if ours == stock:
            continue
        if isinstance(ours, list) and isinstance(stock, list):
            lines += [f"{name}: only recorded: {each}" for each in stock if each not in ours]
            lines += [f"{name}: only now: {each}" for each in ours if each not in stock]
        else:
            lines.append(f"{name}: recorded {stock}, now {ours}")
    return lines


def test_without_sparkconfig(harness_run: Run, jars: list[Path]) -> None:
    found = found_by(harness_run, "stock", STOCK, jars)
    if os.environ["THIRD_PARTIES"] == "write":
        recorded().write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    assert differences(found) == []


def test_sparkconfig_last(harness_run: Run, jars: list[Path]) -> None:
    assert differences(found_by(harness_run, "last", LAST, jars)) == []


def test_sparkconfig_first(harness_run: Run, jars: list[Path]) -> None:
    assert differences(found_by(harness_run, "first", FIRST, jars)) == []
