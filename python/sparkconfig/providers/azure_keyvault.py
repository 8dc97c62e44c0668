"""Azure Key Vault secrets."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from typing import Any

from sparkconfig.errors import ProviderError, ProviderUnavailableError
from sparkconfig.providers._kit.entra import ENTRA_PARAMS, entra_identity, entra_network, login_failure
from sparkconfig.providers._kit.http import CA_FILE, PROXY, status_failure, transport_failure
from sparkconfig.providers._kit.named import Found, NamedStoreProvider, layout_param
from sparkconfig.providers._kit.params import Param, ParamValues
from sparkconfig.providers._kit.pins import split_pins
from sparkconfig.providers._kit.store import NETWORK, TTL

__all__ = ["AzureKeyVaultConfigProvider"]


class AzureKeyVaultConfigProvider(NamedStoreProvider):
    """Secrets of one vault; names hold letters, digits and dashes only."""

    alias = "azure-keyvault"
    java = ("AzureSecretProvider", "KeyVaultConfigProvider")
    store = "Azure Key Vault secrets"
    extra = "azure"
    requires = ("azure-keyvault-secrets>=4.8", "azure-identity>=1.16")
    client = "azure.keyvault.secrets"
    separator = "-"
    table = (
        Param("vault.url", "`https://NAME.vault.azure.net`", required=True),
        layout_param(),
        *ENTRA_PARAMS,
        Param(
            "verify.challenge",
            "`false` for vaults under a domain of your own: the token then goes to the host in `vault.url`",
            default="true",
            choices=("true", "false"),
        ),
        TTL,
        *NETWORK,
        CA_FILE,
        PROXY,
    )
    paths = (
        "`${azure:shop-prod:password}`: field `password` of the JSON secret `shop-prod`; `${azure::shop-token}`: a "
        "whole secret. Pin: `?version=ID` after the name"
    )
    ttl_rule = "until the secret's expiry date, if that is in the future, or `ttl` if sooner"
    auth = "`DefaultAzureCredential`: workload and managed identity, environment, CLI; or a service principal"
    noisy_loggers = ("azure.core.pipeline", "urllib3.connectionpool")

    def __init__(self) -> None:
        super().__init__()
        self._client: Any = None
        self._credential: Any = None

    def _connect(self, values: ParamValues, seconds: float) -> None:
        secrets = self._import("azure.keyvault.secrets")
        self._errors = self._import("azure.core.exceptions")
        network = entra_network(values, seconds)
        url = values.server("vault.url", values.text("vault.url"))
        if not url.lower().startswith("https://"):
            raise values.wrong("vault.url", "must begin with https://", url)
        try:
            self._credential = entra_identity(self._import("azure.identity"), values, network)
            self._client = secrets.SecretClient(
                url,
                self._credential,
                verify_challenge_resource=values.text("verify.challenge") == "true",
                **network,
            )
        except ValueError:
            failure = values.wrong(
                "vault.url",
                "is not a URL of a vault, or the identity is malformed",
                url,
            )
        else:
            return
        raise failure

    def _fetch(self, path: str, names: Collection[str]) -> Mapping[str, Found]:
        return self._each(names, lambda name: self._one(path, name))

    def _one(self, path: str, name: str) -> Found | None:
        plain, pins = split_pins(name, {"version"}, self._where(path))
        try:
            secret = self._client.get_secret(plain, pins.get("version"))
        except self._errors.ResourceNotFoundError:
            return None
        if secret.value is None:
            raise TypeError("no value")
        end = secret.properties.expires_on
        # Without an end, or after it (the vault still answers), there is nothing to count down to: no ttl from it.
        return Found(secret.value, int((end.timestamp() - time.time()) * 1000) if end else None)

    def _failure(self, error: Exception, path: str) -> ProviderError:
        where, kind = self._where(path), type(error).__name__
        if kind in {"CredentialUnavailableError", "ClientAuthenticationError"}:
            return login_failure(where, error, "identity and the vault's permissions")
        if isinstance(error, self._errors.ServiceRequestError | self._errors.ServiceResponseError):
            return transport_failure(where, error)
        if isinstance(error, self._errors.DecodeError):
            return super()._failure(error, path)
        if isinstance(error, self._errors.HttpResponseError) and error.status_code:
            return status_failure(where, error.status_code)
        if isinstance(error, ValueError):
            problem = f"{where}: the vault's challenge does not fit its URL; see the param verify.challenge"
            return ProviderUnavailableError(problem)
        return super()._failure(error, path)

    def close(self) -> None:
        """Close the connections."""
        super().close()
        for each in (self._client, self._credential):
            if each is not None:
                each.close()
