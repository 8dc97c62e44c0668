"""The values that the driver's JVM masks: before this process shows anything, it learns which texts may hold one."""

from __future__ import annotations

import bisect
import functools
import itertools
import json
import logging
import os
import sys
import threading
import time
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from sparkconfig.redaction.finalizers import MINE, catch_up
from sparkconfig.redaction.fingerprints import Elsewhere
from sparkconfig.redaction.registry import REGISTRY

__all__ = ["driver_api", "in_worker", "learn", "refresh", "refresh_now", "tell", "unlogged"]

# Printing asks the JVM for new values at most this often.
_PAUSE_SECONDS = 0.1

_state = threading.local()
lock = threading.Lock()
_learning = threading.Lock()
_owner = os.getpid()
_known: _Jvm | None = None
# Of former ones some texts may still be asked about.
_met: weakref.WeakSet[_Jvm] = weakref.WeakSet()
_asked_at = 0.0
# What this process has revealed by itself, and how much of it a JVM masks for which application.
_revealed: dict[str, None] = {}
_told: tuple[object, object, int] = (None, None, 0)
_log_hooked = False
# Whether a call into the JVM has ended since it was last asked: it may have brought a value, or a file with one.
_called = False
_calls_hooked = False
# A JVM, its application, and what this package may ask there.
_api: tuple[object, object, Any] | None = None


def refresh() -> None:
    """Learn the values that the JVM masks by now, unless that was asked a moment ago. Never raises.

    A call into the JVM since then counts as a moment long ago: no value comes here on another way.
    """
    if _called or time.monotonic() - _asked_at >= _PAUSE_SECONDS:
        refresh_now()


def tell(values: Iterable[str]) -> None:
    """Have the JVM and its executors mask values that this process resolved by itself. Never raises.

    Without a JVM they wait for the next one.
    """
    fresh = [value for value in values if value not in _revealed]
    if fresh:
        with lock:
            _revealed.update(dict.fromkeys(fresh))
        refresh_now()


def learn(registered: int) -> None:
    """Learn the values that the JVM masks by now, if they are more than the known ones.

    Args:
        registered: how many values the JVM masks.
    """
    context = sys.modules["pyspark"].SparkContext if "pyspark" in sys.modules else None
    gateway = getattr(context, "_gateway", None)
    if _known is None or _known.gateway is not gateway or registered != _known.values:
        refresh_now()


def refresh_now() -> None:
    """Learn the values that the JVM masks by now. Never raises; without a JVM the known values stay."""
    global _asked_at, _called  # noqa: PLW0603
    # A child process shares the sockets of its parent, and must not speak on them.
    if getattr(_state, "asking", False) or os.getpid() != _owner or "pyspark" not in sys.modules:
        return
    _state.asking = True
    _called = False
    before = MINE.searching
    try:
        # A line in Py4J's log would wait for a thread that logs, and that waits here.
        MINE.searching = True
        with _learning, unlogged():
            _ask()
    except Exception:  # noqa: BLE001, S110 - the JVM has ended, or is about to: it brings no new values
        pass
    finally:
        MINE.searching = before
        _state.asking = False
        _asked_at = time.monotonic()
    catch_up()


def _ask() -> None:
    global _known  # noqa: PLW0603
    from pyspark import SparkContext

    context = SparkContext._active_spark_context  # noqa: SLF001 - the public getOrCreate would start one
    gateway = SparkContext._gateway  # noqa: SLF001
    if _known is None or _known.gateway is not gateway:
        # It outlives the context: what was resolved before stop() may be printed after it.
        jvm: Any = (context or SparkContext)._jvm  # noqa: SLF001
        if jvm is None:
            return
        _watch_calls()
        api = driver_api(jvm)
        if type(api).__name__ == "JavaPackage":  # so Py4J calls what the JVM does not have, or not yet
            return
        # Another JVM has values of its own; those of the last one stay masked.
        _known = _Jvm(gateway, api)
    if not _known.ended:
        # Its executors are to know it too, and each application has others.
        if context is not None:
            _tell(_known, context)
        _known.learn()


class _Jvm:
    """A driver's JVM that this process has asked, and what it knows of the values there."""

    def __init__(self, gateway: object, api: Any) -> None:  # noqa: ANN401 - a Py4J view has no type
        self.gateway = gateway
        self.ended = False
        _met.add(self)
        self.values = -1
        self._api = api
        self._prints = 0
        self._elsewhere = Elsewhere(self._places)

    def learn(self) -> None:
        with unlogged():
            answer = json.loads(self._api.fingerprints(self._prints))
        if self.values < 0:
            REGISTRY.mask_too(self._elsewhere)
        self._elsewhere.add(answer["salt"], answer["prints"])
        self._prints += len(answer["prints"])
        self.values = int(answer["values"])

    def mask(self, values: list[str]) -> None:
        with unlogged():
            self._api.mask(values)

    def _places(  # one that :class:`Elsewhere` calls
        self,
        text: str,
        record: bool,  # noqa: FBT001
        goes_on: bool,  # noqa: FBT001
    ) -> tuple[list[tuple[int, int]], int] | None:
        """Ask where values stand. None: the JVM has ended, or this thread or process must not speak on its socket."""
        if self.ended or getattr(_state, "asking", False) or os.getpid() != _owner:
            return None
        _state.asking = True
        try:
            with unlogged():
                # As JSON in ASCII: bytes that are not text have no other way through.
                return _answer(text, json.loads(self._api.places(json.dumps(text), record, goes_on)))
        except Exception:  # noqa: BLE001 - whatever went wrong, nobody has answered
            return None
        finally:
            _state.asking = False


def _answer(text: str, answer: dict[str, Any]) -> tuple[list[tuple[int, int]], int]:
    at = _positions(text)
    ends = iter(answer["found"])
    units = len(text) if at is None else at[-1]
    found = [(_index(at, start), _index(at, end)) for start, end in zip(ends, ends, strict=True)]
    return found, len(text) - _index(at, units - int(answer["beginning"]))


def _positions(text: str) -> list[int] | None:
    """Where each character, and the end, stands in UTF-16; None: where it stands in the text."""
    if text.isascii() or max(text) <= "\uffff":
        return None
    return list(itertools.accumulate((1 + (char > "\uffff") for char in text), initial=0))


def _index(positions: list[int] | None, unit: int) -> int:
    return unit if positions is None else bisect.bisect_left(positions, unit)


def _tell(jvm: _Jvm, context: object) -> None:
    global _told  # noqa: PLW0603
    with lock:
        values = list(_revealed)
    start = _told[2] if _told[0] is jvm.gateway and _told[1] is context else 0
    if start < len(values):
        jvm.mask(values[start:])
        _told = (jvm.gateway, context, len(values))


def driver_api(jvm: Any) -> Any:  # noqa: ANN401 - a Py4J view of a JVM has no type
    """Return what this package's own code may ask the driver's JVM.

    It is the Scala object's instance, in a field: none of its methods is public and static, or SQL's ``reflect``
    could call it.
    """
    global _api  # noqa: PLW0603
    spark = sys.modules.get("pyspark")
    context = None if spark is None else spark.SparkContext._active_spark_context  # noqa: SLF001
    known = _api
    # Looking it up takes five calls into the JVM. Another application may have come with another jar.
    if known is None or known[0] is not jvm or known[1] is not context:
        # Looked up by class loader: a jar that came with --jars is not on the gateway's own class path.
        found = getattr(getattr(jvm.io.sparkconfig.driver, "DriverApi$"), "MODULE$")
        _api = known = (jvm, context, found)
    return known[2]


def in_worker() -> bool:
    """Whether this process is a Python worker of Spark."""
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    return getattr(main, "name", "") in ("pyspark.daemon", "pyspark.worker")


def _watch_calls() -> None:
    global _calls_hooked  # noqa: PLW0603
    if _calls_hooked:
        return
    _calls_hooked = True
    from py4j.java_gateway import GatewayClient

    send = GatewayClient.send_command

    @functools.wraps(send)
    def marking(self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as Py4J has it
        global _called  # noqa: PLW0603
        try:
            return send(self, *args, **kwargs)
        finally:
            if not getattr(_state, "asking", False):
                _called = True

    GatewayClient.send_command = marking
    shutdown = GatewayClient.shutdown_gateway

    @functools.wraps(shutdown)
    def ending(self: Any) -> None:  # noqa: ANN401
        # What was resolved since the last line may be printed when nobody can be asked.
        refresh_now()
        # Py4J logs while it ends a gateway, and that may leave a new connection without an answer for ever.
        for each in list(_met):
            if getattr(each.gateway, "_gateway_client", None) is self:
                each.ended = True
        shutdown(self)

    GatewayClient.shutdown_gateway = ending


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
