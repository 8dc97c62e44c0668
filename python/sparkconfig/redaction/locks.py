"""Locks whose holder is not disturbed: what a thread logs or prints while it holds one waits until it holds none.

Python may run a finalizer in the middle of any function, and finalizers log and print; Py4J's do. One that ran in a
thread which holds a stream would wait for the lock of a log's handler, whose owner waits for that stream.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable

__all__ = ["Undisturbed", "put_off"]


class _Thread(threading.local):
    """What one thread holds, and what waits until it holds nothing."""

    def __init__(self) -> None:
        self.held = 0
        self.waiting: deque[Callable[[], object]] = deque()


_mine = _Thread()
_all: weakref.WeakSet[Undisturbed] = weakref.WeakSet()


class Undisturbed:
    """A lock that its owner may take again; see the module. A forked process begins with a free one."""

    def __init__(self) -> None:
        # Bound here: Python flushes the streams after it has taken modules apart.
        self._mine = _mine
        self._lock = threading.RLock()
        _all.add(self)

    def __enter__(self) -> None:
        self._mine.held += 1
        try:
            self._lock.acquire()
        except BaseException:
            self._mine.held -= 1
            raise

    def __exit__(self, *_: object) -> None:
        mine = self._mine
        try:
            self._lock.release()
        finally:
            mine.held -= 1
        while not mine.held and mine.waiting:
            try:  # noqa: SIM105 - contextlib may be gone at the very end
                mine.waiting.popleft()()
            except Exception:  # noqa: BLE001, S110 - Python ignores errors of finalizers, too
                pass

    @property
    def busy(self) -> bool:
        """Whether this thread holds such a lock, this one or another."""
        return self._mine.held > 0

    def put_off(self, action: Callable[[], object]) -> None:
        """Do this as soon as this thread holds none; it holds one now."""
        self._mine.waiting.append(action)

    def renew(self) -> None:
        """Forget who holds it."""
        self._lock = threading.RLock()


def put_off(action: Callable[[], object]) -> bool:
    """Whether this thread holds such a lock; if so, the action is done as soon as it holds none."""
    if not _mine.held:
        return False
    _mine.waiting.append(action)
    return True


def _begin_anew() -> None:
    _mine.held = 0
    _mine.waiting.clear()
    for lock in _all:
        lock.renew()


os.register_at_fork(after_in_child=_begin_anew)
