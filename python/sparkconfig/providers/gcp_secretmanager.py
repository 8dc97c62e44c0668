"""Google Cloud Secret Manager."""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from sparkconfig.errors import (
    AccessDeniedError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    SecretNotFoundError,
)
from sparkconfig.providers._kit.fields import BASE64_KEYS
from sparkconfig.providers._kit.http import CA_FILE, OAUTH_REFUSALS, transport_failure
from sparkconfig.providers._kit.named import Found, NamedStoreProvider, layout_param
from sparkconfig.providers._kit.params import Param, ParamValues
from sparkconfig.providers._kit.pins import split_pins
from sparkconfig.providers._kit.store import NETWORK, TTL

__all__ = ["GcpSecretManagerConfigProvider"]

_PACKAGE = "google.cloud.secretmanager_v1"
_TRANSPORT = f"{_PACKAGE}.services.secret_manager_service.transports"

# gRPC reports the cause only as text; we match these phrases and drop the rest.
_HINTS = (
    (
        ("SSL", "certificate", "Peer name"),
        "TLS failed; check that the file in the param ca.file holds the authority",
    ),
    (("DNS resolution failed",), "the host name cannot be resolved"),
)


def _channel(transport: Any, *arguments: Any, **more: Any) -> Any:  # noqa: ANN401 - as create_channel
    """Make a channel that connects again soon after an outage: gRPC's own pauses grow to two minutes."""
    pauses = [("grpc.initial_reconnect_backoff_ms", 100), ("grpc.max_reconnect_backoff_ms", 2000)]
    return transport.create_channel(*arguments, **{**more, "options": [*more.get("options", ()), *pauses]})


class GcpSecretManagerConfigProvider(NamedStoreProvider):
    """Secrets of one project, over gRPC."""

    alias = "gcp-secretmanager"
    java = ("SecretManagerConfigProvider",)
    store = "Google Cloud Secret Manager"
    extra = "gcp"
    requires = ("google-cloud-secret-manager>=2.20",)
    client = "google.cloud.secretmanager_v1"
    separator = "-"
    table = (
        Param("project", "project of names without one; unset: the credentials' project"),
        Param("location", "region, for regional secrets"),
        layout_param(),
        Param(
            "credentials.file",
            "key file of a service account; unset: application default credentials",
        ),
        Param("endpoint", "`HOST[:PORT]`, for private endpoints"),
        BASE64_KEYS,
        TTL,
        *NETWORK,
        CA_FILE,
    )
    paths = (
        "`${gcp:shop-prod:password}`: field `password` of the JSON secret `shop-prod`; `${gcp::shop-token}`: a whole "
        "secret; `projects/P/secrets/S` for other projects. Pin: `?version=3` or an alias; default `latest`"
    )
    auth = "application default credentials: workload identity, metadata server, `GOOGLE_APPLICATION_CREDENTIALS`"
    noisy_loggers = (
        "google.api_core",
        "google.auth.transport.requests",
        f"{_PACKAGE}.services.secret_manager_service.client",
        f"{_TRANSPORT}.grpc",
    )

    def __init__(self) -> None:
        super().__init__()
        self._client: Any = None
        self._lock = threading.Lock()

    def _connect(self, values: ParamValues, seconds: float) -> None:
        manager = self._import(_PACKAGE)
        transports = self._import(_TRANSPORT)
        grpc = self._import("grpc")
        self._errors = self._import("google.api_core.exceptions")
        self._auth_errors = self._import("google.auth.exceptions")
        self._request = self._import("google.auth.transport.requests").Request()
        self._seconds = seconds
        credentials, project = self._identity(values)
        location = values.optional("location")
        project = values.optional("project") or project
        if not project:
            raise values.wrong("project", "is not set, nor do the credentials name one")
        self._parent = f"projects/{project}" + (f"/locations/{location}" if location else "")
        default = (
            f"secretmanager.{location}.rep.googleapis.com" if location else "secretmanager.googleapis.com"
        )
        ca_file = values.optional("ca.file")
        tls = grpc.ssl_channel_credentials(self._authorities(values)) if ca_file else None
        transport = transports.SecretManagerServiceGrpcTransport(
            host=values.optional("endpoint") or default,
            credentials=credentials,
            ssl_channel_credentials=tls,
            always_use_jwt_access=True,
            channel=partial(_channel, transports.SecretManagerServiceGrpcTransport),
        )
        self._client = manager.SecretManagerServiceClient(transport=transport)
        # A service account signs its own tokens. Others log in, and gRPC would report a refused login as an outage.
        signs = isinstance(credentials, self._import("google.oauth2.service_account").Credentials)
        self._login = None if signs else credentials

    @staticmethod
    def _authorities(values: ParamValues) -> bytes:
        values.file_text("ca.file")
        return Path(values.text("ca.file")).read_bytes()

    def _identity(self, values: ParamValues) -> tuple[Any, str | None]:
        auth = self._import("google.auth")
        scopes = ["https://www.googleapis.com/auth/cloud-platform"]
        file = values.optional("credentials.file")
        try:
            if file:
                # By type, as google-auth asks for: a generic file may name programs to start and hosts to ask.
                accounts = self._import("google.oauth2.service_account")
                credentials = accounts.Credentials.from_service_account_file(file, scopes=scopes)
                project = credentials.project_id
            else:
                # Without scopes: with them it may log in, and ask another service for the project.
                credentials, project = auth.default()
                scoped = self._import("google.auth.credentials").with_scopes_if_required
                credentials = scoped(credentials, scopes)
                if not project and not values.optional("project") and hasattr(credentials, "get_project_id"):
                    project = credentials.get_project_id(self._request)
        except (self._auth_errors.GoogleAuthError, OSError, ValueError) as error:
            kind = type(error).__name__
        else:
            return credentials, project
        raise values.wrong(
            "credentials.file", f"holds no usable credentials, and neither does the environment ({kind})"
        )

    def _fetch(self, path: str, names: Collection[str]) -> Mapping[str, Found]:
        if self._login is not None:
            with self._lock:
                if not self._login.valid:
                    self._login.refresh(self._request)
        return self._each(names, lambda name: self._one(path, name))

    def _one(self, path: str, name: str) -> Found | None:
        plain, pins = split_pins(name, {"version"}, self._where(path))
        secret = plain if plain.startswith("projects/") else f"{self._parent}/secrets/{plain}"
        version = f"{secret}/versions/{pins.get('version', 'latest')}"
        try:
            answer = self._client.access_secret_version(name=version, retry=None, timeout=self._seconds)
        except self._errors.NotFound:
            return None
        return Found(bytes(answer.payload.data))

    def _failure(self, error: Exception, path: str) -> ProviderError:
        where, kind, known = self._where(path), type(error).__name__, self._errors
        if isinstance(error, self._auth_errors.GoogleAuthError):
            return self._login_failure(f"{where}, login", error)
        if not isinstance(error, known.GoogleAPIError):
            return super()._failure(error, path)
        meanings: tuple[tuple[Any, type[ProviderError], str], ...] = (
            (known.FailedPrecondition, SecretNotFoundError, "the version is disabled or destroyed"),
            (known.Unauthorized, AccessDeniedError, "not allowed; check credentials and IAM"),
            (known.Forbidden, AccessDeniedError, "not allowed; check credentials and IAM"),
            (known.DeadlineExceeded, ProviderTimeoutError, "no answer in time"),
            (known.InvalidArgument, ProviderError, "this store does not allow such a name"),
        )
        for cause, meaning, text in meanings:
            if isinstance(error, cause):
                return meaning(f"{where}: {text} ({kind})")
        hints = [hint for words, hint in _HINTS if any(each in str(error) for each in words)]
        return ProviderUnavailableError(f"{where}: {(hints or ['the store is not available'])[0]} ({kind})")

    def _login_failure(self, where: str, error: Any) -> ProviderError:  # noqa: ANN401 - a GoogleAuthError
        """Tell a login that was refused from one that was not heard: an outage is not a revocation."""
        kind = type(error).__name__
        # Both begin with OAuth's code, if the login server gave one; the second one after two words.
        code = re.split("[: ]", str(next(iter(error.args), "")).removeprefix("Error code "), maxsplit=1)[0]
        if code in OAUTH_REFUSALS:
            return AccessDeniedError(f"{where}: not allowed ({kind}); check the credentials")
        return transport_failure(where, error)

    def close(self) -> None:
        """Close the channel."""
        super().close()
        if self._client is not None:
            self._client.transport.close()
