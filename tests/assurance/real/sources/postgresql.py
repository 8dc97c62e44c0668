"""PostgreSQL by JDBC."""

from __future__ import annotations

from pathlib import Path

from real.sources.base import CACHE, Store
from real.sources.jdbc import JdbcSource
from support.jdbc import postgresql_driver
from support.postgres import PostgresServer, new_password
from support.processes import Run


class PostgreSql(JdbcSource):
    """A role whose password changes."""

    name = "postgresql"
    new_password = staticmethod(new_password)
    title = "PostgreSQL 16, JDBC (driver 42.7.4)"

    def __init__(self, run: Run, store: Store) -> None:
        super().__init__(run, store)
        self._server = PostgresServer(run, cache=CACHE, name=self.name)
        self._password = self.new_password()
        self._server.create(role=self.name, password=self._password, database=self.name)
        store.publish({f"{self.name}.password": self._password})

    def jars(self) -> list[Path]:
        return [postgresql_driver(self.run, cache=CACHE)]

    def rotate(self) -> None:
        old, self._password = self._password, self.new_password()
        self._server.set_password(self.name, self._password)
        self._server.sql(
            f"select pg_terminate_backend(pid) from pg_stat_activity where usename = '{self.name}'"
        )
        assert not self._server.accepts(role=self.name, password=old, database=self.name), (
            "the old password is taken"
        )
        self.store.publish({f"{self.name}.password": self._password})

    def options(self) -> dict[str, str]:
        return {
            "url": self._server.jdbc_url(self.name),
            "user": self.name,
            "password": self.store.reference(f"{self.name}.password"),
            "dbtable": "numbers",
        }
