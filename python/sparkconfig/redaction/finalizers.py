"""What a finalizer logs while its thread searches a text waits until the search has ended.

Python may run a finalizer in the middle of any function, and finalizers log; Py4J's do. In a thread that holds a stream
it would wait for the lock of a log's handler, whose owner waits for that stream. Nothing but finalizers and signal
handlers runs during a search.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

__all__ = ["MINE", "catch_up"]


class _Thread(threading.local):
    """One thread.

    Attributes:
        asking: whether it asks the JVM for values.
        searching: whether it searches a text. Set and put back in ``try`` and ``finally``: in a
            context manager's methods an interrupt could come between.
        logging: whether a handler of a log has a record of it, and so its lock.
        waiting: what is to be done afterwards.
    """

    def __init__(self) -> None:
        self.asking = False
        self.searching = False
        self.logging = False
        self.waiting: deque[Callable[[], object]] = deque()
        self.catching_up = False


#: So much of what comes while a thread catches up is done at once; a handler that makes a finalizer log each time would
#: never end.
_MORE = 10

#: This thread's.
MINE = _Thread()


def catch_up(mine: _Thread = MINE) -> None:
    """Do what waits, in its order, unless this thread is searching, logging or doing it already."""
    if not mine.waiting or mine.searching or mine.logging or mine.catching_up:
        return
    try:
        mine.catching_up = True
        for _ in range(len(mine.waiting) + _MORE):
            if not mine.waiting:
                break
            try:  # noqa: SIM105 - contextlib may be gone at the very end
                mine.waiting.popleft()()
            except Exception:  # noqa: BLE001, S110 - Python ignores errors of finalizers, too
                pass
    finally:
        mine.catching_up = False
