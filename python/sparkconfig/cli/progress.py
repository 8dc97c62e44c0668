"""What a long command says of its way: one line on a terminal, which goes away at the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Progress", "doing"]

_AFTER = 2.0
_EVERY = 0.5


class Progress:
    """Counts bytes; shows nothing in the first seconds, and nothing without a terminal.

    Args:
        total: bytes that there are.
    """

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._began = self._shown = time.monotonic()
        self._looked_at = sys.stderr.isatty()

    def add(self, count: int) -> None:
        """Count, and show it now and then."""
        self._done += count
        now = time.monotonic()
        if self._looked_at and now - self._began > _AFTER and now - self._shown > _EVERY:
            self._shown = now
            rate = self._done / (now - self._began) / 1e6
            of = f" of {self._total / 1e6:.0f}" if self._total else ""
            print(
                f"\r{self._done / 1e6:.0f}{of} MB, {rate:.0f} MB/s\x1b[K", end="", file=sys.stderr, flush=True
            )

    def end(self) -> None:
        """Take the line away."""
        if self._looked_at and self._shown > self._began:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextmanager
def doing(what: str) -> Iterator[None]:
    """Say what takes so long, and for how many seconds already.

    Args:
        what: as in "asking the providers".
    """
    if not sys.stderr.isatty():
        yield
        return
    from threading import Event

    from sparkconfig._base.threads import daemon

    began, ended = time.monotonic(), Event()

    def show() -> None:
        pause = _AFTER
        while not ended.wait(pause):
            pause = 1.0
            seconds = time.monotonic() - began
            print(f"\r{what}, {seconds:.0f} s\x1b[K", end="", file=sys.stderr, flush=True)
        if pause != _AFTER:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    thread = daemon("progress", show)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
