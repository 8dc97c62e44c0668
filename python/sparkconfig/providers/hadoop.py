"""Hadoop credential providers: keystores that ``hadoop credential create`` writes, read in the driver's JVM."""

from __future__ import annotations

from collections.abc import Mapping, Set
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

_SCHEMES = {"localjceks", "jceks", "bcfks", "user"}
_MEANINGS: dict[str, tuple[type[ProviderError], str]] = {
    "missing": (SecretNotFoundError, "the keystore does not exist"),
    "denied": (AccessDeniedError, "not allowed, or the keystore has another password"),
}


class HadoopConfigProvider(StoreProvider):
    """Aliases of keystores; the first keystore that has an alias wins, as in Hadoop."""

    alias = "hadoop"
    store = "Hadoop credential providers (`localjceks`, `jceks`, `bcfks`, `user`)"
    table = (
        Param(
            "provider.path",
            "as `hadoop.security.credential.provider.path`, comma-separated: `localjceks://file/PATH`, "
            "`jceks://SCHEME@HOST/PATH` (HDFS, S3A, …), `bcfks://…`, `user:///`",
            required=True,
        ),
        TTL,
        *NETWORK,
    )
    paths = "path: empty for all keystores, or the file of one; key: an alias, in any case"
    auth = "the driver's own Hadoop identity, and the keystores' password where Hadoop looks for it"

    def __init__(self) -> None:
        super().__init__()
        self._stores: dict[str, str] = {}

    def _open(self, values: ParamValues, seconds: float) -> None:  # noqa: ARG002 - each read has its own
        for uri in values.patterns("provider.path"):
            parts = urlsplit(uri)
            path = unquote(parts.path)
            local = parts.scheme != "localjceks" or parts.netloc == "file"
            if parts.scheme in _SCHEMES and local and (parts.scheme == "user" or (parts.netloc and path)):
                self._stores[path] = uri
            else:
                known = "known are localjceks://file/PATH, jceks://SCHEME@HOST/PATH, bcfks, user:///"
                raise ConfigurationError(
                    f"provider {self.alias}: param provider.path: {uri!r} is not one of Hadoop's providers; {known}"
                )

    def _read(self, path: str, keys: Set[str] | None, left: float) -> ConfigData:
        if path and path not in self._stores:
            raise SecretNotFoundError(f"{self._where(path)}: provider.path does not list this keystore")
        found: dict[str, str] = {}
        for uri in [self._stores[path]] if path else self._stores.values():
            found = {**self._from_jvm(uri, keys, path, left), **found}
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
