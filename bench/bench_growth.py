"""How cost grows: a start, a use and a generation over 10 to 10,000 references, a rotation over 4 to 10,000 executors.

    python bench/bench_growth.py [--references 10,100,1000,10000] [--executors 4,100,1000,10000] [--json FILE]

References are confs of the application, all into one file. A start is the processor time of the driver's JVM and of the
side process until the session is there, minus what stock Spark takes with as many plain confs. A use is `current()` in
Scala, processor time of its thread. A generation is the time from the file's change until the driver has all new
values. Executors are simulated, as in bench_executors.py, and get 20 references.
"""

# ruff: noqa: SLF001, ANN401 - the measures are in the JVM, whose sessions have no types here
from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests"), str(HERE.parent / "python"), str(HERE)]

from bench_executors import write  # noqa: E402
from leaks.support import compile_scala  # noqa: E402
from sparkconfig._spark import driver  # noqa: E402
from support.session import running_session  # noqa: E402
from support.shim import shim_jar  # noqa: E402

ROTATIONS = 7
Line = dict[str, Any]


def cpu_seconds(pid: int) -> float:
    """Processor time of a process and those that it started."""
    process = psutil.Process(pid)
    family = [process, *process.children(recursive=True)]
    return sum(sum(each.cpu_times()[:2]) for each in family)


def session(classes: Path, folder: Path, shop: dict[str, str], *, plugin: bool) -> Any:
    """Start a session whose confs hold all of `shop`."""
    conf = {
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.jars": "",
        "spark.driver.extraClassPath": f"{classes}:{shim_jar()}",
        "spark.config.providers": "file",
        **shop,
    }
    return running_session(conf, folder=folder, plugin=plugin)


def references(count: int, classes: Path, folder: Path) -> dict[str, float]:
    """Measure with so many references."""
    values = folder / "s.properties"
    write(values, count, 0)
    spent = {}
    for plugin in (False, True):
        text = f"${{file:{values}:key%d}}" if plugin else "a plain value, as long as a reference, number %d"
        shop = {f"spark.shop.k{key}": text % key for key in range(count)}
        with session(classes, folder, shop, plugin=plugin) as spark:
            jvm = spark.sparkContext._jvm
            spent[plugin] = cpu_seconds(jvm.java.lang.ProcessHandle.current().pid())
            if not plugin:
                continue
            used = text % (count - 1)
            jvm.bench.UseBench.current(used, 20_000, 3)
            use = min(jvm.bench.UseBench.current(used, 5000, 7))
            took = []
            for number in range(1, ROTATIONS + 1):
                generation, began = driver.generation(), time.perf_counter()
                write(values, count, number)
                while driver.await_generation(generation, 10_000) == generation:
                    pass
                took.append((time.perf_counter() - began) * 1000)
    return {"start": spent[True] - spent[False], "use": use, "generation": statistics.median(took)}


def executors(count: int, folder: Path) -> dict[str, Any]:
    """Measure with so many executors."""
    told = folder / f"executors-{count}.json"
    subprocess.run(
        [sys.executable, str(HERE / "bench_executors.py"), "--executors", str(count), "--rotations", "3",
         *(["--idle", "30", "--stock"] if count >= 10_000 else ["--idle", "5"]), "--json", str(told)],
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(told.read_text())
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--references", default="10,100,1000,10000")
    parser.add_argument("--executors", default="4,100,1000,10000")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    sizes = [int(each) for each in options.references.split(",")]
    crowds = [int(each) for each in options.executors.split(",")]
    with tempfile.TemporaryDirectory() as name:
        classes = Path(name) / "classes"
        compile_scala(HERE / "UseBench.scala", classes)
        by_size = []
        for count in sizes:
            folder = Path(name) / str(count)
            folder.mkdir()
            by_size.append(references(count, classes, folder))
            print(
                f"{count:6} references: {by_size[-1]['start']:6.2f} s of processor time at the start,"
                f" {by_size[-1]['use']:6.2f} us a use, {by_size[-1]['generation']:7.1f} ms a generation",
                flush=True,
            )
        by_crowd = []
        for count in crowds:
            by_crowd.append(executors(count, Path(name)))
            last = statistics.median(by_crowd[-1]["last executor, ms"])
            share = by_crowd[-1]["idle share of a core"] * 100
            print(
                f"{count:6} executors: {share:5.2f} % of a core idle, {last:7.1f} ms to the last", flush=True
            )
    if options.json:
        lines: dict[str, Line] = {
            "a start": {"at": sizes, "of": "references", "unit": "s", "cost": [each["start"] for each in by_size]},
            "a use": {"at": sizes, "of": "references", "unit": "us", "cost": [each["use"] for each in by_size]},
            "a generation": {
                "at": sizes, "of": "references", "unit": "ms", "cost": [each["generation"] for each in by_size],
            },
            "a rotation until the last executor": {
                "at": crowds, "of": "executors", "unit": "ms",
                "cost": [statistics.median(each["last executor, ms"]) for each in by_crowd],
            },
        }  # fmt: skip
        told = {"lines": lines, "most executors": by_crowd[-1]}
        options.json.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
