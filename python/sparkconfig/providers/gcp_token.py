"""Access tokens of Google Cloud, made on demand."""

from __future__ import annotations

import copy
import datetime as dt
import json
import re
import threading
import time
from collections.abc import Mapping, Set
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

from sparkconfig.errors import AccessDeniedError, ProviderError, ProviderUnavailableError
from sparkconfig.providers._kit.http import (
    CA_FILE,
    OAUTH_REFUSALS,
    PROXY,
    ahead_of,
    clock_note,
    status_failure,
    transport_failure,
)
from sparkconfig.providers._kit.minted import DEFAULT_LIFE, ttl_of
from sparkconfig.providers._kit.params import Param, ParamValues
from sparkconfig.providers._kit.store import NETWORK, StoreProvider
from sparkconfig.providers._kit.web import Web, WebAnswer
from sparkconfig.providers.base import ConfigData

__all__ = ["GcpTokenConfigProvider"]

_SCOPES = "https://www.googleapis.com/auth/"
_SCOPE = re.compile(r"[\w.-]+", re.ASCII)


class GcpTokenConfigProvider(StoreProvider):
    """Tokens of a service account, or of the machine's identity."""

    alias = "gcp-token"
    store = "access tokens of Google Cloud"
    extra = "gcp"
    requires = ("google-cloud-secret-manager>=2.20",)
    client = "google.auth"
    table = (
        Param(
            "scope",
            "scopes, separated by blanks; the path of a reference replaces them",
            default="cloud-platform",
        ),
        Param("credentials.file", "key file of a service account; unset: application default credentials"),
        Param("credentials.json", "its content, as a reference to another provider", secret=True),
        DEFAULT_LIFE,
        *NETWORK,
        CA_FILE,
        PROXY,
    )
    paths = (
        "`${gcp::access_token}`; `${gcp:devstorage.read_only:access_token}` for another scope, without"
        f" `{_SCOPES}`. `authorization` is the token with `Bearer` in front, ready for a header"
    )
    ttl_rule = "three quarters of the token's life"
    auth = "application default credentials: workload identity, metadata server, `GOOGLE_APPLICATION_CREDENTIALS`"
    noisy_loggers = ("google.auth", "google.oauth2")

    def _open(self, values: ParamValues, seconds: float) -> None:  # noqa: ARG002 - each request has what is left
        self._values = values
        self._web = Web(values)
        self._auth = self._import("google.auth")
        self._errors = self._import("google.auth.exceptions")
        self._credentials = self._import("google.auth.credentials")
        self._lock = threading.Lock()
        self._base = self._account(values)

    def _account(self, values: ParamValues) -> Any:  # noqa: ANN401 - google.auth.credentials.Credentials
        """Return the credentials of a service account, or None if the environment has to tell them."""
        name = next(
            (each for each in ("credentials.json", "credentials.file") if values.optional(each)), None
        )
        if name is None:
            return None
        accounts = self._import("google.oauth2.service_account")
        try:
            # By type, as google-auth asks for: generic credentials may name programs to start and hosts to ask.
            text = values.text(name) if name == "credentials.json" else values.file_text(name)
            return accounts.Credentials.from_service_account_info(json.loads(text))
        except (self._errors.GoogleAuthError, ValueError, TypeError, AttributeError) as error:
            kind = type(error).__name__
        raise values.wrong(name, f"does not hold the key of a service account ({kind})")

    def _read(self, path: str, keys: Set[str] | None, left: float) -> ConfigData:
        where, ends = self._where(path), time.monotonic() + left
        ask = _Ask(self._web, where, ends)
        credentials = copy.copy(
            self._credentials.with_scopes_if_required(self._identity(where, ends), self._scopes(path))
        )
        credentials.refresh(ask)
        if not isinstance(credentials.token, str) or not credentials.token:
            raise ProviderUnavailableError(f"{where}: the server's answer holds no access_token")
        ttl = ttl_of(ask.life, self._values, where)
        found = {"access_token": credentials.token, "authorization": f"Bearer {credentials.token}"}
        return ConfigData(
            found if keys is None else {key: found[key] for key in keys if key in found}, ttl=ttl
        )

    def _identity(self, where: str, ends: float) -> Any:  # noqa: ANN401 - google.auth.credentials.Credentials
        with self._lock:
            if self._base is None:
                self._base, _ = self._auth.default(
                    request=_Ask(self._web, where, ends, self._errors.TransportError)
                )
            return self._base

    def _scopes(self, path: str) -> list[str]:
        scopes = [path] if path else self._values.text("scope").split()
        if path and _SCOPE.fullmatch(path) is None:
            raise ProviderError(f"{self._where(path)}: the path must be the name of a scope, without its URL")
        return [scope if "://" in scope else _SCOPES + scope for scope in scopes]

    def _failure(self, error: Exception, path: str) -> ProviderError:
        where, kind = self._where(path), type(error).__name__
        if isinstance(error, self._errors.DefaultCredentialsError):
            return AccessDeniedError(
                f"{where}: this machine has no usable identity ({kind}); set credentials.file, or"
                " GOOGLE_APPLICATION_CREDENTIALS"
            )
        if isinstance(error, self._errors.TransportError):
            return transport_failure(f"{where}, login", error)
        return super()._failure(error, path)


class _Ask:
    """Sends google-auth's requests within the time of one read, and says what the answers mean.

    Args:
        web: sends them.
        where: names provider and path in errors.
        ends: when the read has to end, by the monotonic clock.
        unheard: google-auth's class for "no answer", where it asks whether there is a metadata server at all.

    Attributes:
        life: how many seconds the last token lives, by the server's own clock; None if the server does not say.
    """

    def __init__(self, web: Web, where: str, ends: float, unheard: type[Exception] | None = None) -> None:
        self._web, self._where, self._ends, self._unheard = web, where, ends, unheard
        self.life: object = None

    def __call__(
        self,
        url: str,
        method: str = "GET",
        body: str | bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        **_: object,
    ) -> SimpleNamespace:
        """Send a request, as google-auth wants it; see :class:`google.auth.transport.Request`."""
        if method == "POST" and not _private(url):
            raise ProviderError(f"{self._where}: the credentials name a token endpoint that is not https://")
        left = max(self._ends - time.monotonic(), 0.001)
        data = body.encode() if isinstance(body, str) else body
        problem: Exception | None = None
        try:
            answer = self._web.answer(
                url, self._where, min(left, timeout or left), headers=headers, body=data, method=method
            )
        except ProviderUnavailableError:
            if self._unheard is None:
                raise
            problem = self._unheard("no answer")
        if problem is not None:
            raise problem
        if self._unheard is None:
            self._refuse_failures(method, answer)
        return SimpleNamespace(status=answer.status, headers=answer.headers, data=answer.body)

    def _refuse_failures(self, method: str, answer: WebAnswer) -> None:
        """Raise for anything but an answer; google-auth would pause and ask again, and quote it in its errors."""
        busy = status_failure(self._where, answer.status) if answer.status >= 300 else None
        if isinstance(busy, ProviderUnavailableError) or (busy and method == "POST"):
            raise self._refused(answer) or busy
        told = answer.checked(self._where) if method == "POST" else answer.object or {}
        self.life = told.get("expires_in", self.life)
        if isinstance(told.get("expireTime"), str):  # impersonation tells a time instead
            end = dt.datetime.fromisoformat(told["expireTime"].replace("Z", "+00:00"))
            self.life = end.timestamp() - time.time() + ahead_of(answer.headers.get("Date"))

    def _refused(self, answer: WebAnswer) -> AccessDeniedError | None:
        code = (answer.object or {}).get("error")
        if (
            not isinstance(code, str)
            or code not in OAUTH_REFUSALS
            or answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        ):
            return None
        clock = clock_note(answer.headers.get("Date"))
        return AccessDeniedError(
            f"{self._where}: the token was refused ({code}); check the credentials{clock}"
        )


def _private(url: str) -> bool:
    """Whether what is sent there stays unread on the way."""
    parts = urlsplit(url)
    return parts.scheme == "https" or parts.hostname in {"localhost", "127.0.0.1", "::1"}
