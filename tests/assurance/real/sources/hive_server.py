"""Hive's metastore as a server of its own, which keeps tables whose options hold references."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from typing import Any

from real.sources.base import Store
from real.sources.hive import SCHEMA
from real.sources.postgresql import PostgreSql
from support.postgres import free_port, new_password
from support.processes import Run, wait_until
from support.spark_home import java, spark_home
from support.yarn import hadoop_xml

_MAIN = "org.apache.hadoop.hive.metastore.HiveMetaStore"


class HiveServer(PostgreSql):
    """A table in PostgreSQL whose password changes, which the metastore knows by reference, beside one of files.

    The server is Hive's, from the jars that Spark has of it.
    """

    name = "hive-server"
    title = "Hive's metastore as a server"

    def __init__(self, run: Run, store: Store) -> None:
        super().__init__(run, store)
        password = new_password()
        self._server.create(role="metastore", password=password, database="metastore")
        home, port = run.private_dir("metastore"), free_port()
        confs = {
            "javax.jdo.option.ConnectionURL": self._server.jdbc_url("metastore"),
            "javax.jdo.option.ConnectionDriverName": "org.postgresql.Driver",
            "javax.jdo.option.ConnectionUserName": "metastore",
            "javax.jdo.option.ConnectionPassword": password,
            **SCHEMA,
            "hive.async.log.enabled": "false",  # it needs a library that Spark has not
            "hive.metastore.warehouse.dir": str(home / "warehouse"),
        }
        run.private_file("metastore/hive-site.xml", hadoop_xml(confs))
        path = ":".join(map(str, [home, *super().jars(), f"{spark_home()}/jars/*"]))
        self._child = run.start(
            "metastore", [java(), "-Xmx400m", "-XX:+UseSerialGC", "-cp", path, _MAIN, "-p", str(port)]
        )
        wait_until("Hive's metastore to listen", lambda: _listens(port), timeout=120)
        store.publish({f"{self.name}.uris": f"thrift://127.0.0.1:{port}"})

    def confs(self) -> dict[str, str]:
        return {
            "spark.sql.catalogImplementation": "hive",
            "spark.hadoop.hive.metastore.uris": self.store.reference(f"{self.name}.uris"),
        }

    def write(self, spark: Any, numbers: Iterable[int]) -> None:
        frame = spark.createDataFrame([(number,) for number in numbers], "id long")
        if spark.catalog.databaseExists("real"):
            frame.write.insertInto("real.numbers")
        else:
            super().write(spark, [row.id for row in frame.collect()])
            spark.sql("create database real")
            options = ", ".join(f"{key} '{text}'" for key, text in self.options().items())
            spark.sql(f"create table real.numbers using jdbc options ({options})")
            spark.sql("create table real.files (id bigint) stored as parquet")
        frame.write.insertInto("real.files")

    def frame(self, spark: Any) -> Any:
        spark.catalog.refreshTable("real.files")
        return spark.table("real.numbers").join(spark.table("real.files"), "id")

    def texts(self) -> Iterable[bytes]:
        tables = self._server.sql(
            "select table_name from information_schema.tables where table_schema = 'public'",
            database="metastore",
        )
        rows = [
            self._server.sql(f'select * from "{table}"', database="metastore") for table in tables.split()
        ]
        kept = "\n".join(rows)
        assert self.store.reference(f"{self.name}.password") in kept, "the metastore keeps another text"
        return [kept.encode(), self._child.output().encode()]


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
