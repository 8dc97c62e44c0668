"""What tasks on hosts see while executors come and go; argument: a folder, in whose files it and a test talk."""

from __future__ import annotations

import hashlib
import json
import operator
import os
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from pyspark.sql import SparkSession

folder = Path(sys.argv[1])
spark = SparkSession.builder.getOrCreate()
reference = str(spark.conf.get("spark.shop.password"))


def digest() -> str:
    """Of the newest password; it is printed too, into the executor's log, where it is masked."""
    from sparkconfig.worker import current

    value = current(reference).reveal()
    print("printed", value, file=sys.stderr, flush=True)
    return hashlib.sha256(value.encode()).hexdigest()


def write_down(name: str, *words: object) -> None:
    """Add a line to a file of the folder, whoever owns it."""
    with (folder / f"{name}-{os.getuid()}").open("a") as out:
        out.write(" ".join(map(str, words)) + "\n")


def wait_for(name: str) -> None:
    """Wait for a file of the test's."""
    while not (folder / name).exists():
        time.sleep(0.05)


def mapped(number: int, rows: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Rows for a shuffle, once each executor has a task: one that comes first would take both."""
    write_down("map", number, digest())
    while sum(len(path.read_text().splitlines()) for path in folder.glob("map-*")) < 2:
        time.sleep(0.05)
    return ((row % 2, row) for row in rows)


def reduced(rows: Iterable[tuple[int, int]]) -> Iterator[object]:
    """What a shuffle brought, and what is seen there."""
    yield [os.getuid(), digest(), *rows]


def watch(number: int, _: Iterable[int]) -> Iterator[int]:
    """Write down each change until the test ends it."""
    last = ""
    while not (folder / "stop").exists():
        found = digest()
        if found != last:
            write_down("watch", number, found)
            last = found
        time.sleep(0.2)
    yield number


context = spark.sparkContext
sums = context.parallelize(range(10), 2).mapPartitionsWithIndex(mapped).reduceByKey(operator.add, 2)
for name in ("first", "second"):
    if name == "second":
        wait_for("go")
    found = sums.mapPartitions(reduced).collect()
    (folder / f"{name}.part").write_text(json.dumps(found))
    (folder / f"{name}.part").rename(folder / f"{name}.json")
print("WATCHED", context.parallelize((0, 1), 2).mapPartitionsWithIndex(watch).collect(), flush=True)
spark.stop()
