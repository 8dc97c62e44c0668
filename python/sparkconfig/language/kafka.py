"""Which references of an option map belong to Kafka's clients (KIP-421: ``kafka.config.providers``).

A Kafka client resolves them itself, with the providers that the map declares, when it is built: on the driver and on
every executor. One class of providers asks sparkconfig, so its references are secrets of ours all the same.
"""

from __future__ import annotations

from collections.abc import Mapping

from sparkconfig.language.references import Reference, scan

__all__ = ["CLIENT", "PROVIDERS", "REFERENCE_PROVIDER", "asked_of_us", "declared", "listed", "of_map"]

PROVIDERS = "kafka.config.providers"
"""The option that lists the names, separated by commas and not trimmed (Kafka)."""
REFERENCE_PROVIDER = "io.sparkconfig.kafka.ReferenceConfigProvider"
"""The class of the shim that resolves ``${name:PROVIDER:PATH:KEY}`` as ``${PROVIDER:PATH:KEY}``."""
CLIENT = "kafka-client"
"""What our shim calls, beside ``kafka``, a client that asks its provider: no data source has both names."""

_CLASS = ".class"


def of_map(options: Mapping[str, str]) -> dict[str, str]:
    """Return the entries that declare Kafka's providers, without their params. Spark's option keys have no case."""
    return {key.lower(): text for key, text in options.items() if _declares(key.lower())}


def listed(options: Mapping[str, object]) -> frozenset[str]:
    """Return the names that the map lists, whether they have a class or not."""
    names = options.get(PROVIDERS)
    return frozenset(names.split(",")) if isinstance(names, str) and names else frozenset()


def declared(options: Mapping[str, object]) -> dict[str, str]:
    """Return the providers of the map's Kafka clients, name to class. A name without a class does not count (Kafka)."""
    found = {}
    for name in listed(options):
        lower = f"{PROVIDERS}.{name.lower()}{_CLASS}"
        kind = options.get(f"{PROVIDERS}.{name}{_CLASS}", options.get(lower))
        if isinstance(kind, str):
            found[name] = kind
    return found


def asked_of_us(reference: Reference) -> Reference | None:
    """Return what :data:`REFERENCE_PROVIDER` makes of a reference to it; None: it names no provider of ours."""
    inner = scan(f"${{{reference.path}:{reference.key}}}") if reference.path else []
    return inner[0] if inner else None


def _declares(key: str) -> bool:
    return key == PROVIDERS or (key.startswith(f"{PROVIDERS}.") and key.endswith(_CLASS))
