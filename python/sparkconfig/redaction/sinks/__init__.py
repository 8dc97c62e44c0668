"""What this process shows: one module for each way out."""

from __future__ import annotations

from types import ModuleType

__all__ = ["all_sinks"]


def all_sinks() -> tuple[ModuleType, ...]:
    """Return the modules, in the order in which they are installed.

    Each has ``install()``, which does nothing where there is nothing to hook or all is hooked. Each is in the table of
    docs/redaction.md.
    """
    from sparkconfig.redaction.sinks import jupyter, logging, pyspark, streams

    return logging, jupyter, streams, pyspark
