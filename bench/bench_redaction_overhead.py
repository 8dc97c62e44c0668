"""What redaction costs a whole application, beside stock Spark.

    python bench/bench_redaction_overhead.py [--tasks 100000] [--values 100] [--runs 3] [--json FILE]

Each run starts an application of its own, stock and with sparkconfig by turns: one SQL job of many tiny tasks with
the event log and the UI on, then each page of the UI and the REST interface, then log lines through log4j2 into a
file. Printed are medians over the runs, and the ratio to stock. None of the values occurs, as in nearly every text.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import string
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from leaks.support import compile_scala, shim_jar

PROBE = Path(__file__).with_name("LogBench.scala")
FETCHES = 15
LOG_LINES = 300_000
LOG4J = """rootLogger.level=info
rootLogger.appenderRef.file.ref=file
appender.file.type=File
appender.file.name=file
appender.file.fileName={folder}/driver.log
appender.file.layout.type=PatternLayout
appender.file.layout.pattern=%d{{yy/MM/dd HH:mm:ss}} %p %c{{1}}: %m%n%ex
"""


def application(tasks: int, conf: dict[str, str]) -> dict[str, float]:
    """Run in a process of its own: one application, measured."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("bench")
    for key, value in conf.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    context = spark.sparkContext
    spark.range(0, 2000, 1, 2000).selectExpr("sum(id)").collect()  # the compiler's turn
    began = time.perf_counter()
    spark.range(0, tasks, 1, tasks).selectExpr("sum(id)").collect()
    context._jsc.sc().listenerBus().waitUntilEmpty()  # noqa: SLF001
    found = {f"{tasks} tasks, s": time.perf_counter() - began}
    ui = context.uiWebUrl
    rest = f"{ui}/api/v1/applications/{context.applicationId}"
    stages = json.loads(fetch(f"{rest}/stages")[1])
    stage = max(stages, key=lambda each: each["numTasks"])["stageId"]
    pages = {
        "jobs": f"{ui}/jobs/",
        "stages": f"{ui}/stages/",
        "stage": f"{ui}/stages/stage/?id={stage}&attempt=0",
        "environment": f"{ui}/environment/",
        "executors": f"{ui}/executors/",
        "SQL": f"{ui}/SQL/",
        "query": f"{ui}/SQL/execution/?id=1",
        "metrics": f"{ui}/metrics/json/",
        "REST stages": f"{rest}/stages",
        "REST 10,000 tasks": f"{rest}/stages/{stage}/0/taskList?length=10000",
        "REST environment": f"{rest}/environment",
    }
    for name, address in pages.items():
        times = [fetch(address)[0] for _ in range(FETCHES)]
        found[f"{name}, ms"] = statistics.median(times[3:]) * 1000
    log = context._jvm.bench.LogBench  # noqa: SLF001
    log.run(LOG_LINES)
    found[f"{LOG_LINES} log lines, s"] = log.run(LOG_LINES) / 1000
    spark.stop()
    return found


def fetch(address: str) -> tuple[float, bytes]:
    """Return seconds and the body."""
    began = time.perf_counter()
    with urllib.request.urlopen(address, timeout=120) as answer:
        body = answer.read()
    return time.perf_counter() - began, body


def confs(folder: Path, values: int | None, classes: Path) -> dict[str, str]:
    """Return the confs of a run; stock Spark without values."""
    (folder / "log4j2.properties").write_text(LOG4J.format(folder=folder))
    (folder / "events").mkdir()
    found = {
        "spark.driver.memory": "2g",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.port": "0",
        "spark.ui.showConsoleProgress": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (folder / "events").as_uri(),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={folder}/log4j2.properties",
        "spark.driver.extraClassPath": str(classes),
    }
    if values is not None:
        rng = random.Random(values)
        alphabet = string.ascii_letters + string.digits + "!@#$%^&*+/"
        secrets = folder / "secrets.properties"
        secrets.write_text(
            "".join(f"k{i}={''.join(rng.choices(alphabet, k=20))}\n" for i in range(values)), encoding="utf-8"
        )
        found["spark.driver.extraClassPath"] = f"{shim_jar()}:{classes}"
        found |= {
            "spark.plugins": "io.sparkconfig.ConfigPlugin",
            "spark.config.providers": "files",
            "spark.config.providers.files.class": "file",
        }
        found |= {f"spark.shop.k{i}": f"${{files:{secrets}:k{i}}}" for i in range(values)}
    return found


def run(tasks: int, values: int | None, classes: Path) -> dict[str, float]:
    """Start one application and return its measurements."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        order = json.dumps({"tasks": tasks, "conf": confs(folder, values, classes)})
        done = subprocess.run(
            [sys.executable, __file__, "--child"],
            input=order, capture_output=True, text=True, cwd=folder, check=False,
            env={**os.environ, "SPARK_LOCAL_DIRS": str(folder / "local"), "SPARK_LOCAL_IP": "127.0.0.1"},
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"the application failed:\n{done.stderr[-3000:]}")
        found: dict[str, float] = json.loads(done.stdout.rpartition("MEASURED ")[2])
        return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--values", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        order = json.load(sys.stdin)
        print("MEASURED", json.dumps(application(order["tasks"], order["conf"])))
        return
    kinds = {"stock": None, f"{args.values} values": args.values}
    measured: dict[str, list[dict[str, float]]] = {kind: [] for kind in kinds}
    with tempfile.TemporaryDirectory() as name:
        classes = Path(name)
        compile_scala(PROBE, classes)
        for number in range(args.runs):
            for kind, values in kinds.items():
                measured[kind].append(run(args.tasks, values, classes))
                print(f"run {number + 1} of {args.runs}, {kind}: {measured[kind][-1]}", file=sys.stderr)
    medians = {
        kind: {name: statistics.median(run[name] for run in runs) for name in runs[0]}
        for kind, runs in measured.items()
    }
    stock, ours = medians.values()
    width = max(map(len, stock))
    print(f"{'':{width}} {'stock':>10} {'redacted':>10} {'ratio':>7}   single runs, stock | redacted")
    for what, before in stock.items():
        singles = " | ".join(" ".join(f"{run[what]:.2f}" for run in measured[kind]) for kind in kinds)
        print(f"{what:{width}} {before:10.2f} {ours[what]:10.2f} {ours[what] / before:7.3f}   {singles}")
    if args.json:
        args.json.write_text(json.dumps(measured, indent=2) + "\n")


if __name__ == "__main__":
    main()
