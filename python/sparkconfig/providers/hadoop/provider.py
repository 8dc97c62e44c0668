"""Hadoop credential providers: keystores that ``hadoop credential create`` writes.

Those in local files are read here, without a JVM; all others by Hadoop itself, in the driver's JVM.
"""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sparkconfig._base import jvm
from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderError,
    ProviderUnavailableError,
    SecretNotFoundError,
)
from sparkconfig.providers._kit.params import Param, ParamValues
from sparkconfig.providers._kit.store import NETWORK, TTL, StoreProvider
from sparkconfig.providers.base import ConfigData

__all__ = ["HadoopConfigProvider"]

_LOCAL = {"jceks", "localjceks"}
_REMOTE = {"jceks", "bcfks", "user"}
_MEANINGS: dict[str, tuple[type[ProviderError], str]] = {
    "missing": (SecretNotFoundError, "there is no such keystore"),
    "denied": (AccessDeniedError, "not allowed, or the keystore has another password"),
}
_DEFAULT_PASSWORD = "none"  # noqa: S105 - Hadoop's own, used when nothing else is set


class HadoopConfigProvider(StoreProvider):
    """Aliases of keystores; the first keystore that has an alias wins, as in Hadoop."""

    alias = "hadoop"
    store = "Hadoop credential providers (`localjceks`, `jceks`, `bcfks`, `user`)"
    table = (
        Param(
            "provider.path",
            "as `hadoop.security.credential.provider.path`, comma-separated: `localjceks://file/PATH` and "
            "`jceks://file/PATH` are read here; `jceks://SCHEME@HOST/PATH` (HDFS, S3A, …), `bcfks://…` and `user:///` "
            "by Hadoop in the driver's JVM",
            required=True,
        ),
        Param(
            "password.file",
            "file with the password of keystores that are read here; unset: `HADOOP_CREDSTORE_PASSWORD`, else Hadoop's "
            "own",
        ),
        Param("password", "the same password, as a reference to another provider", secret=True),
        TTL,
        *NETWORK,
    )
    paths = "path: empty for all keystores, or the file of one; key: an alias, in any case"
    auth = "the keystore's password; in the JVM the driver's own Hadoop identity and the password that Hadoop finds"

    @property
    def local(self) -> bool:
        """Whether each read stays on this machine."""
        return not any(isinstance(store, str) for store in self._stores.values())

    def __init__(self) -> None:
        super().__init__()
        self._stores: dict[str, Path | str] = {}
        self._password = ""
        self._derived: dict[bytes, bytes] = {}
        self._lock = threading.Lock()

    def _open(self, values: ParamValues, seconds: float) -> None:  # noqa: ARG002 - each read has its own
        for uri in values.patterns("provider.path"):
            parts = urlsplit(uri)
            path = unquote(parts.path)
            if parts.scheme in _LOCAL and parts.netloc == "file" and path:
                self._stores[path] = Path(path)
            elif parts.scheme in _REMOTE and (parts.scheme == "user" or (parts.netloc and path)):
                self._stores[path] = uri
            else:
                known = "known are localjceks://file/PATH, jceks://file/PATH, jceks://SCHEME@HOST/PATH, bcfks, user:///"
                raise ConfigurationError(
                    f"provider {self.alias}: param provider.path: {uri!r} is not one of Hadoop's providers; {known}"
                )
        if values.optional("password.file"):
            self._password = values.identity("password.file")
        else:
            given = values.optional("password") or os.environ.get("HADOOP_CREDSTORE_PASSWORD")
            self._password = given or _DEFAULT_PASSWORD

    def _read(self, path: str, keys: Set[str] | None, left: float) -> ConfigData:
        if path and path not in self._stores:
            raise SecretNotFoundError(f"{self._where(path)}: the param provider.path has no such keystore")
        found: dict[str, str] = {}
        for store in [self._stores[path]] if path else self._stores.values():
            if isinstance(store, str):
                answer = self._from_jvm(store, keys, path, left)
            else:
                sealed = self._entries(store, path)
                # The JDK writes aliases in lower case; Hadoop asks for them in any.
                chosen = {key: key for key in sealed} if keys is None else {key: key.lower() for key in keys}
                absent = {key: alias for key, alias in chosen.items() if key not in found}
                answer = self._opened(sealed, absent, path)
            found = {**answer, **found}
        return ConfigData(found, ttl=self._ttl)

    def _from_jvm(self, uri: str, keys: Set[str] | None, path: str, left: float) -> Mapping[str, str]:
        ask = jvm.driver()
        if ask is None:
            problem = f"{uri} is read by the driver's JVM, and this process belongs to none: try it in an application"
            raise jvm.NoDriverError(f"{self._where(path)}: {problem}")
        aliases = None if keys is None else sorted(keys)
        answer = ask("hadoop.credentials", {"provider": uri, "aliases": aliases}, left)
        if "values" in answer:
            return {str(alias): str(value) for alias, value in answer["values"].items()}
        failed = f"Hadoop could not read it ({answer.get('class')})"
        kind, text = _MEANINGS.get(str(answer.get("error")), (ProviderUnavailableError, failed))
        raise kind(f"{self._where(path)}: {uri}: {text}")

    def _entries(self, file: Path, path: str) -> Mapping[str, Any]:
        from sparkconfig.providers.hadoop import jceks

        if importlib.util.find_spec("cryptography") is None:  # importing it takes 30 ms
            problem = "keystores in local files need the package 'cryptography': pip install cryptography"
            raise ConfigurationError(f"{self._where(path)}: {problem}")
        try:
            return jceks.read_keystore(file.read_bytes(), self._password)
        except FileNotFoundError:
            failure: ProviderError = SecretNotFoundError(f"{self._where(path)}: there is no file {file}")
        except PermissionError:
            failure = AccessDeniedError(f"{self._where(path)}: {file} may not be read")
        except OSError as error:
            failure = ProviderUnavailableError(
                f"{self._where(path)}: {file} is not readable ({type(error).__name__})"
            )
        except jceks.WrongPasswordError:
            text = f"{self._where(path)}: wrong password for {file}, or its bytes were changed"
            failure = AccessDeniedError(text)
        except ValueError:
            failure = ProviderUnavailableError(
                f"{self._where(path)}: {file} is not a JCEKS keystore of secret keys"
            )
        raise failure

    def _opened(self, sealed: Mapping[str, Any], chosen: Mapping[str, str], path: str) -> dict[str, str]:
        from sparkconfig.providers.hadoop import jceks

        found: dict[str, str] = {}
        for key, alias in chosen.items():
            if alias in sealed:
                try:
                    found[key] = jceks.open_entry(sealed[alias], self._password, self._derived).decode(
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
