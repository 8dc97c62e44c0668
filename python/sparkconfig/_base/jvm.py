"""What only the driver's JVM can do, for code in its side process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sparkconfig.errors import ProviderUnavailableError

__all__ = ["Ask", "NoDriverError", "connect", "driver"]

Ask = Callable[[str, Mapping[str, Any], float], Mapping[str, Any]]
"""Called with the name of a request to the JVM, its arguments and the seconds it may take; returns the JVM's answer.

Raises:
    ProviderTimeoutError: there was no answer in time.
"""

_ask: Ask | None = None


class NoDriverError(ProviderUnavailableError):
    """Only a driver's JVM could answer, and this process belongs to none."""


def connect(ask: Ask | None) -> None:
    """Say how the JVM is asked; only the side process calls this."""
    global _ask  # noqa: PLW0603 - one JVM per process, and providers are made from their class names alone
    _ask = ask


def driver() -> Ask | None:
    """Return how the driver's JVM is asked, or None if this process belongs to none."""
    return _ask
