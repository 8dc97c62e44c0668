"""How long something waited for a processor, as Linux counts it in /proc/pressure/cpu.

A bound of 100 ms is one of a machine that runs what is ready. Time in which something waited for a processor is counted
apart: a late read that is on time without it is late "on a busy machine", and the table shows how many there are.
"""

from __future__ import annotations

import bisect
import struct
import threading
import time
from pathlib import Path

_SAMPLE = struct.Struct(">qq")
_SOURCE = Path("/proc/pressure/cpu")
_EVERY = 0.02
_MOST = 1_000_000_000
"""Nanoseconds: on a machine on which something waits all the time, this is what is not counted at most."""


class PressureMeter:
    """Writes down every 20 ms how many nanoseconds so far something waited."""

    def __init__(self, file: Path) -> None:
        self._over = threading.Event()
        self._file = file
        self._thread = threading.Thread(target=self._measure, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def close(self) -> None:
        """End."""
        self._over.set()
        self._thread.join()

    def _measure(self) -> None:
        with self._file.open("ab") as out:
            while not self._over.wait(_EVERY) and _SOURCE.exists():
                some = _SOURCE.read_text().split("\n", 1)[0]
                out.write(_SAMPLE.pack(time.monotonic_ns(), int(some.rpartition("=")[2]) * 1000))


class Pressure:
    """What was written down."""

    def __init__(self, file: Path) -> None:
        content = file.read_bytes() if file.exists() else b""
        whole = len(content) - len(content) % _SAMPLE.size
        samples: list[tuple[int, int]] = [*_SAMPLE.iter_unpack(content[:whole])]
        self._moments = [moment for moment, _ in samples]
        self._waited = [waited for _, waited in samples]

    def waited(self, begin: int, end: int) -> int:
        """The nanoseconds in which something waited between two moments, at most a second."""
        if not self._moments or self._moments[-1] < begin:
            return 0
        first = max(0, bisect.bisect_right(self._moments, begin) - 1)
        last = min(len(self._moments) - 1, bisect.bisect_left(self._moments, end))
        return min(self._waited[last] - self._waited[first], _MOST)

    @property
    def share(self) -> float:
        """The part of the time in which something waited."""
        if len(self._moments) < 2:
            return 0.0
        return (self._waited[-1] - self._waited[0]) / (self._moments[-1] - self._moments[0])
