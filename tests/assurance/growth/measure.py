"""What an application holds at a moment, and how that grows."""

from __future__ import annotations

import contextlib
import itertools
import statistics
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

Sample = dict[str, float]


def heap(jvm: Any) -> float:
    """Bytes that garbage collections of a driver's JVM leave, the least of a few: Spark's cleaners take their time."""
    memory = jvm.java.lang.management.ManagementFactory.getMemoryMXBean()
    found = []
    for _ in range(8):
        jvm.java.lang.System.gc()
        found.append(memory.getHeapMemoryUsage().getUsed())
    return float(min(found))


def side_process(driver: int) -> psutil.Process | None:
    """The side process of a driver's JVM, whose other Python processes are PySpark's workers."""
    for child in psutil.Process(driver).children():
        with contextlib.suppress(psutil.Error):
            words = child.cmdline()
            if "python" in words[0] and not any("pyspark" in word for word in words):
                return child
    return None


def sample(jvm: Any, folders: Sequence[Path]) -> Sample:
    """Return what the driver's two processes and its side process hold, and the files in these folders."""
    process = psutil.Process(jvm.java.lang.ProcessHandle.current().pid())
    side = side_process(process.pid)
    python = psutil.Process()
    found = {
        "heap": heap(jvm),
        "threads": process.num_threads(),
        "descriptors": process.num_fds(),
        "Python's descriptors": python.num_fds(),
        "Python's memory": python.memory_info().rss,
        "files": files(folders),
    }
    if side:
        found |= {"side process": side.memory_info().rss, "its descriptors": side.num_fds()}
    return {name: float(number) for name, number in found.items()}


def files(folders: Sequence[Path]) -> int:
    """How many files and folders there are in these folders."""
    return sum(1 for folder in folders for _ in folder.rglob("*"))


def slopes(samples: Mapping[int, Sample], since: float = 0.34) -> Iterator[tuple[str, float]]:
    """Return how much of each measure a unit adds: the median of the slopes of all pairs (Theil and Sen).

    Args:
        samples: by how many units there had been.
        since: the share of the units that warms up.
    """
    last = max(samples)
    late = {at: each for at, each in samples.items() if at >= since * last}
    for name in samples[last]:
        points = [(at, each[name]) for at, each in late.items() if name in each]
        pairs = [
            (right[1] - left[1]) / (right[0] - left[0]) for left, right in itertools.combinations(points, 2)
        ]
        if pairs:
            yield name, statistics.median(pairs)
