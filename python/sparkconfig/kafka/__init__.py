"""Kafka's own behaviour, for configurations that come from Kafka (KIP-297, KIP-421)."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparkconfig.kafka.providers import (
        CLASSES,
        DirectoryConfigProvider,
        EnvVarConfigProvider,
        FileConfigProvider,
        allowed_path,
        resolve,
    )

__all__ = [
    "CLASSES",
    "DirectoryConfigProvider",
    "EnvVarConfigProvider",
    "FileConfigProvider",
    "allowed_path",
    "resolve",
]


_LAZY = dict.fromkeys(__all__, "sparkconfig.kafka.providers")


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    import importlib

    return getattr(importlib.import_module(module), name)
