"""Config providers: one module for each store; import the one you need."""

from sparkconfig.providers.base import ChangeCallback, ConfigProvider

__all__ = ["ChangeCallback", "ConfigProvider"]
