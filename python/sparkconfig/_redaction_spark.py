"""The driver's Python and its JVM: the values that the JVM masks, and the errors that come from there."""

from __future__ import annotations

import functools
import json
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sparkconfig.redaction import REGISTRY

__all__ = ["install", "learn", "refresh", "refresh_now", "tell", "unlogged"]

# Printing asks the JVM for new values at most this often.
_PAUSE_SECONDS = 0.1

_state = threading.local()
_lock = threading.Lock()
_owner = os.getpid()
_known: tuple[object, int] = (None, 0)
_asked_at = 0.0
# What this process has revealed by itself, and how much of it a JVM masks.
_revealed: dict[str, None] = {}
_told: tuple[object, int] = (None, 0)
_patched = False
_log_hooked = False


def install() -> None:
    """Redact the errors that PySpark makes of Java's, once pyspark is there; a second call does nothing.

    An error keeps its class. Its texts (message, JVM stack trace, parameters, query fragments) are masked when it
    is made or asked for them.
    """
    global _patched  # noqa: PLW0603 - one per process
    with _lock:
        if _patched or "pyspark" not in sys.modules:
            return
        _patched = True
    from py4j.protocol import Py4JJavaError
    from pyspark.errors.exceptions import captured

    _mask_result(Py4JJavaError, "__str__")
    _mask_result(captured.CapturedException, "getMessage")
    _mask_result(captured.CapturedException, "getMessageParameters")
    for name in ("SQLQueryContext", "DataFrameQueryContext"):  # 3.5 has none
        context = getattr(captured, name, None)
        for method in ("fragment", "summary", "callSite"):
            if context is not None:
                _mask_result(context, method)
    _mask_fields(captured.CapturedException, ("_desc", "_stackTrace", "desc", "stackTrace"))


def refresh() -> None:
    """Learn the values that the JVM masks by now, unless that was asked a moment ago. Never raises."""
    if time.monotonic() - _asked_at >= _PAUSE_SECONDS:
        refresh_now()


def tell(values: Iterable[str]) -> None:
    """Have the JVM and its executors mask values that this process resolved by itself. Never raises.

    Without a JVM they wait for the next one.
    """
    fresh = [value for value in values if value not in _revealed]
    if fresh:
        with _lock:
            _revealed.update(dict.fromkeys(fresh))
        refresh_now()


def learn(registered: int) -> None:
    """Learn the values that the JVM masks by now, if they are more than the known ones.

    Args:
        registered: how many values the JVM masks.
    """
    context = sys.modules["pyspark"].SparkContext if "pyspark" in sys.modules else None
    if registered != _known[1] or _known[0] is not getattr(context, "_gateway", None):
        refresh_now()


def refresh_now() -> None:
    """Learn the values that the JVM masks by now. Never raises; without a JVM the known values stay."""
    global _asked_at  # noqa: PLW0603
    # A child process shares the sockets of its parent, and must not speak on them.
    if getattr(_state, "asking", False) or os.getpid() != _owner or "pyspark" not in sys.modules:
        return
    _state.asking = True
    try:
        _ask()
    except Exception:  # noqa: BLE001, S110 - the JVM has ended, or is about to: it brings no new values
        pass
    finally:
        _state.asking = False
        _asked_at = time.monotonic()


def _ask() -> None:
    global _known  # noqa: PLW0603
    from pyspark import SparkContext

    context = SparkContext._active_spark_context  # noqa: SLF001 - the public getOrCreate would start one
    jvm: Any = None if context is None else context._jvm  # noqa: SLF001
    if jvm is None:
        return
    _tell(jvm, SparkContext._gateway)  # noqa: SLF001
    of, count = _known
    # Another JVM counts from the start.
    start = count if of is SparkContext._gateway else 0  # noqa: SLF001
    with unlogged():
        fresh = json.loads(jvm.io.sparkconfig.api.DriverApi.registered(start))
    # The JVM has left out what is too short or too common already.
    REGISTRY.declare(fresh)
    _known = (SparkContext._gateway, start + len(fresh))  # noqa: SLF001


def _tell(jvm: Any, gateway: object) -> None:  # noqa: ANN401 - a Py4J view of a JVM has no type
    global _told  # noqa: PLW0603
    with _lock:
        values = list(_revealed)
    start = _told[1] if _told[0] is gateway else 0
    if start < len(values):
        with unlogged():
            jvm.io.sparkconfig.api.DriverApi.mask(values[start:])
        _told = (gateway, len(values))


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
    global _log_hooked  # noqa: PLW0603
    if not _log_hooked:
        _log_hooked = True
        for name in ("py4j.java_gateway", "py4j.clientserver"):
            logging.getLogger(name).addFilter(lambda _: not getattr(_state, "quiet", False))


def _mask_result(owner: type, method: str) -> None:
    original = getattr(owner, method, None)
    if original is None:
        return

    @functools.wraps(original)
    def redacted(self: object) -> object:
        refresh_now()
        return _masked(original(self))

    setattr(owner, method, redacted)


def _mask_fields(owner: Any, names: tuple[str, ...]) -> None:  # noqa: ANN401 - a class of pyspark
    original: Callable[..., None] = owner.__init__

    @functools.wraps(original)
    def redacted(self: Any, *args: object, **kwargs: object) -> None:  # noqa: ANN401
        # Before, since it logs its texts itself.
        refresh_now()
        original(self, *args, **kwargs)
        for name in names:
            if name in vars(self):
                setattr(self, name, _masked(getattr(self, name)))

    owner.__init__ = redacted


def _masked(found: object) -> object:
    if isinstance(found, str):
        return REGISTRY.redact(found)
    if isinstance(found, Mapping):  # in 3.5 a map of Java
        return {_masked(key): _masked(value) for key, value in found.items()}
    return found
