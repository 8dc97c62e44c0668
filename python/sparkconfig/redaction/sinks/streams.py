"""Redaction of what this Python process prints: ``print``, ``sys.stdout.write``, warnings, progress bars."""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import sys
import threading
import weakref
from collections.abc import Callable
from typing import Any

from sparkconfig.redaction.finalizers import MINE, catch_up
from sparkconfig.redaction.registry import REGISTRY, WITHHELD, Unfinished

__all__ = ["install"]

_MARK = "_sparkconfig_redacted"
# Undecodable bytes pass as they came.
_ERRORS = "surrogateescape"
_TORN = "".join(map(chr, range(0xDC80, 0xDD00)))

_maskings: list[_Masking] = []


def install() -> None:
    """Redact ``sys.stdout`` and ``sys.stderr``; the stream objects stay, so whoever holds one is covered too.

    What goes past them to the file descriptor (``os.write``, ``sys.stdout.buffer.raw``, C libraries, child processes)
    is not covered.
    """
    # In a Python worker Spark puts others into their place for each task, which write to the original ones.
    streams = (sys.stdout, sys.stderr, *((sys.__stdout__, sys.__stderr__) if _in_worker() else ()))
    for stream in streams:
        if stream is not None:
            _hook(stream)


def _in_worker() -> bool:
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    return getattr(main, "name", "") in ("pyspark.daemon", "pyspark.worker")


def _hook(stream: Any) -> None:  # noqa: ANN401 - any object may stand in for a stream
    # Below the text layer whole texts arrive in few large writes, and bytes written directly are covered.
    target = stream.buffer if isinstance(stream, io.TextIOWrapper) else stream
    if getattr(target, _MARK, False):
        return
    write = _Masking(target.write, _encoding_of(stream))
    if not _maskings:
        atexit.register(_end)
        os.register_at_fork(after_in_child=_in_child)
    _maskings.append(write)
    target.write = write
    setattr(target, _MARK, True)
    close = getattr(target, "close", None)
    if close is not None:

        def closing() -> Any:  # noqa: ANN401 - as the stream has it
            with contextlib.suppress(Exception):  # it was closed before
                write.end()
            return close()

        with contextlib.suppress(AttributeError, TypeError):
            target.close = closing


def _encoding_of(stream: object) -> Callable[[], str]:
    """What a stream encodes texts in by now: ``reconfigure`` changes it. The stream's end must not wait for ours."""
    named = getattr(stream, "encoding", None) or "utf-8"
    try:
        known = weakref.ref(stream)
    except TypeError:
        return lambda: named
    return lambda: getattr(known(), "encoding", None) or named


class _Masking:
    """The ``write`` of a stream, for text or bytes; it answers how much it was given.

    The end of what was written that could be the beginning of a value, or of a character, waits for what comes next,
    however long that takes, or for the end of Python; all else is written at once. A line that is complete never waits.
    """

    def __init__(self, write: Callable[..., Any], encoding: Callable[[], str]) -> None:
        # All that it needs is bound here: Python flushes the streams after it has taken modules apart.
        self._write = write
        self._encoding_now = encoding
        self._codec = "utf-8"
        self._errors = _ERRORS
        self._registry = REGISTRY
        self._withheld = WITHHELD
        self._mine = MINE
        self._catch_up = catch_up
        # Not held while text is searched: other threads write meanwhile.
        self._lock = threading.RLock()
        self._nothing = self._waiting = Unfinished()
        self._text = False
        self._ending = False

    def __call__(self, data: Any) -> Any:  # noqa: ANN401 - whatever the stream takes
        if not len(self._registry):
            return self._write(data)
        self._text = isinstance(data, str)
        raw = data if self._text else bytes(data)
        mine = self._mine
        before = mine.searching
        try:
            mine.searching = True
            self._pass(raw)
        finally:
            mine.searching = before
        if mine.waiting:
            self._catch_up()
        return len(raw)

    def _pass(self, raw: Any) -> None:  # noqa: ANN401
        while True:
            waiting = self._waiting
            try:
                shown, then = self._masked(waiting, raw)
            except Exception:  # noqa: BLE001 - what cannot be searched is not shown
                self._registry.faults += 1
                shown, then = self._as_given(self._withheld + "\n"), self._nothing
            with self._lock:
                if self._waiting == waiting:  # else another thread's piece came between
                    self._waiting = then
                    if shown:
                        self._write(shown)
                    return

    def _masked(self, waiting: Unfinished, raw: Any) -> tuple[Any, Unfinished]:  # noqa: ANN401
        """What can be written of what waits and of what has come, and what waits from then on."""
        held = waiting.held
        if self._text:
            text = whole = held + raw
        else:
            self._codec = self._encoding_now()
            text = whole = (self._as_given(held) + raw if held else raw).decode(self._codec, self._errors)
            torn = len(text) - len(text.rstrip(_TORN))
            if 0 < torn <= 3 and not self._ending:
                whole = text[:-torn]
        shown, then = waiting.then(self._registry, whole, last=self._ending or text.endswith("\n"))
        if len(whole) < len(text):
            then = then._replace(held=then.held + text[len(whole) :])
        return raw if shown == text and not held else self._as_given(shown), then

    def end(self) -> None:
        """Write what waits; from now on nothing does."""
        self._ending = True
        self._pass("" if self._text else b"")

    def forget(self) -> None:
        """A forked process must not write what its parent is about to write."""
        self._lock = threading.RLock()
        self._waiting = self._nothing

    def _as_given(self, text: str) -> Any:  # noqa: ANN401
        if self._text:
            return text
        try:
            return text.encode(self._codec, self._errors)
        except UnicodeEncodeError:  # the end of what was written in another encoding
            return text.encode(self._codec, "backslashreplace")


def _end() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # it was closed
            stream.flush()
    for masking in _maskings:
        with contextlib.suppress(Exception):
            masking.end()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()


def _in_child() -> None:
    # The parent shows it.
    MINE.waiting.clear()
    REGISTRY.unlock()
    for masking in _maskings:
        masking.forget()
    # A child of multiprocessing ends without the functions of atexit. It forgets finalizers that it has by now.
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.register_after_fork(_maskings[0], lambda _: util.Finalize(None, _end, exitpriority=0))
