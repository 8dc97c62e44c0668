"""Iceberg's REST catalog, of SeaweedFS: it takes the same keys as S3 does, and checks each request's signature."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from real.sources.base import CACHE, SPARK
from real.sources.s3 import REGION, SeaweedFs
from support.maven import maven_jars
from support.postgres import free_port


class IcebergRest(SeaweedFs):
    """A user whose pair of keys changes: the catalog's requests are signed with it, and those for files."""

    name = "iceberg-rest"
    title = "Iceberg 1.11: REST catalog of SeaweedFS, SigV4, files by Hadoop's S3A"
    # Iceberg signs with the AWS SDK 2, which Hadoop 3.3 in Spark 3.5 does not bring.
    sparks = ("4.0",)
    _port = 0

    def _iceberg(self) -> int:
        self._port = free_port()
        return self._port

    def _make_bucket(self) -> None:
        self._admin("s3tables").create_table_bucket(name=self.name)

    def jars(self) -> list[Path]:
        runtime = f"org.apache.iceberg:iceberg-spark-runtime-{SPARK}_2.13:1.11.0"
        found = maven_jars(
            self.run, f"iceberg-runtime-{SPARK}-1.11.0", [runtime], cache=CACHE, transitive=False
        )
        return [*super().jars(), *found]

    def confs(self) -> dict[str, str]:
        catalog = {
            "": "org.apache.iceberg.spark.SparkCatalog",
            ".type": "rest",
            ".uri": f"http://127.0.0.1:{self._port}",
            ".warehouse": f"s3://{self.name}",
            ".io-impl": "org.apache.iceberg.hadoop.HadoopFileIO",
            ".rest.auth.type": "sigv4",
            ".rest.auth.sigv4.delegate-auth-type": "none",
            ".rest.signing-name": "s3tables",
            ".rest.signing-region": REGION,
            ".rest.access-key-id": self.store.reference(f"{self.name}.id"),
            ".rest.secret-access-key": self.store.reference(f"{self.name}.secret"),
        }
        return {
            **super().confs(),
            "spark.hadoop.fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
            **{f"spark.sql.catalog.ice{key}": text for key, text in catalog.items()},
        }

    def write(self, spark: Any, numbers: Iterable[int]) -> None:
        spark.sql("create namespace if not exists ice.shop")
        spark.sql("create table if not exists ice.shop.numbers (id bigint) using iceberg")
        frame = spark.createDataFrame([(number,) for number in numbers], "id long")
        frame.writeTo("ice.shop.numbers").append()

    def frame(self, spark: Any) -> Any:
        return spark.table("ice.shop.numbers")
