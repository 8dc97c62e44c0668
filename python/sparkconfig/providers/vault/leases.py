"""Credentials that Vault makes on demand: made once, renewed, replaced in time, revoked at the end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from sparkconfig.errors import AccessDeniedError, ProviderError
from sparkconfig.formats.flat import flatten
from sparkconfig.providers.vault.auth import VaultSession

__all__ = ["Lease", "Leases"]

Ask = Callable[..., Any]
"""Called with an HTTP method, a path of the API, and ``json``; returns the parsed answer or raises ProviderError."""


class Lease:
    """Credentials, until when (monotonic seconds) they are good, and which login made them."""

    def __init__(self, answer: Mapping[str, Any], values: Mapping[str, str], login: int) -> None:
        self.login = login
        self.id = str(answer["lease_id"])
        self.values = values
        self.seconds = int(answer["lease_duration"])
        self.renewable = bool(answer.get("renewable"))
        self.until = time.monotonic() + self.seconds

    @property
    def alive(self) -> bool:
        """Whether the server still knows it, by our clock."""
        return time.monotonic() < self.until


class Leases:
    """The credentials of all paths; threads that ask for the same path wait for each other."""

    def __init__(self, session: VaultSession) -> None:
        self._session = session
        self._lock = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        self.by_path: dict[str, Lease] = {}
        self._superseded: list[Lease] = []

    def get(self, path: str, url: str, where: str, ask: Ask) -> Lease:
        """Renew what is held; make new credentials when that is refused or grants less than half the time.

        Credentials end with the token that made them, so a new login means new ones, too. The session has to be
        logged in.

        Raises:
            ProviderError: the answer has no lease, or what ``ask`` raises.
        """
        with self._lock:
            lock = self._locks.setdefault(path, threading.Lock())
        with lock:
            lease, login = self.by_path.get(path), self._session.logins
            if lease is not None and lease.login == login and self._renew(lease, ask):
                return lease
            answer = ask("get", url)
            if not answer.get("lease_id"):
                raise ProviderError(f"{where}: the answer has no lease; check the param engine")
            fresh = Lease(answer, flatten(answer["data"], where), login)
            with self._lock:
                # The old credentials may be in use still: they end by themselves, or at close.
                self._superseded += [lease] if lease else []
                self.by_path[path] = fresh
            return fresh

    def ttl(self, lease: Lease) -> int:
        """Return the milliseconds until the lease, or the token that made it, ends."""
        end = min(lease.until, self._session.end)
        return max(int((end - time.monotonic()) * 1000), 1)

    def take_all(self) -> list[Lease]:
        """Return all that may still be known to the server, and forget them."""
        with self._lock:
            found = [each for each in [*self.by_path.values(), *self._superseded] if each.alive]
            self.by_path.clear()
            self._superseded.clear()
        return found

    @staticmethod
    def _renew(lease: Lease, ask: Ask) -> bool:
        if lease.renewable:
            try:
                answer = ask(
                    "put", "/v1/sys/leases/renew", json={"lease_id": lease.id, "increment": lease.seconds}
                )
            except AccessDeniedError:
                lease.renewable = False  # the policy allows no renewal
            except ProviderError as error:
                if type(error) is ProviderError:
                    return False  # revoked, or at its end: HTTP 400
                raise
        if not lease.renewable:
            return time.monotonic() < lease.until - lease.seconds / 4
        granted = int(answer.get("lease_duration") or 0)
        lease.until = time.monotonic() + granted
        return granted * 2 >= lease.seconds
