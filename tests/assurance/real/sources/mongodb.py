"""MongoDB's Spark connector: with confs that it reads itself, and with options of reads and writes."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from real.sources.base import CACHE, Source, Store, Unavailable
from support.maven import maven_jars
from support.mongo_server import VERSION, MongoServer, can_be_built
from support.processes import Run

_RELEASE = "10.5.0"
_SERVER = f"FerretDB {VERSION} (MongoDB's protocol, passwords checked by PostgreSQL 16)"
# Spark brings these, and a second Scala or SLF4J would only be in their way.
_OF_SPARK = ["org.apache.spark:*", "org.scala-lang:*", "org.slf4j:*"]


class MongoDb(Source):
    """A user whose password changes; the connector reads its confs itself."""

    name = "mongodb"
    title = f"{_SERVER}, MongoDB's connector {_RELEASE}, confs that it reads itself"
    # Release 11, for Spark 4, could not be had.
    sparks = ("3.5",)

    def __init__(self, run: Run, store: Store) -> None:
        super().__init__(run, store)
        try:
            import pymongo  # noqa: F401
        except ImportError:
            raise Unavailable("MongoDB's client is not installed: pip install pymongo") from None
        if not can_be_built(CACHE):
            raise Unavailable("Go, which compiles FerretDB, is not installed: apt-get install golang-go")
        # In a URL, so without characters that URLs escape.
        self._password = secrets.token_hex(16)
        self._server = MongoServer(run, cache=CACHE, name=self.name, password=self._password)
        self._publish()

    def _publish(self) -> None:
        self.store.publish({
            f"{self.name}.password": self._password, f"{self.name}.uri": self._server.uri(self._password)
        })  # fmt: skip

    def jars(self) -> list[Path]:
        wanted = [f"org.mongodb.spark:mongo-spark-connector_2.12:{_RELEASE}"]
        return maven_jars(self.run, f"mongo-spark-{_RELEASE}", wanted, cache=CACHE, without=_OF_SPARK)

    def confs(self) -> dict[str, str]:
        return {
            f"spark.mongodb.{side}.connection.uri": self.store.reference(f"{self.name}.uri")
            for side in ("read", "write")
        }

    def write(self, spark: Any, numbers: Iterable[int]) -> None:
        frame = spark.createDataFrame([(number,) for number in numbers], "id long")
        frame.write.format("mongodb").options(**self._options()).mode("append").save()

    def frame(self, spark: Any) -> Any:
        # The connector's usual partitioner asks for statistics that FerretDB has not.
        one = "com.mongodb.spark.sql.connector.read.partitioner.SinglePartitionPartitioner"
        reader = spark.read.format("mongodb").schema("id long").option("partitioner", one)
        return reader.options(**self._options()).load()

    def _options(self) -> dict[str, str]:
        return {"database": "shop", "collection": self.name.replace("-", "_")}

    def rotate(self) -> None:
        old, self._password = self._password, secrets.token_hex(16)
        self._server.set_password(self._password)
        assert not self._server.lets_in(old), "the old password is taken"
        self._publish()


class MongoDbOptions(MongoDb):
    """The same, with a reference as the password in the URI of each read and write."""

    name = "mongodb-options"
    title = f"{_SERVER}, MongoDB's connector {_RELEASE}, options of reads and writes"

    def confs(self) -> dict[str, str]:
        return {}

    def _options(self) -> dict[str, str]:
        uri = self._server.uri(self.store.reference(f"{self.name}.password"))
        return {**super()._options(), "connection.uri": uri}
