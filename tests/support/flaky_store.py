"""A provider for tests of outages: a file of properties that cannot be reached while another file exists."""

from __future__ import annotations

from collections.abc import Mapping, Set
from pathlib import Path

from sparkconfig.errors import ProviderUnavailableError, SecretNotFoundError
from sparkconfig.formats import properties
from sparkconfig.providers.base import ConfigData, ConfigProvider


class FlakyStore(ConfigProvider):
    """The path of a reference is a file's; `PATH.down` is the outage.

    It is not local, so that answers are cached and served as those of any store over a network.
    """

    def configure(self, params: Mapping[str, str]) -> None:
        """Takes no params."""

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        if Path(f"{path}.down").exists():
            raise ProviderUnavailableError(f"the store of {path} cannot be reached")
        try:
            values = properties.load(Path(path).read_bytes())
        except FileNotFoundError:
            raise SecretNotFoundError(f"nothing at {path}") from None
        return ConfigData({key: text for key, text in values.items() if keys is None or key in keys})
