"""JvmRequests: what the side process asks of the driver's JVM, which calls for them.

The JVM has no listener (its token would open everything there), so a thread of the JVM calls here and waits
for something to do.
"""

from __future__ import annotations

import itertools
import threading
from collections import deque
from collections.abc import Mapping
from typing import Any

from sparkconfig.errors import ProviderTimeoutError

__all__ = ["JvmRequests"]

_LONGEST_WAIT = 60.0


class JvmRequests:
    """A queue of questions, and a place for their answers; any number of threads ask, one of the JVM answers."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[dict[str, Any]] = deque()
        self._answers: dict[int, Mapping[str, Any] | None] = {}
        self._numbers = itertools.count(1)

    def ask(self, name: str, request: Mapping[str, Any], seconds: float) -> Mapping[str, Any]:
        """Return the JVM's answer.

        Raises:
            ProviderTimeoutError: there was none in ``seconds``.
        """
        with self._changed:
            number = next(self._numbers)
            pending = {"number": number, "name": name, "request": request}
            self._waiting.append(pending)
            self._answers[number] = None
            self._changed.notify_all()
            try:
                if self._changed.wait_for(lambda: self._answers[number] is not None, seconds):
                    return self._answers[number] or {}
            finally:
                del self._answers[number]
                if pending in self._waiting:
                    self._waiting.remove(pending)
        raise ProviderTimeoutError(f"the driver's JVM did not answer '{name}' within {seconds:.1f} s")

    def serve(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Take the answer to the last request, and wait for the next one: the JVM calls this as ``jvm_request``."""
        done = request.get("done")
        seconds = min(int(request.get("wait_ms", 0)) / 1000, _LONGEST_WAIT)
        with self._changed:
            if done and int(done["number"]) in self._answers:
                self._answers[int(done["number"])] = dict(done["answer"])
                self._changed.notify_all()
            self._changed.wait_for(lambda: self._waiting, seconds)
            return {"jvm_request": self._waiting.popleft() if self._waiting else None}
