"""Databricks secret scopes."""

from __future__ import annotations

import base64
import logging
import os
import threading
import time
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderError,
    ProviderUnavailableError,
    SecretNotFoundError,
)
from sparkconfig.providers._kit.fields import BASE64_KEYS
from sparkconfig.providers._kit.http import CA_FILE, OAUTH_REFUSALS, PROXY, transport_failure
from sparkconfig.providers._kit.named import WHOLE, Found, NamedStoreProvider, layout_param
from sparkconfig.providers._kit.params import Param, ParamValues
from sparkconfig.providers._kit.store import NETWORK, TTL

__all__ = ["DatabricksConfigProvider"]


class DatabricksConfigProvider(NamedStoreProvider):
    """Secrets of a scope, through the workspace's REST API."""

    alias = "databricks"
    store = "Databricks secret scopes"
    extra = "databricks"
    requires = ("databricks-sdk>=0.30",)
    client = "databricks.sdk"
    table = (
        layout_param(WHOLE),
        Param(
            "host", "URL of the workspace; unset: the SDK's own configuration (`DATABRICKS_HOST`, profile)"
        ),
        Param("profile", "profile of `~/.databrickscfg`"),
        Param("token", "personal access token, as a reference to another provider", secret=True),
        Param("token.file", "file with a personal access token"),
        Param("client.id", "OAuth client id of a service principal"),
        Param("client.secret", "its secret, as a reference", secret=True),
        Param("client.secret.file", "file with its secret"),
        BASE64_KEYS,
        TTL,
        *NETWORK,
        CA_FILE,
        PROXY,
    )
    paths = "`${databricks:SCOPE:KEY}`; with `layout=json` `${databricks:SCOPE/KEY:FIELD}`"
    auth = "the SDK's chain: environment, profile, OAuth of a service principal, Azure or Google identity; token file"
    noisy_loggers = ("databricks.sdk", "urllib3.connectionpool")

    def __init__(self) -> None:
        super().__init__()
        self._session: Any = None

    def _connect(self, values: ParamValues, seconds: float) -> None:
        sdk, core = self._import("databricks.sdk"), self._import("databricks.sdk.core")
        self._errors = self._import("databricks.sdk.errors")
        self._requests = self._import("requests")
        logging.getLogger("databricks.sdk").setLevel(logging.ERROR)  # its warnings quote answers
        has = values.optional
        token = values.file_text("token.file") if has("token.file") else has("token")
        secret = values.file_text("client.secret.file") if has("client.secret.file") else has("client.secret")
        try:
            config = core.Config(
                host=has("host"),
                profile=has("profile"),
                token=token,
                client_id=has("client.id"),
                client_secret=secret,
                http_timeout_seconds=seconds,
                retry_timeout_seconds=1,
            )
            client = sdk.WorkspaceClient(config=config)
        except (ValueError, OSError) as error:
            kind, answered = type(error).__name__, not isinstance(error, OSError)
        else:
            # The SDK has no settings for authorities, proxies and "no retries": they are set on its session.
            inner = client.api_client._api_client  # noqa: SLF001
            inner._clock = _NoPauses()  # noqa: SLF001
            self._session = inner._session  # noqa: SLF001
            if has("ca.file"):
                # Not session.verify: REQUESTS_CA_BUNDLE would silently win over it.
                self._session.request = partial(self._session.request, verify=has("ca.file"))
            if has("proxy"):
                self._session.proxies = {"http": has("proxy"), "https": has("proxy")}
            self._secrets = client.secrets
            return
        profile = has("profile") or os.environ.get("DATABRICKS_CONFIG_PROFILE")
        if not (has("host") or profile or os.environ.get("DATABRICKS_HOST")):
            raise values.wrong("host", f"is not set, nor are DATABRICKS_HOST and a profile ({kind})")
        if not answered:
            raise values.wrong("host", f"names a workspace that does not answer ({kind})", has("host"))
        if not (token or secret or profile or any(map(os.environ.get, _IDENTITY))):
            problem = (
                "is not set, nor are a client secret, a profile and DATABRICKS_TOKEN: there is no identity"
            )
            raise values.wrong("token", f"{problem} ({kind})")
        problem = "and the other params of the identity, with the environment, are incomplete or contradict each other"
        raise values.wrong("client.id", f"{problem} ({kind})")

    def _list(self, path: str) -> Mapping[str, Found]:
        keys = [each.key for each in self._secrets.list_secrets(scope=path)]
        found = self._fetch(path, [f"{path}/{key}" for key in keys])
        return {name.partition("/")[2]: value for name, value in found.items()}

    def _fetch(self, path: str, names: Collection[str]) -> Mapping[str, Found]:
        found = self._each(names, lambda name: self._one(path, name))
        if not found and path:
            list(self._secrets.list_secrets(scope=path.partition("/")[0]))  # raises if the scope is not there
        return found

    def _one(self, path: str, name: str) -> Found | None:
        scope, slash, key = name.partition("/")
        if not slash:
            raise ConfigurationError(f"{self._where(path)}: a secret is named by its scope and its key")
        try:
            return Found(
                base64.b64decode(self._secrets.get_secret(scope=scope, key=key).value, validate=True)
            )
        except self._errors.NotFound:
            return None

    def _failure(self, error: Exception, path: str) -> ProviderError:
        if isinstance(error, TimeoutError) and isinstance(error.__cause__, Exception):
            error = error.__cause__  # what the SDK would have tried again
        where, kind, known = self._where(path), type(error).__name__, self._errors
        if isinstance(error, known.NotFound):
            return SecretNotFoundError(f"{where}: there is no such scope")
        # A plain ValueError is the SDK's word for a login without a token; it begins with OAuth's code, if any came.
        refused = type(error) is ValueError and str(error).partition(":")[0] in OAUTH_REFUSALS
        if refused or isinstance(error, known.Unauthenticated | known.PermissionDenied):
            return AccessDeniedError(f"{where}: not allowed ({kind}); check credentials and the scope's ACL")
        if isinstance(error, known.BadRequest):
            return ProviderError(f"{where}: the store refused the request ({kind}); check scope and key")
        if isinstance(error, known.DatabricksError) or type(error) is ValueError:
            return ProviderUnavailableError(f"{where}: the store is not available ({kind})")
        if isinstance(error, self._requests.RequestException | TimeoutError):
            return transport_failure(where, error)
        return super()._failure(error, path)

    def close(self) -> None:
        """Close the connections."""
        super().close()
        if self._session is not None:
            self._session.close()


_IDENTITY = ("DATABRICKS_TOKEN", "DATABRICKS_CLIENT_SECRET", "ARM_CLIENT_SECRET", "GOOGLE_CREDENTIALS")


class _NoPauses:
    """A clock on which every pause outlasts the SDK's time for retries: attempts are counted in _retry."""

    def __init__(self) -> None:
        self._ahead = threading.local()

    def time(self) -> float:
        return time.monotonic() + getattr(self._ahead, "seconds", 0.0)

    def sleep(self, seconds: float) -> None:  # noqa: ARG002 - the SDK's signature
        self._ahead.seconds = getattr(self._ahead, "seconds", 0.0) + 3600
