"""From a rotation at the source to its use: driver, executors, a running Python task; and what asking costs.

    python bench/bench_rotation.py [--rotations 50] [--poll 200ms] [--costs]

Starts a standalone master with two workers of two cores each, so four executors of one core, and rotates a file by
rename, at random moments between the executors' questions. Without ``--poll`` these come at the default interval of
five seconds. ``--costs`` measures only what a task and a call cost.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tests")]

from sparkconfig._spark import driver  # noqa: E402
from support.cluster import SparkCluster  # noqa: E402
from support.processes import Run  # noqa: E402
from support.session import running_session  # noqa: E402
from support.shim import shim_jar  # noqa: E402

EXECUTORS = 4


def write(path: Path, value: str) -> None:
    partial = path.with_suffix(".new")
    partial.write_text(f"password={value}\n")
    partial.replace(path)


TOLD: dict[str, list[float]] = {}


def told(name: str, seconds: list[float]) -> None:
    ms = sorted(each * 1000 for each in seconds)
    TOLD[name] = ms
    print(
        f"{name:42} median {statistics.median(ms):8.1f} ms   worst {ms[-1]:8.1f} ms   n={len(ms)}", flush=True
    )


def arrivals(session: object, text: str, folder: Path, last: str) -> threading.Thread:
    """Tasks that note the wall time at which each of them first sees each value."""

    def watch(numbers: Iterator[int]) -> Iterator[int]:
        from sparkconfig.worker import current

        (number,) = numbers
        with (folder / f"seen-{number}").open("w") as out:
            seen = ""
            while seen != last:
                value = current(text).reveal()
                if value != seen:
                    out.write(f"{value} {time.time()}\n")
                    out.flush()
                    seen = value
                time.sleep(0.002)
        yield 0

    tasks = session.sparkContext.parallelize(range(EXECUTORS), EXECUTORS).mapPartitions(watch)
    thread = threading.Thread(target=tasks.collect)
    thread.start()
    return thread


def calls(session: object, text: str) -> None:
    def measure(_rows: Iterator[int]) -> Iterator[float]:
        from sparkconfig.worker import current

        current(text)
        best = float("inf")
        for _ in range(5):
            began = time.perf_counter()
            for _ in range(200_000):
                current(text)
            best = min(best, (time.perf_counter() - began) / 200_000)
        yield best

    (best,) = session.sparkContext.parallelize([0], 1).mapPartitions(measure).collect()
    print(f"{'worker.current(), nothing changed':42} {best * 1e6:8.2f} us", flush=True)
    began = time.perf_counter()
    for _ in range(200):
        driver.current(text)
    print(f"{'driver: current()':42} {(time.perf_counter() - began) / 200 * 1e6:8.0f} us", flush=True)


def tasks(session: object, plugin: str) -> float:
    """Seconds of one empty Python task, the best of some jobs."""
    count, best = 200, float("inf")
    for _ in range(3):
        began = time.perf_counter()
        session.sparkContext.parallelize(range(count), count).count()
        best = min(best, (time.perf_counter() - began) / count)
    print(f"{'an empty Python task, ' + plugin:42} {best * 1e3:8.2f} ms", flush=True)
    return best


def costs(conf: dict[str, str], folder: Path, text: str) -> None:
    plain = {key: each for key, each in conf.items() if not key.startswith(("spark.config.", "spark.shop."))}
    env = {"PYSPARK_PYTHON": sys.executable}
    found: dict[bool, list[float]] = {True: [], False: []}
    for turn in range(4):
        on = turn % 2 == 1
        with running_session(conf if on else plain, folder=folder, env=env, plugin=on) as session:
            found[on].append(tasks(session, "with the plugin" if on else "without"))
            if turn == 1:
                calls(session, text)
    more = min(found[True]) - min(found[False])
    print(f"{'the plugin, for each task':42} {more * 1e6:8.0f} us", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rotations", type=int, default=50)
    parser.add_argument("--poll", default="5s")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--costs", action="store_true")
    options = parser.parse_args()
    with Run() as run, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        secrets = folder / "s.properties"
        write(secrets, "v0")
        text = f"${{file:{secrets}:password}}"
        cluster = SparkCluster(run, workers=2, cores=2, memory="1400m")
        conf = {
            **cluster.application(executors=EXECUTORS),
            "spark.jars": str(shim_jar()),
            "spark.config.providers": "file",
            "spark.config.poll.interval": options.poll,
            "spark.shop.password": text,
        }
        if options.costs:
            costs(conf, folder, text)
            return
        with running_session(conf, folder=folder, env={"PYSPARK_PYTHON": sys.executable}) as session:
            rotations(session, secrets, text, options)
    if options.json:
        options.json.write_text(json.dumps(TOLD) + "\n")


def rotations(session: object, secrets: Path, text: str, options: argparse.Namespace) -> None:
    poll_s = (
        float(options.poll.removesuffix("ms")) / 1000
        if options.poll.endswith("ms")
        else float(options.poll[:-1])
    )
    folder = secrets.parent
    running = arrivals(session, text, folder, f"v{options.rotations}")
    files = [folder / f"seen-{number}" for number in range(EXECUTORS)]
    while not all(file.exists() and file.read_text() for file in files):
        time.sleep(0.05)
    at_driver, in_use, written = [], [], {}
    for number in range(1, options.rotations + 1):
        value = f"v{number}"
        time.sleep(random.random() * poll_s)  # else each would begin right after a question
        generation = driver.generation()
        written[value] = time.time()
        began = time.perf_counter()
        write(secrets, value)
        if number % 2:
            while driver.current(text).reveal() != value:
                pass
            in_use.append(time.perf_counter() - began)
        else:
            while driver.await_generation(generation, 10_000) == generation:
                pass
            at_driver.append(time.perf_counter() - began)
        while not all(f"{value} " in file.read_text() for file in files):
            time.sleep(0.005)
    running.join()
    seen = [dict(line.split() for line in file.read_text().splitlines()) for file in files]
    print(f"poll interval {options.poll}")
    told("rotation -> the driver's next use", in_use)
    told("rotation -> driver's new generation", at_driver)
    each = [float(by[value]) - at for value, at in written.items() for by in seen]
    told("rotation -> a running Python task", each)
    slowest = [max(float(by[value]) for by in seen) - at for value, at in written.items()]
    told(f"rotation -> the last of {EXECUTORS} executors", slowest)


if __name__ == "__main__":
    main()
