"""How fast ``sparkconfig scrub --spark`` searches and cleans event logs on one and on two cores of one machine.

    python bench/bench_scrub_spark.py [--megabytes 32] [--files 8] [--json FILE]

The logs are those of ``bench_scrub.py``, zstd. Seconds are those of the job alone, on an executor that has run one job
before, and processor seconds are those of all its processes: the executor's JVM and its Python workers. What is not
measured: disks and networks, more than one machine, and more cores than it has.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

from bench_scrub import VALUE, make  # noqa: E402 - after the path
from sparkconfig.scrub.job import Job, application  # noqa: E402


def processor_seconds() -> float:
    """Of this process and all that it has started, as far as they still run."""
    own = psutil.Process()
    return sum(sum(each.cpu_times()[:2]) for each in (own, *own.children(recursive=True)))


def measured(folder: Path, cores: int, megabytes: int, files: int) -> dict[str, float]:
    logs = folder / f"logs-{cores}"
    logs.mkdir()
    for number in range(files):
        make(logs / f"app-{number}.zstd", megabytes)
    (folder / "store.properties").write_text(f"one={VALUE}\ntwo=bench-Other-99bb-77\n")
    confs = {
        "spark.master": f"local-cluster[1,{cores},1024]",
        "spark.executor.memory": "1g",
        "spark.authenticate": "true",
        "spark.authenticate.secret": secrets.token_hex(24),
        "spark.network.crypto.enabled": "true",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(folder / "local"),
        "spark.config.providers": "files",
        "spark.config.providers.files.class": "file",
    }
    wanted = {name: f"${{files:{folder}/store.properties:{name}}}" for name in ("one", "two")}
    total = megabytes * files * 1.048576
    result = {}
    with application(confs) as session:
        for what, by_shape in (("by value", False), ("by value and shape", True), ("clean", False)):
            job = Job(session, wanted, by_shape=by_shape)
            found = job.logs_in([str(logs)])
            if not result:
                job.find(found[:cores])
            used, began = processor_seconds(), time.monotonic()
            each = job.clean(found) if what == "clean" else job.find(found)
            seconds, used = time.monotonic() - began, processor_seconds() - used
            assert all(log.counts.values["one"] for log in each), "nothing was found"
            assert all(log.changed for log in each) == (what == "clean")
            result[f"MB/s, {what}"] = round(total / seconds, 1)
            result[f"MB a processor second, {what}"] = round(total / used, 1)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=32, help="of text a file (32)")
    parser.add_argument("--files", type=int, default=8, help="logs (8)")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--cores", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cores:
        with tempfile.TemporaryDirectory() as name:
            os.environ["SPARK_WORKER_DIR"] = f"{name}/work"
            print(json.dumps(measured(Path(name), options.cores, options.megabytes, options.files)))
        return
    result: dict[str, object] = {
        "load before": os.getloadavg()[0],
        "megabytes": options.megabytes * options.files,
    }
    for cores in (1, 2):
        # Each in a process of its own: a JVM belongs to one.
        words = ["--cores", str(cores), "--megabytes", str(options.megabytes), "--files", str(options.files)]
        done = subprocess.run(
            [sys.executable, __file__, *words], stdout=subprocess.PIPE, text=True, check=True
        )
        result[f"cores: {cores}"] = json.loads(done.stdout.splitlines()[-1])
    result["load after"] = os.getloadavg()[0]
    print(json.dumps(result, indent=2))
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
