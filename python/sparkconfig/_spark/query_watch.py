"""One thread that looks after all managed queries of the process, one after the other."""

from __future__ import annotations

import logging
import threading
from typing import ClassVar, Protocol

from sparkconfig._base.threads import daemon
from sparkconfig._spark import driver
from sparkconfig.errors import AgentError

__all__ = ["Watch", "Watched"]

_log = logging.getLogger(__name__)
_LOOK_MS = 1_000


class Watched(Protocol):
    """What is looked after."""

    def check(self) -> None:
        """Do what is due; never raises."""


class Watch:
    """Wakes at each new generation, and once a second for queries that failed."""

    _one: ClassVar[Watch | None] = None
    _making: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self) -> None:
        self._watched: list[Watched] = []
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @classmethod
    def of_application(cls) -> Watch:
        """The process's one watch."""
        with cls._making:
            if cls._one is None:
                cls._one = cls()
            return cls._one

    def add(self, query: Watched) -> None:
        """Look after a query from now on."""
        with self._lock:
            self._watched.append(query)
            if self._thread is None:
                self._thread = daemon("streaming", self._run)
                self._thread.start()

    def remove(self, query: Watched) -> None:
        """Look after it no more."""
        with self._lock:
            self._watched = [each for each in self._watched if each is not query]

    def _run(self) -> None:
        known = -1
        while True:
            with self._lock:
                watched = list(self._watched)
                if not watched:
                    self._thread = None
                    return
            for query in watched:
                query.check()
            try:
                known = driver.await_generation(known, _LOOK_MS)
            except AgentError:  # the application has ended: its queries find out at the last look
                for query in watched:
                    query.check()
                    self.remove(query)
