"""The thread that has a keeper look for changes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from sparkconfig._base.threads import daemon
from sparkconfig.errors import SparkConfigError

__all__ = ["RoundThread"]

_log = logging.getLogger(__name__)
_SHORTEST_WAIT_S, _PAUSE_S = 0.01, 1.0


class RoundThread:
    """Looks when it is woken, and when something is due. It survives everything: once dead, it would see no change.

    Args:
        look: makes a round.
        wait_s: how long to wait for the next one at most.
    """

    def __init__(self, look: Callable[[], None], wait_s: Callable[[], float]) -> None:
        self._look = look
        self._wait_s = wait_s
        self._ended = False
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start it."""
        self._thread = daemon("rotation", self._loop)
        self._thread.start()

    def wake(self) -> None:
        """Make it look now; may be called from any thread."""
        self._wake.set()

    def close(self) -> None:
        """End it."""
        self._ended = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def _loop(self) -> None:
        while True:
            try:
                self._wake.wait(max(self._wait_s(), _SHORTEST_WAIT_S))
                self._wake.clear()
                if self._ended:
                    return
                self._look()
            except SparkConfigError as error:
                _log.warning("values could not be read again: %s", error)
            except Exception as error:  # noqa: BLE001
                _log.error("values could not be read again: %s", type(error).__name__)
                self._wake.wait(_PAUSE_S)
