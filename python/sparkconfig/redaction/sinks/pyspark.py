"""Redaction of the errors that PySpark makes of Java's."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from sparkconfig.redaction.deep import redact_deep

__all__ = ["install"]

_patched = False


def install() -> None:
    """Redact the errors that PySpark makes of Java's, once pyspark is there; a second call does nothing.

    An error keeps its class. Its texts (message, JVM stack trace, parameters, query fragments) are masked when it
    is made or asked for them.
    """
    global _patched  # noqa: PLW0603 - one per process
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


def _mask_result(owner: type, method: str) -> None:
    original = getattr(owner, method, None)
    if original is None:
        return

    @functools.wraps(original)
    def redacted(self: object) -> object:
        return redact_deep(original(self))

    setattr(owner, method, redacted)


def _mask_fields(owner: Any, names: tuple[str, ...]) -> None:  # noqa: ANN401 - a class of pyspark
    original: Callable[..., None] = owner.__init__

    @functools.wraps(original)
    def redacted(self: Any, *args: object, **kwargs: object) -> None:  # noqa: ANN401
        original(self, *args, **kwargs)
        for name in names:
            if name in vars(self):
                setattr(self, name, redact_deep(getattr(self, name)))

    owner.__init__ = redacted
