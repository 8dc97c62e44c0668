"""Kafka's own behaviour, for configurations that come from Kafka (KIP-297, KIP-421).

The providers here answer as the Java classes of the same names do, where ours are stricter: a forbidden path is
silence (and a warning in the log), an unreadable file a ConfigurationError, other formats than Java properties do
not exist. One difference stays: a symbolic link does not lead out of ``allowed.paths``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Set
from typing import cast

from sparkconfig._base.text import shorten
from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderError,
    ProviderStateError,
    SecretNotFoundError,
    SparkConfigError,
)
from sparkconfig.providers import directory, envvar, file
from sparkconfig.providers._kit.paths import AllowedPaths
from sparkconfig.providers.base import ConfigData, ConfigProvider
from sparkconfig.providers.registry import find_class
from sparkconfig.resolution.declared import Providers
from sparkconfig.resolution.transformer import ConfigTransformer

__all__ = [
    "CLASSES",
    "DirectoryConfigProvider",
    "EnvVarConfigProvider",
    "FileConfigProvider",
    "allowed_path",
    "resolve",
]

_log = logging.getLogger(__name__)
_PROVIDERS = "config.providers"
_ALLOWLIST = "org.apache.kafka.automatic.config.providers"


class FileConfigProvider(file.FileConfigProvider):
    """``org.apache.kafka.common.config.provider.FileConfigProvider``."""

    def configure(self, params: Mapping[str, str]) -> None:
        """Take ``allowed.paths``; other params are ignored."""
        super().configure({**_only(params, "allowed.paths"), "format": "properties"})

    def get(self, path: str | None, keys: Set[str] | None = None) -> ConfigData:
        """Read as Kafka does.

        Raises:
            ConfigurationError: the file cannot be read.
            ProviderStateError: not configured.
        """
        _check(configured=self._allowed is not None)
        if not path:
            return ConfigData({})
        try:
            return super().get(path, keys)
        except ProviderError as error:
            if _forbidden(error, path, self._allowed):
                return ConfigData({})
        raise ConfigurationError(f"Could not read properties from file {path}")


class DirectoryConfigProvider(directory.DirectoryConfigProvider):
    """``org.apache.kafka.common.config.provider.DirectoryConfigProvider``."""

    def configure(self, params: Mapping[str, str]) -> None:
        """Take ``allowed.paths``; other params are ignored."""
        super().configure(_only(params, "allowed.paths"))

    def get(self, path: str | None, keys: Set[str] | None = None) -> ConfigData:
        """Read as Kafka does.

        Raises:
            ConfigurationError: the directory cannot be listed.
            ProviderStateError: not configured.
        """
        _check(configured=self._allowed is not None)
        if not path:
            return ConfigData({})
        if "\0" in path:
            raise ConfigurationError(f"'{shorten(path)}' cannot be a path")
        try:
            return super().get(path, keys)
        except SecretNotFoundError as error:
            _log.warning("%s", error)
            return ConfigData({})
        except ProviderError as error:
            if _forbidden(error, path, self._allowed):
                return ConfigData({})
        raise ConfigurationError(f"Could not list directory {path}")

    def _outside(self, file: str, *, asked: bool) -> None:  # noqa: ARG002 - asked for or not, it is not a key
        super()._outside(file, asked=False)


class EnvVarConfigProvider(envvar.EnvVarConfigProvider):
    """``org.apache.kafka.common.config.provider.EnvVarConfigProvider``."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        super().__init__(environ)
        self._configured = False

    def configure(self, params: Mapping[str, str]) -> None:
        """Take ``allowlist.pattern``; other params are ignored, and a null pattern is the text ``null``."""
        pattern: object = params.get("allowlist.pattern")
        if pattern is None and "allowlist.pattern" in params:
            pattern = "null"
        self.allow(None if pattern is None else str(pattern))
        self._configured = True

    def get(self, path: str | None, keys: Set[str] | None = None) -> ConfigData:
        """Read as Kafka does.

        Raises:
            ConfigurationError: a path was given.
            ProviderStateError: not configured.
        """
        _check(configured=self._configured)
        return super().get(path or "", keys)


_PACKAGE = "org.apache.kafka.common.config.provider."
CLASSES: Mapping[str, type[ConfigProvider]] = {
    f"{_PACKAGE}{kind.__name__}": kind
    for kind in (FileConfigProvider, DirectoryConfigProvider, EnvVarConfigProvider)
}
"""Kafka's class names and their counterparts here."""


def resolve(
    originals: Mapping[str, object],
    provider_props: Mapping[str, object] | None = None,
    *,
    automatic_config_providers: str | None = None,
    classes: Mapping[str, Callable[[], object]] = CLASSES,
) -> dict[str, object]:
    """Resolve the references of a configuration that may declare its own providers (KIP-421).

    Args:
        originals: the configuration. Values that are not text pass unchanged.
        provider_props: a separate map that declares the providers; what ``originals`` declares then does not count.
        automatic_config_providers: names of the classes that ``originals`` may declare, separated by commas;
            None: any. Does not limit ``provider_props``, which the caller trusts.
        classes: makers by class name; other names are aliases or dotted Python paths.

    Returns:
        ``originals`` with a :class:`Secret` for each value in which a reference was replaced. What has no value
        stays as it is written.

    Raises:
        ConfigurationError: a class is not allowed or cannot be loaded, or a provider's own error.
    """
    separate = bool(provider_props)
    declared = provider_props if provider_props else originals
    allowed = None
    if not separate and automatic_config_providers is not None:
        allowed = {name.strip() for name in automatic_config_providers.split(",")}
    with Providers() as providers:
        for name, class_name in _declared(declared, allowed).items():
            prefix = f"{_PROVIDERS}.{name}.param."
            params = {key[len(prefix) :]: value for key, value in declared.items() if _has_rest(key, prefix)}
            provider = _make(f"{_PROVIDERS}.{name}.class", class_name, classes)
            providers.configure(name, provider, cast("Mapping[str, str]", params))  # Kafka passes any object
        if not providers:
            return dict(originals)
        texts = {key: value for key, value in originals.items() if isinstance(value, str)}
        return {**originals, **ConfigTransformer(providers).transform(texts).data}


def allowed_path(config: str | None, path: str) -> str | None:
    """Return the path that a provider with ``allowed.paths=config`` would open; None: it is not allowed.

    Raises:
        ConfigurationError: an entry of ``config`` is not absolute or does not exist.
    """
    return AllowedPaths(config).usable(path)


def _declared(props: Mapping[str, object], allowed: Set[str] | None) -> dict[str, str]:
    """Name to class; names are not trimmed, and one without a class is not a provider."""
    names = props.get(_PROVIDERS)
    if not isinstance(names, str) or not names:
        return {}
    found: dict[str, str] = {}
    for name in names.split(","):
        class_name = props.get(f"{_PROVIDERS}.{name}.class")
        if not isinstance(class_name, str):
            continue
        if allowed is not None and class_name not in allowed:
            raise ConfigurationError(
                f"{class_name} is not allowed. Update System property '{_ALLOWLIST}' to allow {class_name}"
            )
        found[name] = class_name
    return found


def _make(key: str, class_name: str, classes: Mapping[str, Callable[[], object]]) -> ConfigProvider:
    maker = classes.get(class_name)
    if maker is None:
        try:
            maker = find_class(class_name)
        except ConfigurationError:
            maker = None
    if maker is None:
        raise ConfigurationError(
            f"Invalid value {class_name} for configuration {key}:"
            " Could not load config provider class or one of its dependencies"
        )
    provider = maker()
    if not isinstance(provider, ConfigProvider):
        raise ConfigurationError(f"{key}: {class_name} is not a ConfigProvider")
    return provider


def _has_rest(key: str, prefix: str) -> bool:
    return key.startswith(prefix) and len(key) > len(prefix)


def _only(params: Mapping[str, str], name: str) -> dict[str, str]:
    value = params.get(name)
    return {} if value is None else {name: str(value)}


def _check(*, configured: bool) -> None:
    if not configured:
        raise ProviderStateError("The provider has not been configured yet.")


def _forbidden(error: SparkConfigError, path: str, allowed: AllowedPaths | None) -> bool:
    """Whether the provider's own allowlist refused, which Kafka only logs."""
    try:
        denied = isinstance(error, AccessDeniedError) and allowed is not None and allowed.usable(path) is None
    except ProviderError:  # it cannot be followed, which Kafka takes for a file that cannot be read
        denied = False
    if denied:
        _log.warning("%s", error)
    return denied
