"""What redaction costs a whole application, beside stock Spark.

    python bench/bench_redaction_overhead.py [--tasks 20000] [--values 100] [--rounds 10] [--json FILE]

Both applications, stock Spark and Spark with sparkconfig, live at the same time and work by turns, so that both meet
the same moods of the machine: in each round an SQL job of many tiny tasks with the event log and the UI on, in the end
each page of the UI and the REST interface, then log lines through log4j2 into a file, of level INFO and of level WARN.
It prints medians, and the median ratio of a round to the round of stock just before or after it. CPU counts the
driver's JVM, executor included. None of the values occurs, as in nearly every text.

Two JVMs differ by a tenth in what they compile well, which is more than a task costs with us. So Java's flight recorder
looks at the threads of ours while the same jobs run, and the row `by samples` compares all samples with those in which
no frame is ours. What we call counts as ours, so that row shows too much rather than too little; memory does not count.
"""

# ruff: noqa: SLF001, ANN401 - the measures are in the JVM, whose objects have no types here
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
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from leaks.support import compile_scala, shim_jar

PROBE = Path(__file__).with_name("LogBench.scala")
# Of each page; the first half warms the JVM up, which goes on compiling for the first 500.
FETCHES = 1000
# Rounds: of jobs the JVM still compiled for a tenth of its time after eight of them with 2,000 tasks.
WARM_UP = 4
JOB_WARM_UP = 12
# A job that is sampled is so much longer: of one with 1,000 tasks there are 30 samples.
SAMPLED = 5
KINDS = ("stock", "redacted")
WIDTH = 28
LOG_LINES = 300_000
LOG4J = """rootLogger.level=info
rootLogger.appenderRef.file.ref=file
appender.file.type=File
appender.file.name=file
appender.file.fileName={folder}/driver.log
appender.file.layout.type=PatternLayout
appender.file.layout.pattern=%d{{yy/MM/dd HH:mm:ss}} %p %c{{1}}: %m%n%ex
"""


class Application:
    """A process of its own with one application, which works when it is told to."""

    def __init__(self, kind: str, folder: Path, conf: dict[str, str]) -> None:
        self.kind = kind
        self._log = (folder / "process.log").open("w+")
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--child"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True, cwd=folder,
            env={**os.environ, "SPARK_LOCAL_DIRS": str(folder / "local"), "SPARK_LOCAL_IP": "127.0.0.1"},
        )  # fmt: skip
        self.ask(conf)

    def ask(self, order: Any) -> Any:
        """Hand over an order, wait, and return the answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        for line in self._process.stdout:
            if line.startswith("MEASURED "):
                return json.loads(line.removeprefix("MEASURED "))
        self._log.seek(0)
        raise SystemExit(f"the application failed:\n{self._log.read()[-3000:]}")

    def end(self) -> None:
        """Stop the application."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(600)


def child() -> None:
    """Be the process behind `Application`: obey one line after the other."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("bench")
    for key, value in json.loads(sys.stdin.readline()).items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    context = spark.sparkContext
    jvm = context._jvm
    pid = jvm.java.lang.ProcessHandle.current().pid()
    log = jvm.bench.LogBench

    def job(tasks: int) -> tuple[float, float]:
        began, cpu = time.perf_counter(), cpu_seconds(pid)
        spark.range(0, tasks, 1, tasks).selectExpr("sum(id)").collect()
        context._jsc.sc().listenerBus().waitUntilEmpty()
        return time.perf_counter() - began, cpu_seconds(pid) - cpu

    def pages() -> dict[str, str]:
        ui = context.uiWebUrl
        rest = f"{ui}/api/v1/applications/{context.applicationId}"
        stages = json.loads(fetch(f"{rest}/stages")[1])
        stage = max(stages, key=lambda each: each["numTasks"])["stageId"]
        return {
            "jobs": f"{ui}/jobs/",
            "stage": f"{ui}/stages/stage/?id={stage}&attempt=0",
            "environment": f"{ui}/environment/",
            "metrics": f"{ui}/metrics/json/",
            "REST tasks": f"{rest}/stages/{stage}/0/taskList?length=10000",
            "REST environment": f"{rest}/environment",
        }

    def lines(number: int, level: str) -> tuple[float, float]:
        cpu = cpu_seconds(pid)
        return log.run(number, level == "WARN") / 1000, cpu_seconds(pid) - cpu

    def samples(tasks: int) -> tuple[int, int]:
        recording = jvm.jdk.jfr.Recording(jvm.jdk.jfr.Configuration.getConfiguration("profile"))
        recording.start()
        job(tasks)
        recording.stop()
        with tempfile.NamedTemporaryFile(suffix=".jfr") as file:
            recording.dump(jvm.java.nio.file.Path.of(file.name, context._gateway.new_array(jvm.String, 0)))
            recording.close()
            return sampled(Path(file.name))

    orders = {"job": job, "pages": pages, "lines": lines, "samples": samples}
    print("MEASURED", json.dumps("ready"), flush=True)
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        print("MEASURED", json.dumps(orders[name](*arguments)), flush=True)
    spark.stop()


def sampled(recording: Path) -> tuple[int, int]:
    """Count the samples of a flight recording in which no frame is ours, and all of them."""
    jfr = Path(os.environ["JAVA_HOME"]) / "bin" / "jfr" if "JAVA_HOME" in os.environ else "jfr"
    printed = subprocess.run(
        [jfr, "print", "--stack-depth", "64", "--events", "jdk.ExecutionSample", recording],
        stdout=subprocess.PIPE, text=True, check=True,
    ).stdout  # fmt: skip
    stacks = printed.split("jdk.ExecutionSample {")[1:]
    return sum("sparkconfig" not in each for each in stacks), len(stacks)


def cpu_seconds(pid: int) -> float:
    """User and system time of a process so far: its clock on Linux, where /proc counts hundredths of a second."""
    return time.clock_gettime(~pid << 3 | 2)


def fetch(address: str) -> tuple[float, bytes]:
    """Return seconds and the body."""
    began = time.perf_counter()
    with urllib.request.urlopen(address, timeout=120) as answer:
        body = answer.read()
    return time.perf_counter() - began, body


def confs(folder: Path, values: int, classes: Path, *, stock: bool) -> dict[str, str]:
    """Return the confs of a run; on stock Spark the references are texts, in as many rows of the pages."""
    (folder / "log4j2.properties").write_text(LOG4J.format(folder=folder))
    (folder / "events").mkdir()
    found = {
        "spark.driver.memory": "6g",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.port": "0",
        "spark.ui.showConsoleProgress": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (folder / "events").as_uri(),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={folder}/log4j2.properties",
        "spark.driver.extraClassPath": str(classes),
    }
    secrets = folder / "secrets.properties"
    found |= {f"spark.shop.k{i}": f"${{files:{secrets}:k{i}}}" for i in range(values)}
    if not stock:
        rng = random.Random(values)
        alphabet = string.ascii_letters + string.digits + "!@#$%^&*+/"
        secrets.write_text(
            "".join(f"k{i}={''.join(rng.choices(alphabet, k=20))}\n" for i in range(values)), encoding="utf-8"
        )
        found |= {
            "spark.driver.extraClassPath": f"{shim_jar()}:{classes}",
            "spark.plugins": "io.sparkconfig.ConfigPlugin",
            "spark.config.providers": "files",
            "spark.config.providers.files.class": "file",
        }
    return found


def start(folder: Path, kind: str, values: int, classes: Path) -> Application:
    """Start an application of this kind, with files of its own."""
    folder.mkdir()
    return Application(kind, folder, confs(folder, values, classes, stock=kind == "stock"))


def by_turns(
    applications: list[Application], rounds: int, measure: Callable[[Application], Any]
) -> list[Any]:
    """Return what each application gave in each round; who begins changes."""
    found: dict[str, list[Any]] = {each.kind: [] for each in applications}
    for number in range(rounds):
        for each in applications if number % 2 else applications[::-1]:
            found[each.kind].append(measure(each))
    return list(found.values())


def report(what: str, stock: list[float], ours: list[float]) -> None:
    ratios = sorted(after / before for before, after in zip(stock, ours, strict=True))
    quarter = len(ratios) // 4
    print(
        f"{what:{WIDTH}} {statistics.median(stock):10.2f} {statistics.median(ours):10.2f} "
        f"{statistics.median(ratios):7.3f}   {ratios[quarter]:.3f} to {ratios[-1 - quarter]:.3f}",
        flush=True,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", type=int, default=20_000, help="of each application in all rounds")
    parser.add_argument("--values", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        child()
        return
    measured: dict[str, list[list[float]]] = {}
    tasks = args.tasks // args.rounds

    def note(what: str, stock: Iterable[float], ours: Iterable[float]) -> None:
        measured[what] = [list(stock), list(ours)]
        report(what, *measured[what])

    with tempfile.TemporaryDirectory() as name, ExitStack() as running:
        classes = Path(name) / "classes"
        classes.mkdir()
        compile_scala(PROBE, classes)
        print(f"{'':{WIDTH}} {'stock':>10} {'redacted':>10} {'ratio':>7}   middle half of the ratios")
        both = [start(Path(name) / kind, kind, args.values, classes) for kind in KINDS]
        for each in both:
            running.callback(each.end)
        by_turns(both, JOB_WARM_UP, lambda each: each.ask(("job", tasks)))
        jobs = by_turns(both, args.rounds, lambda each: each.ask(("job", tasks)))
        for column, unit in enumerate(("wall", "CPU")):
            note(f"{tasks} tasks, {unit} s", *([took[column] for took in side] for side in jobs))
        # Stock works as much, since the pages list all jobs.
        samples = by_turns(both, args.rounds * 2, lambda each: each.ask(("samples", SAMPLED * tasks)))[-1]
        note(f"{tasks} tasks, by samples", *zip(*samples[WARM_UP:], strict=True))
        addresses = {each.kind: each.ask(("pages",)) for each in both}
        for page in addresses["stock"]:
            pair = by_turns(
                both, FETCHES, lambda each, page=page: fetch(addresses[each.kind][page])[0] * 1000
            )
            note(f"{page}, ms", *(side[FETCHES // 2 :] for side in pair))
        levels = {"INFO": "log lines", "WARN": "warnings"}
        # In turns too: the code for one level is compiled anew when the other comes for the first time.
        rounds = by_turns(
            both, WARM_UP + 8, lambda each: [each.ask(("lines", LOG_LINES, level)) for level in levels]
        )
        stock, ours = (side[WARM_UP:] for side in rounds)
        for row, what in enumerate(levels.values()):
            for column, unit in enumerate(("wall", "CPU")):
                note(
                    f"{LOG_LINES} {what}, {unit} s",
                    *([pair[row][column] for pair in side] for side in (stock, ours)),
                )
        if args.json:
            args.json.write_text(json.dumps(measured, indent=2) + "\n")


if __name__ == "__main__":
    main()
