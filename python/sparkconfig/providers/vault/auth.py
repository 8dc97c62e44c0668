"""How the Vault provider gets and keeps a token."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sparkconfig.errors import AccessDeniedError, ProviderError
from sparkconfig.providers._kit.http import status_failure
from sparkconfig.providers._kit.params import Param, ParamValues

__all__ = ["PARAMS", "VaultSession", "environment"]

_POD_TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token"  # noqa: S105 - a path

PARAMS = (
    Param(
        "auth",
        "`token`, `approle`, `kubernetes` or `jwt`",
        default="token",
        choices=("token", "approle", "kubernetes", "jwt"),
    ),
    Param("auth.mount", "where the auth method is mounted; default: its own name"),
    Param("token", "the token itself, as a reference to another provider; unset: `VAULT_TOKEN`", secret=True),
    Param("token.file", "file with the token, read again whenever it changes (Vault Agent's sink)"),
    Param("role", "role for `kubernetes` and `jwt`"),
    Param("role.id", "AppRole's role id"),
    Param("secret.id", "AppRole's secret id, as a reference", secret=True),
    Param("secret.id.file", "file with AppRole's secret id"),
    Param("jwt.file", "file with the JWT; default for `kubernetes`: the pod's service account token"),
)

_Exchange = Callable[..., tuple[int, Any]]


def environment(name: str) -> str | None:
    """Return an environment variable, None when it is empty."""
    return os.environ.get(name) or None


class VaultSession:
    """One login, shared by all threads: who logs in does it once, the others wait for it.

    A login's token is renewed while the server allows: leases die with the token that made them, and a secret id may
    be good for one login only.

    Attributes:
        logins: how many tokens there were; a lease that an earlier one made ends with that.
        end: when the token ends (monotonic seconds), as far as that is known.
    """

    def __init__(self, values: ParamValues) -> None:
        self._values = values
        self._method = values.text("auth")
        self._lock = threading.Lock()
        self.logins = 0
        self.end = float("inf")
        self._seconds = 0
        self._renewable = False
        self._until = 0.0
        self._seen: str | None = None
        self._fixed = values.optional("token") or environment("VAULT_TOKEN")
        self._check()

    def _check(self) -> None:
        """Refuse at configure what can never log in."""
        has = self._values.optional
        if self._method == "token" and not (self._fixed or has("token.file")):
            raise self._values.wrong("token.file", "is not set, nor is token, nor VAULT_TOKEN")
        if self._method == "approle":
            self._values.text("role.id")
            if not (has("secret.id") or has("secret.id.file")):
                raise self._values.wrong("secret.id.file", "is not set, nor is secret.id")
        if self._method in {"kubernetes", "jwt"}:
            self._values.text("role")
        if self._method == "jwt":
            self._values.text("jwt.file")

    def needs_login(self) -> bool:
        """Whether there is no token, it is near its end, or its file has changed."""
        if self._method == "token":
            return self._seen is None or self._seen != self._token()
        return time.monotonic() >= self._until

    def refused(self, left: float, exchange: _Exchange) -> bool:
        """Say whether a 403 is the token's fault and another login may help: a path that is denied costs no login."""
        if self._method == "token" or exchange("get", "/v1/auth/token/lookup-self", left)[0] < 300:
            return False
        with self._lock:
            self._until, self._renewable = 0.0, False
        return True

    def login(self, client: Any, where: str, left: float, exchange: _Exchange) -> None:  # noqa: ANN401
        """Give ``client`` a token.

        Raises:
            AccessDeniedError: the store refuses the credentials.
            ProviderUnavailableError: it cannot be reached.
        """
        with self._lock:
            if not self.needs_login():
                return  # another thread was faster
            if self._method == "token":
                client.token = self._seen = self._token()
                self.logins += 1
                return
            if self._renewable and self._renew(left, exchange):
                return
            mount = self._values.optional("auth.mount") or self._method
            status, answer = exchange("post", f"/v1/auth/{mount}/login", left, json=self._credentials())
            if status in {400, 401, 403, 404}:
                text = (
                    f"{where}: login through auth/{mount} refused (HTTP {status}); check role and credentials"
                )
                raise AccessDeniedError(text)
            granted = answer.get("auth") if status < 300 and isinstance(answer, dict) else None
            if not granted:
                raise status_failure(where, status if status >= 400 else None)
            client.token = granted["client_token"]
            self.logins += 1
            self._renewable = bool(granted.get("renewable"))
            self._seconds = int(granted.get("lease_duration") or 0)
            self._lasts(self._seconds)

    def _renew(self, left: float, exchange: _Exchange) -> bool:
        """Prolong the token; return False if that gave less than half of the time that it had at first."""
        body = {"increment": f"{self._seconds}s"}
        status, answer = exchange("post", "/v1/auth/token/renew-self", left, json=body)
        granted = answer.get("auth") if status < 300 and isinstance(answer, dict) else None
        seconds = int((granted or {}).get("lease_duration") or 0)
        if seconds * 2 < self._seconds:
            return False
        self._lasts(seconds)
        return True

    def _lasts(self, seconds: int) -> None:
        """Note the token's end. Three quarters leave time to do something before the last moment."""
        now = time.monotonic()
        # 0 is a token without end.
        self.end = now + seconds if seconds else float("inf")
        self._until = now + seconds * 0.75 if seconds else float("inf")

    def logout(self, left: float, exchange: _Exchange) -> None:
        """Revoke the token of a login, and with it all that it made; a token that was given stays."""
        if self._method != "token" and self.logins:
            exchange("post", "/v1/auth/token/revoke-self", left)

    def _token(self) -> str | None:
        """Return the token of the file, else the given one."""
        if self._values.optional("token.file"):
            return self._values.identity("token.file")
        return self._fixed

    def _credentials(self) -> dict[str, str]:
        has = self._values.optional
        if self._method == "approle":
            secret_id = self._values.identity("secret.id.file") if has("secret.id.file") else has("secret.id")
            return {"role_id": self._values.text("role.id"), "secret_id": secret_id or ""}
        if has("jwt.file"):
            return {"role": self._values.text("role"), "jwt": self._values.identity("jwt.file")}
        try:
            jwt = Path(_POD_TOKEN).read_text(encoding="ascii").strip()
        except OSError as error:
            raise ProviderError(
                f"no service account token at {_POD_TOKEN} ({type(error).__name__})"
            ) from None
        return {"role": self._values.text("role"), "jwt": jwt}
