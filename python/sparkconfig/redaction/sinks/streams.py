"""Redaction of what this Python process prints: ``print``, ``sys.stdout.write``, warnings, progress bars."""

from __future__ import annotations

import atexit
import codecs
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
_WIDEST = 3
# They begin what they encode with a byte order mark; of a stream that is the first write alone.
_MARKED = {"utf-16": f"utf-16-{sys.byteorder[0]}e", "utf-32": f"utf-32-{sys.byteorder[0]}e"}

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
    try:
        target.write = write
        setattr(target, _MARK, True)
    except (AttributeError, TypeError):
        _replace(stream, write)
        return
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

    The end of what was written that could be the beginning of a value waits for what comes next, however long that
    takes, or for the end of Python; all else is written at once. A line that is complete never waits.
    """

    def __init__(self, write: Callable[..., Any], encoding: Callable[[], str]) -> None:
        # All that it needs is bound here: Python flushes the streams after it has taken modules apart.
        self._write = write
        self._encoding_now = encoding
        self._encoding = ""
        self._codec = "utf-8"
        self._lookup = codecs.lookup
        self._marked = _MARKED
        self._widest = _WIDEST
        self._errors = _ERRORS
        self._torn_signs = _TORN
        self._registry = REGISTRY
        self._withheld = WITHHELD
        self._mine = MINE
        self._catch_up = catch_up
        self._lock = threading.RLock()
        self._waiting = Unfinished(REGISTRY)
        self._torn = b""  # the beginning of a character
        self._text = False
        self._ending = False

    def __call__(self, data: Any) -> Any:  # noqa: ANN401 - whatever the stream takes
        if not len(self._registry):
            return self._write(data)
        mine = self._mine
        before = mine.searching
        early = self._redacted(data)
        with self._lock:
            self._text = isinstance(data, str)
            raw = data if self._text else bytes(data)
            try:
                mine.searching = True
                shown = self._shown(raw) if early is None or self._waiting.held or self._torn else early
            except Exception:  # noqa: BLE001 - what cannot be searched is not shown
                self._registry.faults += 1
                self._waiting.held, self._torn = "", b""
                shown = self._as_given(self._withheld + "\n")
            finally:
                mine.searching = before
            if shown:
                self._write(shown)
        if mine.waiting:
            self._catch_up()
        return len(raw)

    def _redacted(self, data: Any) -> str | None:  # noqa: ANN401 - as given
        """Whole lines of text are searched before the stream is locked: other threads need not wait for that."""
        if not isinstance(data, str) or not data.endswith("\n") or self._waiting.held or self._torn:
            return None
        mine = self._mine
        before = mine.searching
        try:
            mine.searching = True
            return self._registry.redact(data)
        finally:
            mine.searching = before

    def end(self) -> None:
        """Write what waits; from now on nothing does."""
        with self._lock:
            self._ending = True
            held = self._as_given(self._waiting.end())
            if not self._text:
                held, self._torn = held + self._torn, b""
            if held:
                self._write(held)

    def forget(self) -> None:
        """A forked process must not write what its parent is about to write."""
        self._lock = threading.RLock()
        self._waiting.held, self._torn = "", b""

    def _shown(self, raw: Any) -> Any:  # noqa: ANN401
        waiting = self._waiting
        whole = not waiting.held and not self._torn
        text = raw if self._text else self._decoded(raw)
        shown = waiting.end(text) if self._ending or text.endswith("\n") else waiting.add(text)
        return raw if shown == text and whole and not self._torn else self._as_given(shown)

    def _decoded(self, raw: bytes) -> str:
        encoding = self._encoding_now()
        if encoding != self._encoding:
            name = self._lookup(encoding).name
            self._encoding, self._codec = encoding, self._marked.get(name, encoding)
        joined = self._torn + raw
        text = joined.decode(self._codec, self._errors)
        if self._ending:
            self._torn = b""
            return text
        # A character whose bytes came in part waits too.
        whole = text.rstrip(self._torn_signs)
        if len(text) - len(whole) > self._widest:
            whole = text
        self._torn = self._as_given(text[len(whole) :])
        return whole

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
    for masking in _maskings:
        masking.forget()
    # A child of multiprocessing ends without the functions of atexit. It forgets finalizers that it has by now.
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.register_after_fork(_maskings[0], lambda _: util.Finalize(None, _end, exitpriority=0))


def _replace(stream: object, write: Callable[..., Any]) -> None:
    """Put another object in the place of a stream whose methods cannot be replaced."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is stream:
            setattr(sys, name, _Redacted(stream, write))


class _Redacted:
    def __init__(self, stream: object, write: Callable[..., Any]) -> None:
        self._stream = stream
        self.write = write

    def writelines(self, lines: Any) -> None:  # noqa: ANN401
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        return getattr(self._stream, name)
