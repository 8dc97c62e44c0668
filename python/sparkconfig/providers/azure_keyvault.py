"""Azure Key Vault secrets."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Mapping
from typing import Any

from sparkconfig.errors import AccessDeniedError, ProviderError, ProviderUnavailableError
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
        Param("tenant.id", "tenant of a service principal; unset: `DefaultAzureCredential`"),
        Param("client.id", "its client id; without `tenant.id`: a user-assigned managed identity"),
        Param("client.secret", "its secret, as a reference to another provider", secret=True),
        Param("client.secret.file", "file with its secret"),
        Param("authority.host", "login host of other clouds; unset: `AZURE_AUTHORITY_HOST`"),
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
        for name in ("azure.identity", "msal"):
            logging.getLogger(name).setLevel(logging.CRITICAL)  # their warnings and errors quote answers
        proxy = values.optional("proxy")
        network: dict[str, Any] = {
            "connection_timeout": min(seconds, 5),
            "read_timeout": seconds,
            "retry_total": 0,  # attempts are counted in one place: _retry
            "connection_verify": values.optional("ca.file") or True,
            **({"proxies": {"http": proxy, "https": proxy}} if proxy else {}),
        }
        if not values.text("vault.url").lower().startswith("https://"):
            raise values.wrong("vault.url", "must begin with https://", values.text("vault.url"))
        try:
            self._credential = self._identity(values, network)
            self._client = secrets.SecretClient(
                values.text("vault.url"),
                self._credential,
                verify_challenge_resource=values.text("verify.challenge") == "true",
                **network,
            )
        except ValueError:
            failure = values.wrong(
                "vault.url",
                "is not a URL of a vault, or the identity is malformed",
                values.text("vault.url"),
            )
        else:
            return
        raise failure

    def _identity(self, values: ParamValues, network: Mapping[str, Any]) -> Any:  # noqa: ANN401
        identity, has = self._import("azure.identity"), values.optional
        authority = {"authority": has("authority.host")} if has("authority.host") else {}
        if not has("tenant.id"):
            managed = {"managed_identity_client_id": has("client.id")} if has("client.id") else {}
            return identity.DefaultAzureCredential(**authority, **managed, **network)
        secret = values.file_text("client.secret.file") if has("client.secret.file") else has("client.secret")
        if not secret:
            raise values.wrong("client.secret.file", "is not set, nor is client.secret, but tenant.id is")
        # Another authority than Azure's clouds is not in Microsoft's directory of authorities.
        return identity.ClientSecretCredential(
            values.text("tenant.id"),
            values.text("client.id"),
            secret,
            disable_instance_discovery=bool(authority),
            **authority,
            **network,
        )

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
            return self._login_failure(where, error)
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

    def _login_failure(self, where: str, error: Any) -> ProviderError:  # noqa: ANN401 - a ClientAuthenticationError
        """Tell a login that was refused from one that was not heard: an outage is not a revocation."""
        if (
            error.__cause__ is not None
        ):  # what azure-identity did not expect: no connection, HTTP 5xx, no JSON
            return transport_failure(f"{where}, login", error.__cause__)
        kind = type(error).__name__
        return AccessDeniedError(f"{where}: not allowed ({kind}); check identity and the vault's permissions")

    def close(self) -> None:
        """Close the connections."""
        super().close()
        for each in (self._client, self._credential):
            if each is not None:
                each.close()
