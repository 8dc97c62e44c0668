"""Roles of a PostgreSQL that a real OpenBao makes on demand, each with a lease of a few seconds."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from support.fakes.fault_proxy import FaultProxy
from support.fakes.http_server import Request, Response
from support.real_vault import RealVault
from support.rotation import provider_confs

_ROLE = "stream"
_DATABASE = "vault_shop"


@dataclass(frozen=True)
class Lease:
    """What OpenBao answered once: the names of both, and the password."""

    id: str
    user: str
    password: str = field(repr=False)


class LeasedRoles(FaultProxy):
    """The way to OpenBao, which notes what it hands out and what it is asked to revoke.

    Attributes:
        leases: all that were made, the first one first.
        token: of an application, which may read credentials and revoke them.
        revoked: the ids of leases that OpenBao has revoked because it was asked to.
    """

    def __init__(self, vault: RealVault, *, seconds: int) -> None:
        """Make the database with a table ``orders`` of 100 rows.

        Args:
            seconds: of a lease, which cannot be renewed for longer.
        """
        super().__init__(vault.url)
        self._vault, self._postgres = vault, vault.postgres
        self.token = vault.new_token()
        self.leases: list[Lease] = []
        self.revoked: list[str] = []
        vault.make_role(_ROLE, seconds, seconds)
        self._postgres.create_orders(_DATABASE)

    def answer(self, request: Request) -> Response:
        answer = super().answer(request)
        if answer.status < 300 and "/creds/" in request.path:
            made: dict[str, Any] = json.loads(answer.body)
            self.leases.append(Lease(made["lease_id"], made["data"]["username"], made["data"]["password"]))
        if answer.status < 300 and request.path == "/v1/sys/leases/revoke":
            self.revoked.append(request.json()["lease_id"])
        return answer

    def provider(self, name: str, token_file: str) -> dict[str, str]:
        """The confs of a provider that asks here; its token is in a file."""
        params = self._vault.params("dynamic", **{"address": self.url, "token.file": token_file})
        return provider_confs(name, "vault", params)

    def options(self, provider: str) -> dict[str, str]:
        """Of a JDBC reader."""
        return {
            "url": self._postgres.jdbc_url(_DATABASE),
            "dbtable": "orders",
            "user": f"${{{provider}:creds/{_ROLE}:username}}",
            "password": f"${{{provider}:creds/{_ROLE}:password}}",
            "driver": "org.postgresql.Driver",
        }

    def used(self) -> list[int]:
        """The numbers of the leases by which connections came, in their order."""
        numbers = {lease.user: number for number, lease in enumerate(self.leases)}
        log = self._postgres.output()
        return [numbers[user] for user in re.findall(rf"authorized: user=(v-token-{_ROLE}-\S+) ", log)]

    def refused(self) -> list[str]:
        """Why the database refused connections of such roles."""
        return re.findall(rf'FATAL:.*"v-token-{_ROLE}-.*', self._postgres.output())

    def alive(self) -> list[int]:
        """The numbers of the leases whose role is still there."""
        there = self._postgres.sql("SELECT rolname FROM pg_roles").split()
        return [number for number, lease in enumerate(self.leases) if lease.user in there]
