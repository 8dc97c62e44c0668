"""Entries per CPU second of ConfigTransformer and of KIP-269, and the memory that it takes.

    python bench/bench_transform.py [--scale 10]

Each case transforms a map of 10,000 entries (times the scale): without a reference, with 1,000 references into
one file, with 1,000 references into 100 files (Java properties, read at each run), and with 1,000 KIP-269
substitutions. The last column is the speed over what Kafka's Java classes reach on comparable hardware.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from sparkconfig import ConfigTransformer
from sparkconfig.providers.file import FileConfigProvider
from sparkconfig.substitution import SubstitutableValues, scanner

ENTRIES = 10_000
SPECIAL = 1_000
JAVA = {"no reference": 1.5e6, "1 file": 0.96e6, "100 files": 0.85e6, "KIP-269": 0.67e6}
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


def cpu_seconds(case: Case, least: float = 1.0) -> float:
    """CPU seconds of one run, the best of several rounds, user and system time of the whole process."""
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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", type=int, default=10, help="the second, larger size (default 10 times)")
    larger = parser.parse_args().scale
    header = f"{'case':14} {'entries':>9} {'entries/CPU s':>14} {'peak MB':>8} {'Java':>10} {'ratio':>6}"
    print(header)
    speeds: dict[tuple[str, int], float] = {}
    with tempfile.TemporaryDirectory() as root:
        for scale in (1, larger):
            for name, case in cases(Path(root), scale).items():
                speed = ENTRIES * scale / cpu_seconds(case)
                speeds[name, scale] = speed
                print(
                    f"{name:14} {ENTRIES * scale:9,d} {speed:14,.0f} {megabytes(case):8.1f}"
                    f" {JAVA[name]:10,.0f} {speed / JAVA[name]:6.2f}"
                )
    for name in JAVA:
        ratio = speeds[name, larger] / speeds[name, 1]
        print(f"{name}: {larger} times the entries at {ratio:.2f} of the speed (1.00: linear)")


if __name__ == "__main__":
    main()
