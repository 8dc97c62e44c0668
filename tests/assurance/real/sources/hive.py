"""Spark's own Hive metastore client, with the metastore's tables in PostgreSQL."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from real.sources.base import Store
from real.sources.postgresql import PostgreSql
from support.processes import Run
from support.yarn import hadoop_xml

#: Without foreign keys: DataNucleus makes them on a second connection, which waits for the first for ever.
SCHEMA = {
    "datanucleus.schema.autoCreateAll": "false",
    "datanucleus.schema.autoCreateTables": "true",
    "datanucleus.schema.autoCreateColumns": "true",
    "datanucleus.schema.autoCreateConstraints": "false",
    "hive.metastore.schema.verification": "false",
}


class Hive(PostgreSql):
    """The password of the metastore's database changes; each connection of its pool asks for the newest."""

    name = "hive"
    new_password = staticmethod(lambda: secrets.token_hex(16))
    title = "Hive metastore of Spark, its database on PostgreSQL 16"

    def __init__(self, run: Run, store: Store) -> None:
        super().__init__(run, store)
        self._warehouse = run.private_dir("hive-warehouse")
        self._conf = run.private_dir("hive-conf")
        database = "javax.jdo.option.Connection"
        url = self._server.jdbc_url(self.name).replace("jdbc:", "jdbc:sparkconfig:")
        confs = {
            # Not as ConnectionPassword: Hive asks Hadoop's getPassword for that, once, and keeps the value. Part of a
            # URL is what the driver decodes, so this password has no characters that URLs escape.
            f"{database}URL": f"{url}?password={self.store.reference('hive.password')}",
            f"{database}DriverName": "io.sparkconfig.bindings.ReferenceDriver",
            f"{database}UserName": self.name,
            **SCHEMA,
            "hive.metastore.warehouse.dir": str(self._warehouse),
        }
        (self._conf / "hive-site.xml").write_text(hadoop_xml(confs))

    def jars(self) -> list[Path]:
        return [*super().jars(), self._conf]

    def confs(self) -> dict[str, str]:
        return {"spark.sql.catalogImplementation": "hive"}

    def write(self, spark: Any, numbers: Iterable[int]) -> None:
        spark.sql("create database if not exists real")
        spark.sql("create table if not exists real.numbers (id bigint) stored as parquet")
        frame = spark.createDataFrame([(number,) for number in numbers], "id long")
        frame.write.insertInto("real.numbers")

    def frame(self, spark: Any) -> Any:
        spark.catalog.refreshTable("real.numbers")
        return spark.table("real.numbers")
