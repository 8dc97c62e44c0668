"""HashiCorp Vault and OpenBao."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Set
from datetime import datetime, timezone
from functools import partial
from typing import Any
from urllib.parse import quote, urljoin

from sparkconfig.errors import (
    AccessDeniedError,
    ProviderError,
    SecretNotFoundError,
    SparkConfigError,
)
from sparkconfig.formats.flat import flatten
from sparkconfig.providers._kit.http import CA_FILE, PROXY, status_failure, transport_failure
from sparkconfig.providers._kit.params import Param, ParamValues
from sparkconfig.providers._kit.pins import split_pins
from sparkconfig.providers._kit.store import NETWORK, TTL, StoreProvider
from sparkconfig.providers.base import ConfigData
from sparkconfig.providers.vault import auth
from sparkconfig.providers.vault.leases import Leases

__all__ = ["VaultConfigProvider"]

_MOUNTS = {"kv2": "secret", "kv1": "secret", "dynamic": "database"}
_REVOKE = "/v1/sys/leases/revoke"


class VaultConfigProvider(StoreProvider):
    """Key/value secrets, versions 1 and 2, and credentials that Vault makes on demand."""

    alias = "vault"
    java = ("VaultConfigProvider", "VaultSecretProvider")
    store = "HashiCorp Vault, OpenBao"
    extra = "vault"
    requires = ("hvac>=2.3",)
    client = "hvac"
    table = (
        Param("address", "URL of the server; unset: `VAULT_ADDR`"),
        Param("namespace", "namespace (Vault Enterprise, OpenBao)"),
        Param(
            "engine",
            "`kv2`, `kv1`, or `dynamic`: any engine that answers a read with a lease, such as `database`",
            default="kv2",
            choices=tuple(_MOUNTS),
        ),
        Param("mount", "where the engine is mounted; default: `secret`, for `dynamic` `database`"),
        *auth.PARAMS,
        TTL,
        *NETWORK,
        CA_FILE,
        PROXY,
    )
    paths = (
        "path below the mount, `db/prod`; `db/prod?version=3` pins a version (`kv2`); `creds/ROLE` for "
        "`database`. Key: a field, nested ones with dots"
    )
    ttl_rule = (
        "`dynamic`: the lease, renewed while the server allows, revoked at close; `kv1`: the server's "
        "`lease_duration` if less than `ttl`; `kv2`: `ttl`, or the version's deletion time if sooner"
    )
    auth = "token file, AppRole, Kubernetes or JWT login; its token is renewed, replaced at its end, revoked at close"
    noisy_loggers = ("urllib3.connectionpool",)

    def __init__(self) -> None:
        super().__init__()
        self._client: Any = None

    def _open(self, values: ParamValues, seconds: float) -> None:
        hvac = self._import("hvac")
        self._requests = self._import("requests")
        address = values.optional("address") or auth.environment("VAULT_ADDR")
        if not address:
            raise values.wrong("address", "is not set, nor is VAULT_ADDR")
        address = values.server("address", address)
        if "/v1/" in f"{address}/":
            raise values.wrong("address", "must end before /v1, which is added to it", address)
        self._engine = values.text("engine")
        self._mount = quote((values.optional("mount") or _MOUNTS[self._engine]).strip("/"), safe="/")
        self._session = auth.VaultSession(values)
        self._leases = Leases(self._session)
        proxy = values.optional("proxy")
        # A token of its own ("") keeps hvac from taking VAULT_TOKEN or ~/.vault-token by itself.
        self._client = hvac.Client(
            url=address,
            token="",
            namespace=values.optional("namespace"),
            verify=values.optional("ca.file") or True,
            timeout=seconds,
            proxies={"http": proxy, "https": proxy} if proxy else None,
            adapter=hvac.adapters.RawAdapter,
        )
        self._client.adapter.session.hooks["response"].append(self._stay_encrypted)

    def _stay_encrypted(self, response: Any, **_: object) -> None:  # noqa: ANN401 - of requests
        """Standbys send clients to the active server; requests would take the token along without TLS, too."""
        target = urljoin(response.url, response.headers.get("location", ""))
        if response.is_redirect and response.url.startswith("https:") and not target.startswith("https:"):
            raise ProviderError(
                f"{self._where('')}: the server redirects from https to another scheme; correct its api_addr"
            )

    def _read(self, path: str, keys: Set[str] | None, left: float) -> ConfigData:
        where = self._where(path)
        if any(part in {".", ".."} for part in path.split("/")):
            raise AccessDeniedError(f"{where}: '.' and '..' are not allowed in a path")
        if self._engine == "dynamic":
            return self._leased(path, keys, left)
        plain, pins = split_pins(path, {"version"} if self._engine == "kv2" else set(), where)
        middle = "data/" if self._engine == "kv2" else ""
        url = f"/v1/{self._mount}/{middle}{quote(plain.strip('/'), safe='/')}"
        try:
            answer = self._ask(path, "get", url, left, params=pins)
        except SecretNotFoundError as error:
            problem = f"{error}{self._below_mount(plain)}"
            raise SecretNotFoundError(problem) from None
        ttl = self._ttl
        if self._engine == "kv2":
            ttl = _sooner(ttl, _until(answer["data"].get("metadata", {}).get("deletion_time", "")))
            fields = answer["data"]["data"]
        else:
            fields = answer["data"]
            ttl = _sooner(ttl, int(answer.get("lease_duration") or 0) * 1000)
        return ConfigData.of(flatten(fields, where), keys, ttl)

    def _below_mount(self, path: str) -> str:
        """What to write if a path begins as Vault's commands and its API write it."""
        rest = path.strip("/")
        for beginning in ("v1/", f"{self._mount}/", "data/" if self._engine == "kv2" else "v1/"):
            rest = rest.removeprefix(beginning)
        if rest == path.strip("/") or not rest:
            return ""
        return f"; if '{self._mount}' is the mount, the path begins below it, without data/: write {rest!r}"

    def _leased(self, path: str, keys: Set[str] | None, left: float) -> ConfigData:
        self._log_in(path, left)
        url = f"/v1/{self._mount}/{quote(path.strip('/'), safe='/')}"
        ask = partial(self._ask, path, left=left)
        lease = self._leases.get(path, url, self._where(path), ask)
        data = {key: value for key, value in lease.values.items() if keys is None or key in keys}
        return ConfigData(data, ttl=self._leases.ttl(lease))

    def _ask(self, path: str, method: str, url: str, left: float, **arguments: Any) -> Any:  # noqa: ANN401
        """One request, logged in; once more after a new login if the token was refused."""
        for last in (False, True):
            self._log_in(path, left)
            status, answer = self._exchange(method, url, left, **arguments)
            if status == 403 and not last and self._session.refused(left, self._exchange):
                continue
            break
        if status >= 300:
            raise status_failure(self._where(path), status)
        if not isinstance(answer, dict) or (method == "get" and not isinstance(answer.get("data"), dict)):
            raise status_failure(self._where(path), None)
        return answer

    def _log_in(self, path: str, left: float) -> None:
        if self._session.needs_login():
            self._session.login(self._client, self._where(path), left, self._exchange)

    def _exchange(self, method: str, url: str, left: float, **arguments: Any) -> tuple[int, Any]:  # noqa: ANN401
        """Return status and parsed body; the body of a failure is not even looked at."""
        response = self._client.adapter.request(method, url, raise_exception=False, timeout=left, **arguments)
        if response.status_code >= 300 or not response.content:
            return response.status_code, {}
        return response.status_code, json.loads(response.content, parse_float=str)

    def _failure(self, error: Exception, path: str) -> ProviderError:
        if isinstance(error, self._requests.RequestException):
            return transport_failure(self._where(path), error)
        return super()._failure(error, path)

    def close(self) -> None:
        """Revoke the leases that are held and the token of a login, within five seconds; close the connections."""
        super().close()
        if self._client is None:
            return
        deadline = time.monotonic() + 5
        for lease in self._leases.take_all():
            revoke = partial(self._ask, "", "put", _REVOKE, json={"lease_id": lease.id})
            self._quietly(deadline, revoke)
        self._quietly(deadline, partial(self._session.logout, exchange=self._exchange))
        self._client.adapter.close()

    def _quietly(self, deadline: float, call: Callable[..., object]) -> None:
        """Call if there is time; what fails ends by itself at the server, and closing must not fail."""
        left = deadline - time.monotonic()
        if left > 0:
            with contextlib.suppress(SparkConfigError, self._requests.RequestException, ValueError):
                call(left=left)


def _sooner(ttl: int | None, other: int | None) -> int | None:
    """Return the smaller one that is set and positive."""
    return min((each for each in (ttl, other) if each and each > 0), default=None)


def _until(moment: str) -> int | None:
    """Return milliseconds until an RFC 3339 time (nanoseconds are cut), or None if there is none to come."""
    if not moment:
        return None
    whole = moment.removesuffix("Z").partition(".")[0]
    left = datetime.fromisoformat(whole).replace(tzinfo=timezone.utc) - datetime.now(timezone.utc)
    return int(left.total_seconds() * 1000)
