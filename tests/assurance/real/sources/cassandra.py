"""Cassandra through the Spark Cassandra connector: by confs, by options, by its catalog, and with a login of ours."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from real.sources.base import CACHE, Source, Store, Unavailable
from support.cassandra_server import VERSION, CassandraServer
from support.maven import maven_jars
from support.postgres import new_password
from support.processes import Run, wait_until
from support.shim import connector_jar

_CONNECTOR = "com.datastax.spark:spark-cassandra-connector_2.12:3.5.1"
# Spark brings these, and a second Scala or SLF4J would only be in their way.
_OF_SPARK = ["org.scala-lang:*", "org.slf4j:*", "org.apache.commons:*"]
_FORMAT = "org.apache.spark.sql.cassandra"
_USER = "spark.cassandra.auth.username"
_PASSWORD = "spark.cassandra.auth.password"


class Cassandra(Source):
    """A user who is replaced by a new one; the connector reads its confs itself."""

    name = "cassandra"
    title = f"Cassandra {VERSION}, its connector 3.5.1, confs that it reads itself"
    sparks = ("3.5",)
    extension = "com.datastax.spark.connector.CassandraSparkExtensions"
    _servers: ClassVar[dict[Run, CassandraServer]] = {}

    def __init__(self, run: Run, store: Store) -> None:
        super().__init__(run, store)
        try:
            import cassandra  # noqa: F401
        except ImportError:
            raise Unavailable("Cassandra's client is not installed: pip install cassandra-driver") from None
        if run not in self._servers:
            self._servers[run] = CassandraServer(run, cache=CACHE)
        self._server = self._servers[run]
        self._keyspace = self.name.replace("-", "_")
        replicas = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
        self._server.cql(f"CREATE KEYSPACE {self._keyspace} WITH replication = {replicas}")
        self._server.cql(f"CREATE TABLE {self._keyspace}.numbers (id bigint PRIMARY KEY)")
        self._login: tuple[str, str] | None = None
        self.rotate()

    def jars(self) -> list[Path]:
        return maven_jars(
            self.run, "spark-cassandra-connector-3.5.1", [_CONNECTOR], cache=CACHE, without=_OF_SPARK
        )

    def _reference(self, key: str) -> str:
        return self.store.reference(f"{self.name}.{key}")

    def _place(self) -> dict[str, str]:
        return {
            "spark.cassandra.connection.host": self._server.host,
            "spark.cassandra.connection.port": str(self._server.port),
        }

    def _references(self) -> dict[str, str]:
        return {_USER: self._reference("user"), _PASSWORD: self._reference("password")}

    def confs(self) -> dict[str, str]:
        return {**self._place(), **self._references()}

    def _options(self) -> dict[str, str]:
        return {"keyspace": self._keyspace, "table": "numbers"}

    def write(self, spark: Any, numbers: Iterable[int]) -> None:
        frame = spark.createDataFrame([(number,) for number in numbers], "id long")
        frame.write.format(_FORMAT).options(**self._options()).mode("append").save()

    def frame(self, spark: Any) -> Any:
        return spark.read.format(_FORMAT).options(**self._options()).load()

    def rotate(self) -> None:
        old = self._login
        user, password = self._make_role()
        # With the role go the rights of its open connections.
        if old:
            self._server.cql(f"DROP ROLE {old[0]}")
            assert not self._server.lets_in(*old), "the old user is let in"
        self.store.publish({f"{self.name}.user": user, f"{self.name}.password": password})

    def _make_role(self) -> tuple[str, str]:
        user, password = self._login = f"{self._keyspace}_{secrets.token_hex(4)}", new_password()
        self._server.cql(f"CREATE ROLE {user} WITH PASSWORD=%s AND LOGIN=true", password)
        self._server.cql(f"GRANT ALL ON KEYSPACE {self._keyspace} TO {user}")
        return self._login


class CassandraOptions(Cassandra):
    """The same, with references in the options of each read and write."""

    name = "cassandra-options"
    title = f"Cassandra {VERSION}, its connector 3.5.1, options of reads and writes"

    def confs(self) -> dict[str, str]:
        return {}

    def _options(self) -> dict[str, str]:
        return {**super()._options(), **self._place(), **self._references()}

    def write(self, spark: Any, numbers: Iterable[int]) -> None:
        # Its save() connects before there is a plan: docs/data-sources.md has the wrapper format for such sources.
        frame = spark.createDataFrame([(number,) for number in numbers], "id long")
        writer = frame.write.format("sparkconfig").option("sparkconfig.format", _FORMAT)
        writer.options(**self._options()).mode("append").save()


class CassandraCatalog(Cassandra):
    """The same, with references in the confs of its catalog."""

    name = "cassandra-catalog"
    title = f"Cassandra {VERSION}, its connector 3.5.1, its catalog"

    def confs(self) -> dict[str, str]:
        return _catalog("cass", {**self._place(), **self._references()})

    def write(self, spark: Any, numbers: Iterable[int]) -> None:
        frame = spark.createDataFrame([(number,) for number in numbers], "id long")
        frame.writeTo(f"cass.{self._keyspace}.numbers").append()

    def frame(self, spark: Any) -> Any:
        return spark.table(f"cass.{self._keyspace}.numbers")


class CassandraLate(Cassandra):
    """A user whose password changes: each connection of the connector asks ours for it."""

    name = "cassandra-late"
    title = f"Cassandra {VERSION}, its connector 3.5.1, io.sparkconfig.cassandra.ReferenceAuth"
    within = True

    def __init__(self, run: Run, store: Store) -> None:
        super().__init__(run, store)
        self._server.cql(f"CREATE TABLE {self._keyspace}.more (id bigint PRIMARY KEY)")

    def jars(self) -> list[Path]:
        return [*super().jars(), connector_jar("cassandra")]

    def confs(self) -> dict[str, str]:
        plain = self._reference("password").removeprefix("${").removesuffix("}")
        assert self._login is not None
        confs = {
            **self._place(),
            "spark.cassandra.auth.conf.factory": "io.sparkconfig.cassandra.ReferenceAuth",
            _USER: self._login[0],
            "spark.cassandra.auth.reference.password": plain,
        }
        return _catalog("late", confs)

    def write(self, spark: Any, numbers: Iterable[int]) -> None:
        frame = spark.createDataFrame([(number,) for number in numbers], "id long")
        frame.writeTo(f"late.{self._keyspace}.numbers").append()

    def frame(self, spark: Any) -> Any:
        return spark.table(f"late.{self._keyspace}.numbers")

    def append(self, frame: Any) -> None:
        frame.writeTo(f"late.{self._keyspace}.more").append()

    def begun(self) -> bool:
        return self._rows() > 0

    def count(self, spark: Any) -> int:
        return self._rows()

    def _rows(self) -> int:
        (row,) = self._server.cql(f"SELECT count(*) AS number FROM {self._keyspace}.more")
        return int(row.number)

    def rotate(self) -> None:
        if self._login is None:
            self.store.publish({f"{self.name}.password": self._make_role()[1]})
            return
        old, self._login = self._login, (self._login[0], new_password())
        user, password = self._login
        self._server.cql(f"ALTER ROLE {user} WITH PASSWORD=%s", password)
        assert not self._server.lets_in(*old), "the old password is taken"
        opened = self._server.connections(user)
        self.store.publish({f"{self.name}.password": password})
        self._server.cut()
        # A session that has lost its connections answers nothing until it has new ones.
        wait_until(
            "the connector's sessions to log in again",
            lambda: self._server.connections(user) >= opened,
            timeout=60,
        )


def _catalog(name: str, confs: dict[str, str]) -> dict[str, str]:
    prefix = f"spark.sql.catalog.{name}"
    catalog = "com.datastax.spark.connector.datasource.CassandraCatalog"
    return {prefix: catalog, **{f"{prefix}.{key}": text for key, text in confs.items()}}
