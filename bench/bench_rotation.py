"""From a rotation at the source to its use: driver, executors, a running Python task; and what asking costs.

    python bench/bench_rotation.py [--rotations 50] [--poll 200ms]

Starts a standalone master with two workers of one core each and rotates a file by rename. Without ``--poll`` the
executors ask at the default interval of five seconds.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tests")]

from sparkconfig import driver  # noqa: E402
from support.cluster import SparkCluster  # noqa: E402
from support.processes import Run  # noqa: E402
from support.session import running_session  # noqa: E402
from support.shim import shim_jar  # noqa: E402


def write(path: Path, value: str) -> None:
    partial = path.with_suffix(".new")
    partial.write_text(f"password={value}\n")
    partial.replace(path)


def told(name: str, seconds: list[float]) -> None:
    ms = sorted(each * 1000 for each in seconds)
    print(
        f"{name:42} median {statistics.median(ms):8.1f} ms   worst {ms[-1]:8.1f} ms   n={len(ms)}", flush=True
    )


def arrivals(session: object, text: str, folder: Path, last: str) -> threading.Thread:
    """Two tasks that note the wall time at which each of them first sees each value."""

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
                time.sleep(0.001)
        yield 0

    tasks = session.sparkContext.parallelize(range(2), 2).mapPartitions(watch)
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rotations", type=int, default=50)
    parser.add_argument("--poll", default="5s")
    options = parser.parse_args()
    with Run() as run, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        secrets = folder / "s.properties"
        write(secrets, "v0")
        text = f"${{file:{secrets}:password}}"
        cluster = SparkCluster(run, workers=2)
        conf = {
            **cluster.security(),
            "spark.master": cluster.url,
            "spark.jars": str(shim_jar()),
            "spark.executor.memory": "600m",
            "spark.cores.max": "2",
            "spark.executor.cores": "1",
            "spark.config.providers": "file",
            "spark.config.poll.interval": options.poll,
            "spark.shop.password": text,
        }
        with running_session(conf, folder=folder, env={"PYSPARK_PYTHON": sys.executable}) as session:
            calls(session, text)
            last = f"v{options.rotations}"
            tasks = arrivals(session, text, folder, last)
            files = [folder / f"seen-{number}" for number in range(2)]
            while not all(file.exists() and file.read_text() for file in files):
                time.sleep(0.05)
            at_driver, written = [], {}
            for number in range(1, options.rotations + 1):
                generation = driver.generation()
                written[f"v{number}"] = time.time()
                write(secrets, f"v{number}")
                began = time.perf_counter()
                while driver.await_generation(generation, 10_000) == generation:
                    pass
                at_driver.append(time.perf_counter() - began)
                while not all(f"v{number} " in file.read_text() for file in files):
                    time.sleep(0.005)
            tasks.join()
            seen = [dict(line.split() for line in file.read_text().splitlines()) for file in files]
            print(f"poll interval {options.poll}")
            told("rotation -> driver's new generation", at_driver)
            each = [float(by[value]) - at for value, at in written.items() for by in seen]
            told("rotation -> a running Python task", each)
            slowest = [max(float(by[value]) for by in seen) - at for value, at in written.items()]
            told("rotation -> the last of two executors", slowest)


if __name__ == "__main__":
    main()
