"""Redaction of log records, whatever handlers and formatters are in use."""

from __future__ import annotations

import copy
import functools
import logging
import threading
import traceback
from typing import Any

from sparkconfig.redaction.deep import redact_deep
from sparkconfig.redaction.finalizers import MINE, catch_up
from sparkconfig.redaction.registry import REGISTRY, WITHHELD
from sparkconfig.redaction.sinks.tracebacks import hook_tracebacks

__all__ = ["install"]

lock = threading.Lock()
_installed = False
# Containers in a log record are searched this deep; deeper ones are shown by their type alone.
_DEPTH = 8


def install() -> None:
    """Redact log records of every handler, present and future, and tracebacks that Python prints.

    Covers ``sys.excepthook``, ``threading.excepthook``, ``sys.unraisablehook`` and ``logging``, whatever handlers and
    formatters are in use; a second call does nothing. What holds no value is passed on untouched.
    """
    global _installed  # noqa: PLW0603 - one per process, as the hooks are
    with lock:
        if not _installed:
            _installed = True
            _hook_logging()
            hook_tracebacks()


def _hook_logging() -> None:
    # A filter on a logger sees no records of its children, and a handler's filters none of later handlers.
    handle = logging.Handler.handle

    def redacting_handle(self: logging.Handler, record: logging.LogRecord) -> bool:
        if MINE.searching:
            MINE.waiting.append(functools.partial(redacting_handle, self, record))
            return True
        before = MINE.logging
        try:
            MINE.logging = True
            handled = handle(self, _safe_record(record))
        finally:
            MINE.logging = before
        catch_up()
        return handled

    logging.Handler.handle = redacting_handle  # type: ignore[method-assign]


def _safe_record(record: logging.LogRecord) -> logging.LogRecord:
    if not len(REGISTRY):
        return record
    try:
        MINE.searching = True
        fields = _changed_fields(record)
    except Exception:  # noqa: BLE001 - a record that cannot be searched is not shown
        REGISTRY.faults += 1
        fields = {"msg": WITHHELD, "args": None, "exc_info": None, "exc_text": None, "stack_info": None}
        fields |= dict.fromkeys(vars(record).keys() - vars(logging.makeLogRecord({})).keys(), WITHHELD)
    finally:
        MINE.searching = False
    if not fields:
        return record
    safe = copy.copy(record)
    vars(safe).update(fields)
    return safe


def _changed_fields(record: logging.LogRecord) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    message = record.getMessage()
    redacted = REGISTRY.redact(message)
    if redacted is not message:
        fields |= {"msg": redacted, "args": None}
    elif record.args and _safe(record.args) is not record.args:
        # The text is clean, but a formatter may show the arguments by themselves.
        fields |= {"msg": message, "args": None}
    if record.exc_info and record.exc_info[0] is not None:
        text = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
        shown = REGISTRY.redact(text)
        if shown is not text:
            fields |= {"exc_info": None, "exc_text": shown}
    for name, value in vars(record).items():
        if name not in fields and name not in ("msg", "args", "exc_info"):
            safe = _safe(value)
            if safe is not value:
                fields[name] = safe
    return fields


def _safe(value: object) -> object:
    """The same object if no registered value is in it, else a redacted copy."""
    return redact_deep(value, deepest=_DEPTH, other=_shown)


def _shown(value: object) -> object:
    """An object whose text holds a value is replaced by that text."""
    text = str(value)
    shown = REGISTRY.redact(text)
    return value if shown is text else shown
