"""Progress for a person who waits: a step says what it does, that it still does it, and how long it took."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

_BEGIN = time.monotonic()
# Seconds of silence after which a step shows that it is alive.
_BEAT = 5.0


def say(text: str) -> None:
    """Print a line after the seconds since the start."""
    print(f"[{time.monotonic() - _BEGIN:6.1f} s] {text}", flush=True)


@contextmanager
def step(what: str) -> Iterator[None]:
    """Announce a step, and its end with the seconds it took; show a beat while it runs."""
    say(f"{what} ...")
    began = time.monotonic()
    done = threading.Event()

    def beat() -> None:
        while not done.wait(_BEAT):
            say(f"    still: {what} ({time.monotonic() - began:.0f} s)")

    thread = threading.Thread(target=beat, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        outcome = "done" if sys.exc_info()[0] is None else "stopped"
        say(f"    {outcome} in {time.monotonic() - began:.1f} s")
