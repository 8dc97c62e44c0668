"""Access tokens of Microsoft Entra ID, made on demand."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Set
from typing import Any

from sparkconfig.errors import ProviderError
from sparkconfig.providers._kit.entra import ENTRA_PARAMS, entra_identity, entra_network, login_failure
from sparkconfig.providers._kit.http import CA_FILE, PROXY, transport_failure
from sparkconfig.providers._kit.minted import ttl_of
from sparkconfig.providers._kit.params import Param, ParamValues
from sparkconfig.providers._kit.store import NETWORK, StoreProvider
from sparkconfig.providers.base import ConfigData

__all__ = ["AzureTokenConfigProvider"]

_RESOURCE = re.compile(r"[\w.~-]+(/[\w.~-]+)*", re.ASCII)
_GUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", re.ASCII)


class AzureTokenConfigProvider(StoreProvider):
    """Tokens for one resource each, by the identity that azure-identity finds."""

    alias = "azure-token"
    store = "access tokens of Microsoft Entra ID"
    extra = "azure"
    requires = ("azure-keyvault-secrets>=4.8", "azure-identity>=1.16")
    client = "azure.identity"
    table = (
        Param(
            "scope", "scope of the tokens; the path of a reference replaces it",
            default="https://storage.azure.com/.default",
        ),
        *ENTRA_PARAMS,
        *NETWORK,
        CA_FILE,
        PROXY,
    )  # fmt: skip
    paths = (
        "`${entra::access_token}`; `${entra:database.windows.net:access_token}` for another resource, by its host or"
        " its application id. `authorization` is the token with `Bearer` in front, ready for a header"
    )
    ttl_rule = "three quarters of the token's life"
    auth = "`DefaultAzureCredential`: workload and managed identity, environment, CLI; or a service principal"
    noisy_loggers = ("azure.core.pipeline", "urllib3.connectionpool")

    def _open(self, values: ParamValues, seconds: float) -> None:
        self._values = values
        self._network = entra_network(values, seconds)
        with contextlib.closing(self._identity()):
            pass

    def _identity(self) -> Any:  # noqa: ANN401 - a TokenCredential
        try:
            return entra_identity(self._import("azure.identity"), self._values, self._network)
        except ValueError:
            pass
        raise self._values.wrong(
            "authority.host", "is not a login host (https://), or tenant.id is malformed"
        )

    def _read(self, path: str, keys: Set[str] | None, left: float) -> ConfigData:  # noqa: ARG002 - see _network
        where, scope = self._where(path), self._scope(path)
        # A credential keeps its tokens until five minutes before their end; one that is new asks for a new token.
        with contextlib.closing(self._identity()) as identity:
            made = identity.get_token(scope)
        # azure-identity adds what the server tells as seconds to this machine's clock before it asks, so that the clock
        # plays no part, and the time that the answer took has gone from the token's life.
        ttl = ttl_of(made.expires_on - time.time(), self._values, where)
        found = {"access_token": made.token, "authorization": f"Bearer {made.token}"}
        return ConfigData(
            found if keys is None else {key: found[key] for key in keys if key in found}, ttl=ttl
        )

    def _scope(self, path: str) -> str:
        if not path:
            return self._values.text("scope").strip()
        if _RESOURCE.fullmatch(path) is None:
            raise ProviderError(
                f"{self._where(path)}: the path must be a resource's host name or application id"
            )
        scope = path if path.endswith("/.default") else f"{path}/.default"
        return scope if _GUID.match(path) else f"https://{scope}"

    def _failure(self, error: Exception, path: str) -> ProviderError:
        where, kind = self._where(path), type(error).__name__
        if kind in {"CredentialUnavailableError", "ClientAuthenticationError"}:
            return login_failure(where, error, "identity and resource")
        if kind in {"ServiceRequestError", "ServiceResponseError"}:
            return transport_failure(f"{where}, login", error)
        return super()._failure(error, path)
