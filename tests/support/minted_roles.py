"""A token endpoint whose tokens are passwords of a PostgreSQL: each is good for a few seconds. The endpoint is ours."""

from __future__ import annotations

import base64
import re
import secrets

from support.fakes.http_server import BODY_MARK, FakeHttpServer, Request, Response
from support.postgres import PostgresServer, scram_verifier
from support.rotation import provider_confs


class MintedRoles(FakeHttpServer):
    """Makes a role for each token, as a database engine of Vault does; its password is the token.

    Attributes:
        passwords: all that were made.
    """

    CLIENT, SECRET = "shop", "client-secret-of-the-shop"

    def __init__(self, postgres: PostgresServer, *, name: str = "minted", life: int = 15) -> None:
        """Make the database with a table ``orders`` of 100 rows.

        Args:
            name: of the database; the roles' names begin with it.
            life: seconds that a password is good for, by PostgreSQL's own clock.
        """
        super().__init__()
        self._postgres, self._name, self._life = postgres, name, life
        self.passwords: list[str] = []
        postgres.create_orders(name)

    def answer(self, request: Request) -> Response:
        told = base64.b64decode(request.headers.get("authorization", "").removeprefix("Basic ")).decode()
        if told != f"{self.CLIENT}:{self.SECRET}":
            return Response.of({"error": "invalid_client", "error_description": BODY_MARK}, 401)
        role, password = f"{self._name}_{len(self.passwords)}", secrets.token_hex(16)
        self._postgres.sql(f'CREATE ROLE "{role}" LOGIN')
        # One statement: the time runs from when PostgreSQL takes the password.
        self._postgres.sql(
            f"DO $$ BEGIN EXECUTE format('ALTER ROLE \"{role}\" PASSWORD %L VALID UNTIL %L',"
            f" '{scram_verifier(password)}', clock_timestamp() + interval '{self._life} seconds'); END $$"
        )
        self.passwords.append(password)
        found = {"access_token": password, "user": role, "token_type": "Bearer", "expires_in": self._life}
        return Response.of(found)

    def provider(self, name: str, secret_file: str) -> dict[str, str]:
        """The confs of a provider that asks here; the client's secret is in a file."""
        params = {
            "token.url": f"{self.url}/token",
            "client.id": self.CLIENT,
            "client.secret.file": secret_file,
        }
        return provider_confs(name, "oauth2", params)

    def options(self, provider: str) -> dict[str, str]:
        """Of a JDBC reader."""
        return {
            "url": self._postgres.jdbc_url(self._name),
            "user": f"${{{provider}::user}}",
            "password": f"${{{provider}::access_token}}",
            "driver": "org.postgresql.Driver",
        }

    def used(self) -> list[int]:
        """The numbers of the roles by which connections came, in their order."""
        log = self._postgres.output()
        return [int(each) for each in re.findall(rf"connection authorized: user={self._name}_(\d+) ", log)]

    def refused(self) -> int:
        """How many connections of these roles the server has refused."""
        return len(re.findall(rf'FATAL:.*"{self._name}_\d+"', self._postgres.output()))

    def accepts(self, number: int) -> bool:
        """Whether a password is good now."""
        return self._postgres.accepts(
            role=f"{self._name}_{number}", password=self.passwords[number], database=self._name
        )
