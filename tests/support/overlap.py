"""Credentials that rotate between roles of a PostgreSQL, so that old and new ones are good for a while."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

from support.postgres import PostgresServer, new_password
from support.rotation import replace_file


class RotatingRoles:
    """Roles of one database that take turns, as those that a store's database engine issues.

    A rotation gives the next role a new password and puts both into the file. The credentials before it stay good
    until that role has its turn again: with two roles for one more rotation.
    """

    def __init__(
        self, postgres: PostgresServer, folder: Path, *, roles: int = 2, name: str = "overlap"
    ) -> None:
        """Make the database with a table ``orders`` of 1000 rows, and the first credentials."""
        self._postgres = postgres
        self._names = [f"{name}_{number}" for number in range(roles)]
        self._next = itertools.cycle(self._names)
        self.file = folder / f"{name}.properties"
        self.passwords: list[str] = []
        for role in self._names:
            postgres.sql(f'CREATE ROLE "{role}" LOGIN')
        postgres.create_orders(name, 1000)
        self.url = postgres.jdbc_url(name)
        self.rotate()

    def rotate(self) -> None:
        """Issue new credentials."""
        role, password = next(self._next), new_password()
        self._postgres.set_password(role, password)
        self._postgres.sql(f'ALTER ROLE "{role}" LOGIN')
        self.passwords.append(password)
        replace_file(self.file, f"user={role}\npassword={password}\n")

    def end(self, turns: int = 1) -> str:
        """End a role, as an operator ends an old password: nobody can connect as it until its next turn.

        Args:
            turns: 0 for the role in use, 1 for that before it.
        """
        role = self._names[(len(self.passwords) - 1 - turns) % len(self._names)]
        self._postgres.sql(f'ALTER ROLE "{role}" NOLOGIN')
        return role

    def options(self, provider: str = "files") -> dict[str, str]:
        """Of a JDBC reader with four partitions."""
        return {
            "url": self.url,
            "dbtable": "orders",
            "user": f"${{{provider}:{self.file}:user}}",
            "password": f"${{{provider}:{self.file}:password}}",
            "driver": "org.postgresql.Driver",
            "partitionColumn": "id",
            "lowerBound": "0",
            "upperBound": "1000",
            "numPartitions": "4",
        }

    def connections(self) -> tuple[int, int]:
        """How many connections of these roles the server has let in and refused so far."""
        log = self._postgres.output()
        roles = "|".join(map(re.escape, self._names))
        authorized = len(re.findall(rf"connection authorized: user=(?:{roles}) ", log))
        refused = len(re.findall(rf'FATAL:.*"(?:{roles})"', log))
        return authorized, refused
