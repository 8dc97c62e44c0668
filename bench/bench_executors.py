"""What 10,000 executors cost a driver: simulated clients on Spark's real RPC, against the plugin's own endpoint.

    python bench/bench_executors.py [--executors 10000] [--references 20] [--rotations 3] [--idle 30] [--poll 5s]

Executors get what the driver pushes, and ask once a minute besides, or as seldom as the driver says. With ``--poll``
they only ask, at this interval. With ``--stock`` an application without the plugin is idle first, on the same cluster.

A driver with one real executor (authenticated and encrypted RPC) runs in a JVM of its own, the clients in another one
on the same machine. The file with all references is rotated by rename; the processor time is the driver JVM's.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tests")]

from leaks.support import PYSPARK, compile_scala, shim_jar  # noqa: E402
from sparkconfig._spark import driver  # noqa: E402
from support.cluster import SparkCluster  # noqa: E402
from support.processes import Run  # noqa: E402
from support.rotation import replace_file  # noqa: E402
from support.session import running_session  # noqa: E402
from support.spark_home import java  # noqa: E402

CLIENTS = Path(__file__).with_name("ExecutorLoad.scala")
# What spark-submit tells Java so that Spark runs on 17 and later.
OPENS = [
    f"--add-opens=java.base/{package}=ALL-UNNAMED"
    for package in (
        "java.lang",
        "java.nio",
        "sun.nio.ch",
        "java.util",
        "java.lang.invoke",
        "java.net",
        "java.io",
    )
]


def write(path: Path, references: int, number: int) -> None:
    replace_file(path, "".join(f"key{key}=value-of-generation-{number:06d}\n" for key in range(references)))


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def milliseconds(text: str) -> int:
    return int(text.removesuffix("ms")) if text.endswith("ms") else int(float(text.removesuffix("s")) * 1000)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--executors", type=int, default=10_000)
    parser.add_argument("--poll", help="no pushes: executors ask at this interval")
    parser.add_argument("--idle", type=float, default=30, help="seconds without a rotation, before the first")
    parser.add_argument("--stock", action="store_true", help="measure an idle driver without the plugin, too")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--references", type=int, default=20)
    parser.add_argument("--rotations", type=int, default=3)
    options = parser.parse_args()
    poll_ms = milliseconds(options.poll or "60s")
    with Run() as run, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cluster = SparkCluster(run, workers=1)
        values = folder / "s.properties"
        write(values, options.references, 0)
        (folder / "secret").touch(mode=0o600)
        (folder / "secret").write_text(cluster.auth_secret)
        compile_scala(CLIENTS, folder / "classes")
        stock = idle_stock(cluster, folder, options.idle) if options.stock else None
        conf = {
            **cluster.application(executors=1),
            "spark.jars": str(shim_jar()),
            "spark.config.providers": "file",
            "spark.config.poll.interval": options.poll or "5s",
            **{f"spark.shop.k{key}": f"${{file:{values}:key{key}}}" for key in range(options.references)},
        }
        with running_session(conf, folder=folder) as session:
            context = session.sparkContext
            pid = context._jvm.java.lang.ProcessHandle.current().pid()  # noqa: SLF001
            wait_s = poll_ms / 1000 * 1.25 + 2 if options.poll else 6.0
            # Until all have their first snapshot: they ask for it within 1.5 ms each.
            settle_s = max(wait_s + 3, options.executors * 0.003)
            seconds = int(wait_s * options.rotations + options.idle + settle_s) + 6
            clients = subprocess.Popen(
                [java(), "-Xmx1g", *OPENS, "-cp", f"{folder / 'classes'}:{shim_jar()}:{PYSPARK / 'jars'}/*",
                 "org.apache.spark.sparkconfig.bench.ExecutorLoad", "127.0.0.1",
                 context.getConf().get("spark.driver.port"), str(folder / "secret"), str(options.executors),
                 str(poll_ms), str(seconds), str(not options.poll).lower()],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            )  # fmt: skip
            time.sleep(settle_s)
            share = idle(pid, options.idle)
            rotated: dict[int, tuple[float, float]] = {}
            for number in range(1, options.rotations + 1):
                generation, at = driver.generation(), time.time() * 1000
                write(values, options.references, number)
                rotated[driver.await_generation(generation, 10_000)] = (at, time.time() * 1000)
                time.sleep(wait_s)
            out, _ = clients.communicate()
            report(options, json.loads(out.splitlines()[-1]), rotated, share, stock)


def idle_stock(cluster: SparkCluster, folder: Path, seconds: float) -> float:
    """The share of a core that a driver takes on the same cluster without the plugin, and without those executors."""
    (folder / "stock").mkdir()
    with running_session(cluster.application(executors=1), folder=folder / "stock", plugin=False) as session:
        pid = session.sparkContext._jvm.java.lang.ProcessHandle.current().pid()  # noqa: SLF001
        time.sleep(8)  # what a start leaves behind: compilations, first heartbeats
        return idle(pid, seconds)


def idle(pid: int, seconds: float) -> float:
    """A process's share of a core, the median of three parts of this time: a compilation or a collection is in one."""
    shares = []
    for _ in range(3):
        began, cpu = time.monotonic(), cpu_seconds(pid)
        time.sleep(seconds / 3)
        shares.append((cpu_seconds(pid) - cpu) / (time.monotonic() - began))
    return statistics.median(shares)


def report(
    options: argparse.Namespace,
    found: dict,
    rotated: dict[int, tuple[float, float]],
    share: float,
    stock: float | None,
) -> None:
    how = f"poll interval {options.poll}" if options.poll else "news are pushed"
    print(f"{options.executors} executors, {how}, {options.references} references")
    print(f"asks a second            {found['asks_per_second']:10.0f}   failed {found['failed']}")
    print(
        f"an ask                   median {found['median_ms']:.2f} ms   99 % {found['p99_ms']:.1f} ms"
        f"   worst {found['worst_ms']:.1f} ms   {found['unchanged_bytes']} bytes without news"
    )
    print(f"idle driver              {share * 100:10.1f} % of one core, its side process not counted")
    if stock is not None:
        print(f"without the plugin       {stock * 100:10.1f} % of one core, with one executor")
    last: list[float] = []
    for generation, (at, driver_at) in rotated.items():
        of = found["arrivals"][str(generation)]
        last.append(of["last"] - at)
        print(
            f"a rotation               driver {driver_at - at:.0f} ms"
            f"   first {of['first'] - at:.0f} ms   last {of['last'] - at:.0f} ms"
            f"   {of['count']} executors   {of['bytes']} bytes each, {of['bytes'] * of['count'] / 1e6:.1f} MB together"
        )
    if options.json:
        told = {
            "idle share of a core": share,
            "stock": stock,
            "last executor, ms": last,
            "failed": found["failed"],
        }
        options.json.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
