"""Secrets and configuration for Apache Spark."""

from sparkconfig._version import __version__
from sparkconfig.config_data import ConfigData
from sparkconfig.errors import SparkConfigError
from sparkconfig.providers.base import ConfigProvider
from sparkconfig.secret import Secret

__all__ = ["ConfigData", "ConfigProvider", "Secret", "SparkConfigError", "__version__"]
