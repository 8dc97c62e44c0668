"""Hadoop credential providers: keystore files that ``hadoop credential create`` writes."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sparkconfig.config_data import ConfigData
from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderError,
    ProviderUnavailableError,
    SecretNotFoundError,
)
from sparkconfig.providers._params import Param, ParamValues
from sparkconfig.providers._store import TTL, StoreProvider

__all__ = ["HadoopConfigProvider"]

_LOCAL = {"jceks", "localjceks"}
_DEFAULT_PASSWORD = "none"  # noqa: S105 - Hadoop's own, used when nothing else is set


class HadoopConfigProvider(StoreProvider):
    """Aliases of local JCEKS keystores; the first keystore that has an alias wins, as in Hadoop."""

    alias = "hadoop"
    store = "Hadoop credential providers (`localjceks`, `jceks` on local files)"
    table = (
        Param(
            "provider.path",
            "as `hadoop.security.credential.provider.path`: `localjceks://file/PATH` or `jceks://file/PATH`, "
            "comma-separated",
            required=True,
        ),
        Param(
            "password.file",
            "file with the keystores' password; unset: `HADOOP_CREDSTORE_PASSWORD`, else Hadoop's own",
        ),
        Param("password", "the keystores' password, as a reference to another provider", secret=True),
        TTL,
    )
    paths = "path: empty for all keystores, or the file of one; key: an alias, in any case"
    auth = "the keystore's password"

    @property
    def local(self) -> bool:
        """A read stays on this machine."""
        return True

    def __init__(self) -> None:
        super().__init__()
        self._files: dict[str, Path] = {}
        self._password = ""
        self._derived: dict[bytes, bytes] = {}
        self._lock = threading.Lock()

    def _open(self, values: ParamValues, seconds: float) -> None:  # noqa: ARG002 - files know no deadline
        for uri in values.patterns("provider.path"):
            parts = urlsplit(uri)
            if parts.scheme not in _LOCAL or parts.netloc != "file" or not parts.path:
                problem = f"{uri!r} is not read here: only localjceks://file/PATH and jceks://file/PATH are"
                raise ConfigurationError(f"provider {self.alias}: param provider.path: {problem}")
            self._files[unquote(parts.path)] = Path(unquote(parts.path))
        if values.optional("password.file"):
            self._password = values.identity("password.file")
        else:
            given = values.optional("password") or os.environ.get("HADOOP_CREDSTORE_PASSWORD")
            self._password = given or _DEFAULT_PASSWORD

    def _read(self, path: str, keys: Set[str] | None, left: float) -> ConfigData:  # noqa: ARG002
        if path and path not in self._files:
            raise SecretNotFoundError(f"{self._where(path)}: the param provider.path has no such keystore")
        wanted = [self._files[path]] if path else list(self._files.values())
        sealed: dict[str, Any] = {}
        for file in wanted:
            sealed = {**self._entries(file, path), **sealed}
        # The JDK writes aliases in lower case; Hadoop asks for them in any.
        chosen = {key: key for key in sealed} if keys is None else {key: key.lower() for key in keys}
        return ConfigData(self._opened(sealed, chosen, path), ttl=self._ttl)

    def _entries(self, file: Path, path: str) -> Mapping[str, Any]:
        from sparkconfig.providers import _jceks  # cryptography takes 30 ms

        try:
            return _jceks.read_keystore(file.read_bytes(), self._password)
        except FileNotFoundError:
            failure: ProviderError = SecretNotFoundError(f"{self._where(path)}: there is no file {file}")
        except PermissionError:
            failure = AccessDeniedError(f"{self._where(path)}: {file} may not be read")
        except OSError as error:
            failure = ProviderUnavailableError(
                f"{self._where(path)}: {file} is not readable ({type(error).__name__})"
            )
        except _jceks.WrongPasswordError:
            text = f"{self._where(path)}: wrong password for {file}, or its bytes were changed"
            failure = AccessDeniedError(text)
        except ValueError:
            failure = ProviderUnavailableError(
                f"{self._where(path)}: {file} is no JCEKS keystore of secret keys"
            )
        raise failure

    def _opened(self, sealed: Mapping[str, Any], chosen: Mapping[str, str], path: str) -> dict[str, str]:
        from sparkconfig.providers import _jceks

        found: dict[str, str] = {}
        for key, alias in chosen.items():
            if alias in sealed:
                try:
                    found[key] = _jceks.open_entry(sealed[alias], self._password, self._derived).decode(
                        "utf-8"
                    )
                    continue
                except ValueError:
                    pass
                raise ProviderUnavailableError(f"{self._where(path)}: the entry {alias!r} cannot be opened")
        return found

    def close(self) -> None:
        """Forget the password and the keys made from it."""
        super().close()
        self._password = ""
        self._derived.clear()
