"""Entries per CPU second of ConfigTransformer and of KIP-269, and the memory that it takes.

    python bench/bench_transform.py [--scale 10]

Each case transforms a map of 10,000 entries (times the scale): without a reference, with 1,000 references into
one file, with 1,000 references into 100 files (Java properties, read at each run), and with 1,000 KIP-269
substitutions, which Kafka does not have. Kafka's own ConfigTransformer does the same maps, compiled and run beside it.
"""

# ruff: noqa: E402
from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools" / "jars")]

from fetched import jars
from leaks.support import PYSPARK
from sparkconfig import ConfigTransformer
from sparkconfig.providers.file import FileConfigProvider
from sparkconfig.substitution import SubstitutableValues, scanner
from support.spark_home import java

ENTRIES = 10_000
SPECIAL = 1_000
CLIENTS = "3.9.2"
# By turns, since the speed of a machine that others share changes from one minute to the next.
ROUNDS = 3
Case = Callable[[], object]


def plain(count: int) -> dict[str, str]:
    return {
        f"spark.some.ordinary.key.{index}": f"an ordinary value, number {index}" for index in range(count)
    }


def file_case(root: Path, files: int, scale: int) -> Case:
    """1,000 references, spread evenly over ``files`` files that hold just these keys."""
    each = SPECIAL * scale // files
    configs = plain((ENTRIES - SPECIAL) * scale)
    for number in range(files):
        path = root / f"{files}-{number}.properties"
        path.write_text("".join(f"key{index}=secret-{number}-{index}\n" for index in range(each)))
        for index in range(each):
            configs[f"spark.secret.{number}.{index}"] = f"user=x;password=${{file:{path}:key{index}}}"
    provider = FileConfigProvider()
    provider.configure({})
    transformer = ConfigTransformer({"file": provider}, unresolved="fail")
    return lambda: transformer.transform(configs)


def substitution_case(scale: int) -> Case:
    """1,000 substitutions. Plans of texts are kept; each run forgets them first, and that is measured, too."""
    configs = plain((ENTRIES - SPECIAL) * scale) | {
        f"spark.secret.{index}": f"user=x;password=$[envVar/redact/=NAME_{index}]"
        for index in range(SPECIAL * scale)
    }
    environ = {f"NAME_{index}": "secret" for index in range(SPECIAL * scale)}

    def case() -> object:
        scanner._parse_cached.cache_clear()  # noqa: SLF001 - as at a start
        return SubstitutableValues(configs, environ=environ).substitute(configs)

    return case


def cases(root: Path, scale: int) -> dict[str, Case]:
    transformer = ConfigTransformer({}, unresolved="fail")
    ordinary = plain(ENTRIES * scale)
    return {
        "no reference": lambda: transformer.transform(ordinary),
        "1 file": file_case(root, 1, scale),
        "100 files": file_case(root, 100, scale),
        "KIP-269": substitution_case(scale),
    }


def cpu_seconds(case: Case, least: float = 0.4) -> float:
    """CPU seconds of one run, the best of several, user and system time of the whole process."""
    case()
    gc.collect()
    best = float("inf")
    spent = 0.0
    while spent < least:
        start = time.process_time()
        case()
        took = time.process_time() - start
        best = min(best, took)
        spent += took
    return best


def megabytes(case: Case) -> float:
    """The highest memory that one run holds at a time, its result included."""
    gc.collect()
    tracemalloc.start()
    result = case()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del result
    return peak / 1e6


class Kafka:
    """Kafka's classes, in a JVM of their own."""

    def __init__(self, folder: Path) -> None:
        clients = sorted(jars("kafka-clients", "org.apache.kafka", "kafka-clients", CLIENTS).glob("*.jar"))
        self._classpath = f"{folder}:{':'.join(map(str, clients))}:{PYSPARK / 'jars'}/*"
        command = [
            java(),
            "-Xss8m",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            self._classpath,
            "scala.tools.nsc.Main",
        ]
        source = Path(__file__).with_name("TransformBench.scala")
        subprocess.run([*command, "-usejavacp", "-d", str(folder), str(source)], check=True)
        self._folder = folder / "files"
        self._folder.mkdir()

    def speeds(self, scale: int) -> dict[str, float]:
        """Entries for each CPU second, by case."""
        command = [java(), "-Xmx2g", "-XX:+UseSerialGC", "-cp", self._classpath, "bench.TransformBench"]
        done = subprocess.run(
            [*command, str(self._folder), str(scale)],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", type=int, default=10, help="the second, larger size (default 10 times)")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    print(f"{'case':14} {'entries':>9} {'entries/CPU s':>14} {'peak MB':>8} {'Kafka':>10} {'ratio':>6}")
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as root:
        (Path(root) / "kafka").mkdir()
        kafka = Kafka(Path(root) / "kafka")
        for scale in (1, options.scale):
            ours = cases(Path(root), scale)
            speeds: dict[str, list[float]] = {name: [] for name in ours}
            peers: dict[str, list[float]] = {name: [] for name in ours}
            for _ in range(ROUNDS):
                for name, speed in kafka.speeds(scale).items():
                    peers[name].append(speed)
                for name, case in ours.items():
                    speeds[name].append(ENTRIES * scale / cpu_seconds(case))
            for name, case in ours.items():
                entry = {"ours": max(speeds[name]), "kafka": max(peers[name], default=0.0)}
                beside = ""
                if peers[name]:
                    ratios = sorted(each / peer for each, peer in zip(speeds[name], peers[name], strict=True))
                    entry |= {"least": ratios[0], "most": ratios[-1]}
                    ratio = entry["ours"] / entry["kafka"]
                    beside = f" {entry['kafka']:10,.0f} {ratio:6.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
                found[f"{name}, {ENTRIES * scale:,} entries"] = entry
                print(
                    f"{name:14} {ENTRIES * scale:9,d} {entry['ours']:14,.0f} {megabytes(case):8.1f}{beside}",
                    flush=True,
                )
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
