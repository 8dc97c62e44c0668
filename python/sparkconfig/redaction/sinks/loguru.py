"""Redaction of what loguru writes: its sinks are not handlers of ``logging``."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from sparkconfig.redaction.jvm import refresh
from sparkconfig.redaction.registry import REGISTRY

__all__ = ["MASKS", "install"]

MASKS = (
    (
        "Python's loguru",
        "every sink",
        'the first session, or earlier: see "Python programs"',
    ),
    (
        "log files that Python workers write themselves",
        "handlers of `logging`, sinks of loguru, for values that this worker has asked for",
        "`import sparkconfig.worker`",
    ),
)

#: Where a message leaves loguru: files, streams, handlers of ``logging``, functions, coroutines.
_SINKS = {
    "loguru._file_sink": ("FileSink",),
    "loguru._simple_sinks": ("StreamSink", "StandardSink", "CallableSink", "AsyncSink"),
}
_MARK = "_sparkconfig_redacted"


def install() -> None:
    """Redact what loguru writes, now or when somebody imports it; a second call does nothing."""
    if "loguru" in sys.modules:
        _hook()
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def _hook() -> None:
    for name, kinds in _SINKS.items():
        try:
            module = importlib.import_module(name)
        except ImportError:  # another loguru
            continue
        for kind in kinds:
            sink = getattr(module, kind, None)
            if sink is not None and not hasattr(sink.write, _MARK):
                _redact(sink)


def _redact(sink: Any) -> None:  # noqa: ANN401 - a class of loguru
    write = sink.write

    def redacted(self: object, message: Any) -> Any:  # noqa: ANN401 - a str with its record
        refresh()
        return write(self, _safe(message))

    setattr(redacted, _MARK, True)
    sink.write = redacted


def _safe(message: Any) -> Any:  # noqa: ANN401
    text = str(message)
    shown = REGISTRY.redact(text)
    record = getattr(message, "record", None)
    said = record and REGISTRY.redact(str(record["message"]))
    if shown is text and (record is None or said == record["message"]):
        return message
    safe = type(message)(shown)
    if record is not None:
        # Functions that are sinks read the record; what else it holds is in the text in which a value was found.
        safe.record = {**record, "message": said, "exception": None, "extra": {}}
    return safe


class _Finder(importlib.abc.MetaPathFinder):
    """Hooks loguru when it is imported, and then steps aside."""

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None,  # noqa: ARG002 - as Python asks
        target: ModuleType | None = None,  # noqa: ARG002
    ) -> importlib.machinery.ModuleSpec | None:
        if name != "loguru":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            loader: Any = spec.loader
            execute = loader.exec_module

            def then_hook(module: ModuleType) -> None:
                execute(module)
                _hook()

            loader.exec_module = then_hook
        return spec
