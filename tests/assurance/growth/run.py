"""What grows: ``make growth``.

    PYTHONPATH=tests:tests/assurance python -m growth.run [--size 0.01] [--write] [SCENARIO ...]

Applications do the same again and again: rotations, queries with distinct options, Connect sessions, starts and stops
(in two processes at once), workers after the folder for temporary files was wiped, drivers that are killed. Between,
what they hold is counted: the heap after garbage collections, threads and descriptors of the driver's JVM; memory and
descriptors of the driver's Python and of the side process; files in the private and temporary folders. What a unit adds
to each is printed, beside stock Spark. Exit code 1: more than its bound.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyspark

import record
from growth import measure
from growth.scenarios import SCENARIOS, Place, victim
from support.processes import HarnessError, Run
from support.shim import shim_jar

Samples = Mapping[int, measure.Sample]
TESTS = Path(__file__).resolve().parents[2]
#: How many units make a whole run.
COUNTS = {"rotations": 10_000, "queries": 20_000, "sessions": 200, "starts": 100, "wipes": 50, "kills": 10}
#: Only with sparkconfig.
OURS_ALONE = ("rotations",)
SAMPLES = 12
#: How much more than stock Spark a whole run may add: what a garbage collector or an allocator leaves by chance.
MEMORY, NUMBER = 3_000_000, 5
BOUNDS = {
    "heap": MEMORY, "side process": MEMORY, "Python's memory": MEMORY, "descriptors": NUMBER, "its descriptors": NUMBER,
    "Python's descriptors": NUMBER, "files": NUMBER, "threads": 20, "milliseconds": 20,
}  # fmt: skip
#: Where a unit takes as long as any other of its kind, so that its time tells something.
TIMED = ("rotations", "queries")


def child(given: argparse.Namespace) -> None:
    """Run a scenario in this process, and write what was counted."""
    place = Place(given.folder, given.plugin == 1, given.size)
    count = max(SAMPLES, round(COUNTS[given.child] * given.size))
    samples: dict[int, measure.Sample] = {}
    with SCENARIOS[given.child](place) as (jvm, advance):
        for number in range(SAMPLES + 1):
            at = count * number // SAMPLES
            began, more = time.monotonic(), at - max(samples, default=0)
            advance(more)
            took = 1000 * (time.monotonic() - began)
            samples[at] = measure.sample(jvm, place.watched)
            if more and given.child in TIMED:
                samples[at]["milliseconds"] = took / more
            print(given.child, place.plugin, at, samples[at], flush=True)
    given.json.write_text(json.dumps(samples))


def look(run: Run, name: str, size: float, *, plugin: bool) -> dict[int, measure.Sample]:
    """Run a scenario in a process of its own, the starts in two at once."""
    title = f"{name}-{'ours' if plugin else 'stock'}"
    folder = run.private_dir(title)
    temporary = run.private_dir(f"{title}-tmp")
    env = {
        "PYTHONPATH": f"{TESTS}:{TESTS}/assurance", "TMPDIR": str(temporary), "XDG_RUNTIME_DIR": str(temporary),
        "SPARKCONFIG_TEST_JAR": str(shim_jar()), "PYSPARK_PYTHON": sys.executable,
    }  # fmt: skip
    began = []
    for number in range(2 if name == "starts" else 1):
        own = folder / str(number)
        own.mkdir()
        command = [
            sys.executable, "-m", "growth.run", "--child", name, "--plugin", str(int(plugin)), "--size", str(size),
            "--folder", own, "--json", own / "samples.json",
        ]  # fmt: skip
        began.append(run.start(f"{title}-{number}", command, env=env, cwd=own))
    for each in began:
        if each.wait(7200):
            raise HarnessError(f"{title} failed:\n{each.output()[-3000:]}")
    found = json.loads((folder / "0" / "samples.json").read_text())
    return {int(at): sample for at, sample in found.items()}


def rows(name: str, ours: Samples, stock: Samples | None) -> Iterator[dict[str, Any]]:
    """What is told of a scenario: each measure that it has, with its bound."""
    count = max(ours)
    beside = dict(measure.slopes(stock)) if stock else {}
    for what, slope in measure.slopes(ours):
        # A stock Spark that shrinks is none to be measured by.
        bound = max(0.0, beside.get(what, 0.0)) + BOUNDS[what] / count
        yield {
            "what": what, "per": name, "count": count, "ours": slope, "stock": beside.get(what), "bound": bound,
            "within": slope <= bound,
        }  # fmt: skip


def keep(mine: Sequence[Mapping[str, Any]], size: float) -> None:
    """Keep what was found of a scenario, instead of what an earlier run found of it."""
    names = {row["per"] for row in mine}
    others = [row for row in (record.read("growth") or {"rows": []})["rows"] if row["per"] not in names]
    found = sorted([*others, *mine], key=lambda row: list(COUNTS).index(row["per"]))
    record.write("growth", {**record.stamp(), "spark": pyspark.__version__, "size": size, "rows": found})


def show(found: Sequence[Mapping[str, Any]]) -> None:
    """Print the table."""
    print(f"{'a unit adds':24}{'units':>18}{'sparkconfig':>14}{'stock':>14}{'bound':>14}")
    for row in found:
        stock = "" if row["stock"] is None else f"{row['stock']:,.3f}"
        units = f"{row['count']:,} {row['per']}"
        told = "" if row["within"] else "  ABOVE"
        print(
            f"{row['what']:24}{units:>18}{row['ours']:14,.3f}{stock:>14}{row['bound']:14,.3f}{told}",
            flush=True,
        )


def main() -> int:
    """Run the scenarios; 1 if something grows."""
    parser = argparse.ArgumentParser(prog="make growth", description=__doc__)
    parser.add_argument("--size", type=float, default=1.0, help="a share of the whole run, to try it")
    parser.add_argument("--write", action="store_true", help="keep the numbers for docs/assurance.md")
    parser.add_argument("--logs", type=Path, help="where what the applications wrote is kept")
    for hidden, kind in (("--child", str), ("--folder", Path), ("--json", Path), ("--plugin", int)):
        parser.add_argument(hidden, type=kind, help=argparse.SUPPRESS)
    parser.add_argument("scenarios", nargs="*", help=", ".join(COUNTS))
    given = parser.parse_args()
    if given.child == "victim":
        victim(Place(given.folder, given.plugin == 1, given.size))
    elif given.child:
        child(given)
    if given.child:
        return 0
    began, right = time.monotonic(), True
    with Run(keep_logs=given.logs) as run, ThreadPoolExecutor(2) as pool:
        looks = {
            (name, plugin): pool.submit(look, run, name, given.size, plugin=plugin)
            for name in given.scenarios or COUNTS
            for plugin in (True, False)
            if plugin or name not in OURS_ALONE
        }
        for (name, plugin), ours in looks.items():
            if plugin:
                stock = looks.get((name, False))
                mine = list(rows(name, ours.result(), stock and stock.result()))
                show(mine)
                right &= all(row["within"] for row in mine)
                if given.write:
                    keep(mine, given.size)
    print(f"{(time.monotonic() - began) / 60:.1f} minutes")
    return int(not right)


if __name__ == "__main__":
    sys.exit(main())
