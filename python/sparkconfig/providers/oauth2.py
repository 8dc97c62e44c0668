"""Tokens of an OAuth 2 server, made on demand."""

from __future__ import annotations

import base64
import threading
from collections.abc import Set
from typing import Any
from urllib.parse import quote

from sparkconfig.errors import AccessDeniedError, ProviderError, ProviderUnavailableError
from sparkconfig.providers._kit.http import CA_FILE, OAUTH_REFUSALS, PROXY, status_failure
from sparkconfig.providers._kit.minted import DEFAULT_LIFE, ttl_of
from sparkconfig.providers._kit.params import Param, ParamValues
from sparkconfig.providers._kit.store import NETWORK, StoreProvider
from sparkconfig.providers._kit.web import Web, WebRefusal
from sparkconfig.providers.base import ConfigData

__all__ = ["OAuth2ConfigProvider"]

_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
_TOKEN = "urn:ietf:params:oauth:token-type:"  # noqa: S105 - a name


class OAuth2ConfigProvider(StoreProvider):
    """Access tokens by client credentials, by a refresh token, or in exchange for another token (RFC 6749, 8693)."""

    alias = "oauth2"
    store = "tokens of an OAuth 2 or OpenID Connect server"
    table = (
        Param("token.url", "the server's token endpoint", required=True),
        Param(
            "grant", "how to get a token", default="client_credentials",
            choices=("client_credentials", "refresh_token", "token_exchange"),
        ),
        Param("client.id", "id of the client"),
        Param("client.secret", "its secret, as a reference to another provider", secret=True),
        Param("client.secret.file", "file with its secret, read at each request"),
        Param(
            "client.auth", "where to send id and secret: a `basic` header, or the `post` body", default="basic",
            choices=("basic", "post"),
        ),
        Param("scope", "scopes, separated by blanks; the path of a reference replaces them"),
        Param("audience", "audience of the token"),
        Param("refresh.token", "the first refresh token, as a reference", secret=True),
        Param("subject.token.file", "file with the token to exchange, such as a mounted service account's"),
        Param("subject.token.type", "its type", default="jwt", choices=("jwt", "access_token", "id_token")),
        DEFAULT_LIFE,
        *NETWORK,
        CA_FILE,
        PROXY,
    )  # fmt: skip
    paths = (
        "`${oauth2::access_token}`; `${oauth2:SCOPE:access_token}` for another scope. `authorization` is the token with"
        " its type in front, ready for a header. Other keys are fields of the answer, such as `id_token`"
    )
    ttl_rule = "three quarters of the answer's `expires_in`, or of `default.life` if it has none"
    auth = "the client's id and secret, a refresh token, or a token in a file, such as a pod's"

    def _open(self, values: ParamValues, seconds: float) -> None:  # noqa: ARG002 - each request has what is left
        self._values = values
        self._url = Web.checked_url(values, "token.url")
        self._web = Web(values)
        self._grant = values.text("grant")
        self._refresh = values.optional("refresh.token")
        self._lock = threading.Lock()
        needed = {
            "client_credentials": "client.id", "refresh_token": "refresh.token", "token_exchange": "subject.token.file",
        }[self._grant]  # fmt: skip
        values.text(needed)

    def _read(self, path: str, keys: Set[str] | None, left: float) -> ConfigData:
        where = self._where(path)
        # A server may replace the refresh token at each use, and refuse the old one.
        with self._lock:
            answer = self._ask(path, where, left)
            token = answer.get("access_token")
            if not isinstance(token, str) or not token:
                raise ProviderUnavailableError(f"{where}: the server's answer holds no access_token")
            if isinstance(answer.get("refresh_token"), str):
                self._refresh = answer["refresh_token"]
        kind = str(answer.get("token_type") or "Bearer")
        # Some servers write "bearer", and some readers of the header want it as the standard has it.
        kind = "Bearer" if kind.lower() == "bearer" else kind
        found = {name: str(value) for name, value in answer.items() if isinstance(value, str)}
        found["authorization"] = f"{kind} {token}"
        found.pop("refresh_token", None)
        wanted = found if keys is None else {key: found[key] for key in keys if key in found}
        return ConfigData(wanted, ttl=ttl_of(answer.get("expires_in"), self._values, where))

    def _ask(self, path: str, where: str, left: float) -> dict[str, Any]:
        headers, form = self._client()
        form |= self._granted()
        scope = path or self._values.optional("scope")
        if scope:
            form["scope"] = scope
        if self._values.optional("audience"):
            form["audience"] = self._values.text("audience")
        try:
            return self._web.json(self._url, where, left, headers=headers, form=form)
        except WebRefusal as refusal:
            failure = self._refused(where, refusal)
        raise failure

    def _granted(self) -> dict[str, str]:
        if self._grant == "refresh_token":
            return {"grant_type": "refresh_token", "refresh_token": self._refresh or ""}
        if self._grant == "token_exchange":
            return {
                "grant_type": _EXCHANGE,
                "subject_token": self._values.identity("subject.token.file"),
                "subject_token_type": _TOKEN + self._values.text("subject.token.type"),
            }
        return {"grant_type": "client_credentials"}

    def _client(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return headers and fields that say who asks."""
        name, has = self._values.optional("client.id"), self._values.optional
        secret = (
            self._values.identity("client.secret.file") if has("client.secret.file") else has("client.secret")
        )
        if name is None:
            return {}, {}
        if secret is None or self._values.text("client.auth") == "post":
            return {}, {"client_id": name, **({"client_secret": secret} if secret else {})}
        pair = f"{quote(name, safe='')}:{quote(secret, safe='')}"
        return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}, {}

    @staticmethod
    def _refused(where: str, refusal: WebRefusal) -> ProviderError:
        code = refusal.answer.get("error")
        if isinstance(code, str) and code in OAUTH_REFUSALS:
            return AccessDeniedError(
                f"{where}: the token was refused ({code}); check client, grant and scope"
            )
        return status_failure(where, refusal.status)
