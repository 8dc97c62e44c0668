"""Versions in a reference: ``NAME?version=3``. No store here allows ``?`` in a name."""

from __future__ import annotations

from collections.abc import Set

from sparkconfig.errors import ConfigurationError

__all__ = ["split_pins"]


def split_pins(name: str, allowed: Set[str], where: str) -> tuple[str, dict[str, str]]:
    """Return the plain name and its pins: ``db?version=3`` becomes ``("db", {"version": "3"})``.

    Raises:
        ConfigurationError: a pin is malformed or this store has no such pin; names ``where``.
    """
    plain, question, rest = name.partition("?")
    pins: dict[str, str] = {}
    for part in rest.split("&") if question else []:
        pin, equals, value = part.partition("=")
        if pin not in allowed or not equals or not value or pin in pins:
            known = " or ".join(f"?{each}=..." for each in sorted(allowed)) or "none"
            raise ConfigurationError(f"{where}: {part!r} is not a pin of this store; known: {known}")
        pins[pin] = value
    return plain, pins
