"""The error of all formats."""

from __future__ import annotations

from sparkconfig.errors import ConfigurationError, ProviderUnavailableError

__all__ = ["FormatError", "MissingReaderError"]


class FormatError(ProviderUnavailableError):
    """The content is not what the format says: garbage, or half written. Names the line, never the text."""


class MissingReaderError(ConfigurationError):
    """The library that reads a format is not installed; names the extra."""
