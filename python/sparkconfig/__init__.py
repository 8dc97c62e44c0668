"""Secrets and configuration for Apache Spark."""

from typing import TYPE_CHECKING

from sparkconfig._base.version import __version__
from sparkconfig.errors import SparkConfigError

if TYPE_CHECKING:
    from sparkconfig._spark.driver import current
    from sparkconfig.policy import ConfigValue, OverridePolicy, OverrideRequest, PolicyViolation
    from sparkconfig.policy.tables import CreateTablePolicy, CreateTableRequest
    from sparkconfig.providers.base import ConfigData, ConfigProvider
    from sparkconfig.resolution.declared import load_providers
    from sparkconfig.resolution.resolver import Resolver
    from sparkconfig.resolution.transformer import (
        ConfigTransformer,
        ConfigTransformerResult,
        reverse_transform,
    )
    from sparkconfig.secret import Secret

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
    "current": "sparkconfig._spark.driver",
    "ConfigData": "sparkconfig.providers.base",
    "ConfigProvider": "sparkconfig.providers.base",
    "Secret": "sparkconfig.secret",
    "ConfigValue": "sparkconfig.policy",
    "CreateTablePolicy": "sparkconfig.policy.tables",
    "CreateTableRequest": "sparkconfig.policy.tables",
    "OverridePolicy": "sparkconfig.policy",
    "OverrideRequest": "sparkconfig.policy",
    "PolicyViolation": "sparkconfig.policy",
    "ConfigTransformer": "sparkconfig.resolution.transformer",
    "ConfigTransformerResult": "sparkconfig.resolution.transformer",
    "Resolver": "sparkconfig.resolution.resolver",
    "load_providers": "sparkconfig.resolution.declared",
    "reverse_transform": "sparkconfig.resolution.transformer",
}


def __getattr__(name: str) -> object:
    """Import the heavier public names when they are first used."""
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'sparkconfig' has no attribute '{name}'")
    import importlib

    return getattr(importlib.import_module(module), name)


def _redact_in_spark() -> None:
    """In the Python of a Spark application nothing shows a value, whether or not it asks for one here."""
    import sys

    from sparkconfig._base.py4j_log import mask_secrets

    mask_secrets()
    context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    main = getattr(sys.modules.get("__main__"), "__spec__", None)
    worker = getattr(main, "name", "") in ("pyspark.daemon", "pyspark.worker")
    if worker or getattr(context, "_active_spark_context", None) is not None:
        from sparkconfig.redaction import install

        install()


_redact_in_spark()
