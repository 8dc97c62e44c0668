"""The driver's Python and its JVM: keeping values out of the log of the bridge between them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["unlogged"]

_state = threading.local()
_log_hooked = False


@contextmanager
def unlogged() -> Iterator[None]:
    """Keep Py4J from logging the answers of calls inside: at DEBUG it writes them whole, values included."""
    _hook_log()
    before = getattr(_state, "quiet", False)
    _state.quiet = True
    try:
        yield
    finally:
        _state.quiet = before


def _hook_log() -> None:
    global _log_hooked  # noqa: PLW0603 - one per process
    if not _log_hooked:
        _log_hooked = True
        for name in ("py4j.java_gateway", "py4j.clientserver"):
            logging.getLogger(name).addFilter(lambda _: not getattr(_state, "quiet", False))
