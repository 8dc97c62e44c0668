"""Secrets and configuration for Apache Spark."""

from typing import TYPE_CHECKING

from sparkconfig._version import __version__
from sparkconfig.config_data import ConfigData
from sparkconfig.errors import SparkConfigError
from sparkconfig.providers.base import ConfigProvider
from sparkconfig.secret import Secret

if TYPE_CHECKING:
    from sparkconfig.driver import current
    from sparkconfig.policy import ConfigValue, OverridePolicy, OverrideRequest, PolicyViolation
    from sparkconfig.policy.tables import CreateTablePolicy, CreateTableRequest
    from sparkconfig.providers.loader import load_providers
    from sparkconfig.resolver import Resolver
    from sparkconfig.transformer import ConfigTransformer, ConfigTransformerResult, reverse_transform

__all__ = [
    "ConfigData",
    "ConfigProvider",
    "ConfigTransformer",
    "ConfigTransformerResult",
    "ConfigValue",
    "CreateTablePolicy",
    "CreateTableRequest",
    "OverridePolicy",
    "OverrideRequest",
    "PolicyViolation",
    "Resolver",
    "Secret",
    "SparkConfigError",
    "__version__",
    "current",
    "load_providers",
    "reverse_transform",
]

_LAZY = {
    "current": "sparkconfig.driver",
    "ConfigValue": "sparkconfig.policy",
    "CreateTablePolicy": "sparkconfig.policy.tables",
    "CreateTableRequest": "sparkconfig.policy.tables",
    "OverridePolicy": "sparkconfig.policy",
    "OverrideRequest": "sparkconfig.policy",
    "PolicyViolation": "sparkconfig.policy",
    "ConfigTransformer": "sparkconfig.transformer",
    "ConfigTransformerResult": "sparkconfig.transformer",
    "Resolver": "sparkconfig.resolver",
    "load_providers": "sparkconfig.providers.loader",
    "reverse_transform": "sparkconfig.transformer",
}


def __getattr__(name: str) -> object:
    """Import the heavier public names when they are first used."""
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'sparkconfig' has no attribute '{name}'")
    import importlib

    return getattr(importlib.import_module(module), name)
