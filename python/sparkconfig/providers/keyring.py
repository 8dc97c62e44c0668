"""The desktop's keyring, for developers' machines."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderError,
    ProviderUnavailableError,
)
from sparkconfig.providers._kit.params import Param, ParamValues
from sparkconfig.providers._kit.store import TTL, StoreProvider
from sparkconfig.providers.base import ConfigData

__all__ = ["KeyringConfigProvider"]


class KeyringConfigProvider(StoreProvider):
    """Passwords of a service by user name: macOS Keychain, Secret Service, KWallet, Windows."""

    alias = "keyring"
    store = "the desktop's keyring"
    extra = "keyring"
    requires = ("keyring>=24",)
    client = "keyring"
    table = (
        Param("backend", "dotted name of a backend, such as `keyring.backends.SecretService.Keyring`"),
        TTL,
    )
    paths = "`${keyring:SERVICE:USER}`, as in `keyring get SERVICE USER`"
    auth = "the session that the user has unlocked"

    def __init__(self) -> None:
        super().__init__()
        self._backend: Any = None

    def _open(self, values: ParamValues, seconds: float) -> None:  # noqa: ARG002 - keyrings know no deadline
        keyring = self._import("keyring")
        self._errors = self._import("keyring.errors")
        name = values.optional("backend")
        if name is None:
            self._backend = keyring.get_keyring()
            return
        try:
            self._backend = self._import("keyring.core").load_keyring(name)
        except Exception as error:  # noqa: BLE001 - a backend may raise anything while it starts
            kind = type(error).__name__
        else:
            return
        raise values.wrong("backend", f"names no usable backend ({kind})", name)

    def _read(self, path: str, keys: Set[str] | None, left: float) -> ConfigData:  # noqa: ARG002
        if keys is None:
            raise ConfigurationError(f"{self._where(path)}: a keyring cannot list; name the keys")
        answers = {key: self._backend.get_password(path, key) for key in sorted(keys)}
        return ConfigData({key: value for key, value in answers.items() if value is not None}, ttl=self._ttl)

    def _failure(self, error: Exception, path: str) -> ProviderError:
        where, kind = self._where(path), type(error).__name__
        if isinstance(error, self._errors.KeyringLocked):
            return AccessDeniedError(f"{where}: the keyring is locked; unlock it")
        if isinstance(error, self._errors.NoKeyringError):
            return ProviderUnavailableError(f"{where}: this machine has no keyring; see the param backend")
        return ProviderUnavailableError(f"{where}: the keyring failed ({kind})")
