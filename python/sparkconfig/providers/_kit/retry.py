"""Attempts with a limit and a deadline: the same for every store, so that one page describes them."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from sparkconfig.errors import ProviderUnavailableError

__all__ = ["Attempts"]

_Answer = TypeVar("_Answer")
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 2.0


class Attempts:
    """Repeats what failed because the store was unreachable or busy, and nothing else.

    "Not there" and "not allowed" come back at once: asking again changes neither, and stores lock accounts.
    """

    def __init__(self, limit: int, seconds: float) -> None:
        self._limit = limit
        self._seconds = seconds
        self._stopped = threading.Event()

    def run(self, call: Callable[[float], _Answer]) -> _Answer:
        """Return what ``call`` returns; it gets the seconds that are left, for its own timeouts.

        Raises:
            ProviderUnavailableError: the last attempt's, when attempts or time are used up.
        """
        deadline = time.monotonic() + self._seconds
        attempt = 1
        while True:
            left = max(deadline - time.monotonic(), 0.001)
            try:
                return call(left)
            except ProviderUnavailableError:
                pause = min(_FIRST_PAUSE * 2 ** (attempt - 1), _LONGEST_PAUSE)
                pause *= random.uniform(0.5, 1.0)  # noqa: S311 - jitter
                exhausted = attempt >= self._limit or time.monotonic() + pause >= deadline
                if exhausted or self._stopped.wait(pause):
                    raise
            attempt += 1

    def stop(self) -> None:
        """End the pauses of calls that are under way: their errors come back at once."""
        self._stopped.set()
