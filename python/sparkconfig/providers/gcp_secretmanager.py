"""Google Cloud Secret Manager."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from sparkconfig.errors import (
    AccessDeniedError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    SecretNotFoundError,
)
from sparkconfig.providers._http import CA_FILE
from sparkconfig.providers._named import Found, NamedStoreProvider, layout_param
from sparkconfig.providers._params import Param, ParamValues
from sparkconfig.providers._pins import split_pins
from sparkconfig.providers._store import BASE64_KEYS, NETWORK, TTL

__all__ = ["GcpSecretManagerConfigProvider"]

_PACKAGE = "google.cloud.secretmanager_v1"
_TRANSPORT = f"{_PACKAGE}.services.secret_manager_service.transports"


class GcpSecretManagerConfigProvider(NamedStoreProvider):
    """Secrets of one project, over gRPC."""

    alias = "gcp-secretmanager"
    store = "Google Cloud Secret Manager"
    extra = "gcp"
    client = "google.cloud.secretmanager_v1"
    separator = "-"
    table = (
        Param("project", "project of names that hold none; unset: that of the credentials"),
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

    def _connect(self, values: ParamValues, seconds: float) -> None:
        manager = self._import(_PACKAGE)
        transports = self._import(_TRANSPORT)
        grpc = self._import("grpc")
        self._errors = self._import("google.api_core.exceptions")
        self._auth_errors = self._import("google.auth.exceptions")
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
        )
        self._client = manager.SecretManagerServiceClient(transport=transport)

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
                credentials, project = auth.default(scopes=scopes)
        except (self._auth_errors.GoogleAuthError, OSError, ValueError) as error:
            kind = type(error).__name__
        else:
            return credentials, project
        raise values.wrong(
            "credentials.file", f"gives no usable credentials, nor does the environment ({kind})"
        )

    def _fetch(self, path: str, names: Collection[str]) -> Mapping[str, Found]:
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
        if isinstance(error, known.FailedPrecondition):
            return SecretNotFoundError(f"{where}: the version is disabled or destroyed")
        if isinstance(error, known.Unauthorized | known.Forbidden | self._auth_errors.RefreshError):
            return AccessDeniedError(f"{where}: not allowed ({kind}); check credentials and IAM")
        if isinstance(error, known.DeadlineExceeded):
            return ProviderTimeoutError(f"{where}: no answer in time ({kind})")
        if isinstance(error, known.InvalidArgument):
            return ProviderError(f"{where}: the name is not possible in this store")
        if isinstance(error, known.GoogleAPIError | self._auth_errors.GoogleAuthError):
            return ProviderUnavailableError(f"{where}: the store is not available ({kind})")
        return super()._failure(error, path)

    def close(self) -> None:
        """Close the channel."""
        super().close()
        if self._client is not None:
            self._client.transport.close()
