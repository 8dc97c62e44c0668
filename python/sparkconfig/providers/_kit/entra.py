"""Logins at Microsoft Entra ID with azure-identity, for what reads from Azure."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from sparkconfig.errors import AccessDeniedError, ProviderError, ProviderUnavailableError
from sparkconfig.providers._kit.http import status_failure, transport_failure
from sparkconfig.providers._kit.params import Param, ParamValues

__all__ = ["ENTRA_PARAMS", "entra_identity", "entra_network", "login_failure"]

ENTRA_PARAMS = (
    Param("tenant.id", "tenant of a service principal; unset: `DefaultAzureCredential`"),
    Param("client.id", "its client id; without `tenant.id`: a user-assigned managed identity"),
    Param("client.secret", "its secret, as a reference to another provider", secret=True),
    Param("client.secret.file", "file with its secret"),
    Param("authority.host", "login host of other clouds; unset: `AZURE_AUTHORITY_HOST`"),
)


def entra_network(values: ParamValues, seconds: float) -> dict[str, Any]:
    """Return what Microsoft's clients take as limits, authorities and proxy; ``seconds`` is the longest read."""
    for name in ("azure.identity", "msal"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # their warnings and errors quote answers
    proxy = values.optional("proxy")
    return {
        "connection_timeout": min(seconds, 5),
        "read_timeout": seconds,
        "retry_total": 0,  # attempts are counted in one place: _retry
        "connection_verify": values.optional("ca.file") or True,
        **({"proxies": {"http": proxy, "https": proxy}} if proxy else {}),
    }


def entra_identity(identity: Any, values: ParamValues, network: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Return a credential of azure-identity, which logs in when it is asked for a token.

    Args:
        identity: the module azure.identity.
        values: the params, :data:`ENTRA_PARAMS` among them.
        network: what :func:`entra_network` returned.

    Raises:
        ConfigurationError: a param is missing.
        ValueError: the client finds one malformed.
    """
    has = values.optional
    network = {**network, "raw_response_hook": _heard}
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


class _Busy(Exception):  # noqa: N818 - it is a status
    """The login server has no time; msal would take an answer with a JSON error for a refusal."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def _heard(response: Any) -> None:  # noqa: ANN401 - azure-core's PipelineResponse
    status = int(response.http_response.status_code)
    failure = status_failure("", status) if status >= 300 else None
    if isinstance(failure, ProviderUnavailableError) and response.http_request.method == "POST":
        raise _Busy(status)


def login_failure(where: str, error: Any, check: str) -> ProviderError:  # noqa: ANN401 - a ClientAuthenticationError
    """Tell a login that was refused from one that was not heard: an outage is not a revocation.

    Args:
        where: names provider and path.
        error: azure-identity's.
        check: what to check after a refusal.
    """
    cause = error.__cause__
    if isinstance(cause, _Busy):
        return status_failure(f"{where}, login", cause.status)
    if isinstance(
        cause, (KeyError, TypeError, ValueError)
    ):  # an answer that msal or azure-identity cannot read
        return ProviderUnavailableError(
            f"{where}, login: the login server gave an unusable answer ({type(cause).__name__})"
        )
    if cause is not None:  # what azure-identity did not expect: no connection, HTTP 5xx, no JSON
        return transport_failure(f"{where}, login", cause)
    return AccessDeniedError(f"{where}: not allowed ({type(error).__name__}); check {check}")
