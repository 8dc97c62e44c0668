"""Redaction of what this Python process prints: ``print``, ``sys.stdout.write``, warnings, progress bars."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

from sparkconfig._redaction_spark import refresh
from sparkconfig.redaction import REGISTRY, WITHHELD

__all__ = ["install"]

_MARK = "_sparkconfig_redacted"
# Undecodable bytes pass as they came.
_ERRORS = "surrogateescape"


def install() -> None:
    """Redact ``sys.stdout`` and ``sys.stderr``; the stream objects stay, so whoever holds one is covered too.

    What goes past them to the file descriptor (``os.write``, C libraries, child processes) is not covered.
    """
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            _hook(stream)


def _hook(stream: Any) -> None:  # noqa: ANN401 - any object may stand in for a stream
    # Below the text layer whole texts arrive in few large writes, and bytes written directly are covered.
    target = stream.buffer if isinstance(stream, io.TextIOWrapper) else stream
    if getattr(target, _MARK, False):
        return
    write = _redacting(target.write, getattr(stream, "encoding", None) or "utf-8")
    try:
        target.write = write
        setattr(target, _MARK, True)
    except (AttributeError, TypeError):
        _replace(stream, write)


def _redacting(write: Callable[..., Any], encoding: str) -> Callable[..., Any]:
    """Return ``write`` for text or bytes, redacting; it answers how much it was given."""

    # All that it needs is bound here: Python flushes the streams after it has taken modules apart.
    def redacted(
        data: Any,  # noqa: ANN401 - whatever the stream takes
        *,
        registry: Any = REGISTRY,  # noqa: ANN401
        withheld: str = WITHHELD,
        errors: str = _ERRORS,
        newest: Callable[[], None] = refresh,
    ) -> Any:  # noqa: ANN401
        try:  # noqa: SIM105 - contextlib may be gone at the very end
            newest()
        except Exception:  # noqa: BLE001, S110 - at the very end there is nobody to ask
            pass
        if not len(registry):
            return write(data)
        if isinstance(data, str):
            shown = registry.redact(data)
            if shown is data:
                return write(data)
            write(shown)
            return len(data)
        raw = bytes(data)
        try:
            text = raw.decode(encoding, errors)
            shown = registry.redact(text)
            if shown is text:
                return write(data)
            safe = shown.encode(encoding, errors)
        except Exception:  # noqa: BLE001 - what cannot be searched is not shown
            registry.faults += 1
            safe = withheld.encode("ascii") + b"\n"
        write(safe)
        return len(raw)

    return redacted


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
