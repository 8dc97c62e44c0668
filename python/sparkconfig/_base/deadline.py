"""Calls with a deadline: a provider that hangs costs one daemon thread, never the caller."""

from __future__ import annotations

import queue
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from sparkconfig._base.record import Record
from sparkconfig._base.threads import daemon

__all__ = ["CallPool", "Outcome"]

T = TypeVar("T")


class Outcome(Record, Generic[T]):
    """What became of a call: ``value``, or ``error``; ``late`` says that the deadline passed."""

    value: T | None = None
    error: BaseException | None = None
    late: bool = False

    @classmethod
    def of(cls, call: Callable[[], T]) -> Outcome[T]:
        """Make the call here and now. What it raises is the caller's to classify: third-party code raises anything."""
        try:
            return cls(value=call())
        except Exception as error:  # noqa: BLE001
            return cls(error=error)


_Job = Callable[[], None]


class CallPool:
    """Runs calls on reused daemon threads, several at a time, each with its own deadline.

    Python cannot stop a thread, so a call that does not return keeps its thread until it does. At most
    ``width`` calls of one group (one provider) may be on the way, stuck ones included; further calls of
    the group are then late at once: a dead store costs no more than ``width`` threads, and other groups
    go on. Daemon threads do not hold up the end of the process.
    """

    def __init__(self, width: int = 8) -> None:
        self._width = width
        self._lock = threading.Lock()
        self._idle: list[queue.SimpleQueue[_Job | None]] = []
        self._busy: Counter[str] = Counter()
        self._closed = False

    def run(self, calls: Sequence[tuple[str, Callable[[], T]]], timeout: float) -> list[Outcome[T]]:
        """Run ``calls``, pairs of group and function; wait for all, ``timeout`` seconds at most for each."""
        outcomes: list[Outcome[T]] = [Outcome(late=True)] * len(calls)
        finished: queue.SimpleQueue[tuple[int, Outcome[T]]] = queue.SimpleQueue()
        waiting = deque(enumerate(calls))
        running: dict[int, float] = {}
        while waiting or running:
            while waiting and len(running) < self._width:
                index, (group, call) = waiting.popleft()
                if self._start(group, index, call, finished):
                    running[index] = time.monotonic() + timeout
            if not running:
                continue
            try:
                index, outcome = finished.get(timeout=max(0.0, min(running.values()) - time.monotonic()))
            except queue.Empty:
                now = time.monotonic()
                running = {index: deadline for index, deadline in running.items() if deadline > now}
                continue
            if running.pop(index, None) is not None:
                outcomes[index] = outcome
        return outcomes

    def close(self) -> None:
        """End the idle threads; those that are stuck end when their call returns."""
        with self._lock:
            self._closed = True
            for inbox in self._idle:
                inbox.put(None)
            self._idle.clear()

    def _start(
        self,
        group: str,
        index: int,
        call: Callable[[], T],
        finished: queue.SimpleQueue[tuple[int, Outcome[T]]],
    ) -> bool:
        def job() -> None:
            try:
                outcome = Outcome(value=call())
            except BaseException as error:  # noqa: BLE001 - handed to the caller
                outcome = Outcome(error=error)
            with self._lock:
                self._busy[group] -= 1
            finished.put((index, outcome))

        with self._lock:
            if self._busy[group] >= self._width:
                return False
            self._busy[group] += 1
            inbox = self._idle.pop() if self._idle else None
        if inbox is None:
            inbox = queue.SimpleQueue()
            daemon("call", self._serve, inbox).start()
        inbox.put(job)
        return True

    def _serve(self, inbox: queue.SimpleQueue[_Job | None]) -> None:
        while (job := inbox.get()) is not None:
            job()
            del job  # the closure holds a value; do not keep it while idle
            with self._lock:
                if self._closed:
                    return
                self._idle.append(inbox)
