"""Delta tables on S3, through Hadoop's S3A."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from real.sources.base import CACHE, SPARK
from real.sources.s3 import SeaweedFs
from support.maven import maven_jars

_RELEASES = {"3.5": ("2.12", "3.3.3"), "4.0": ("2.13", "4.0.0")}


class Delta(SeaweedFs):
    """A table whose log and files are in a bucket; the keys of its user change."""

    name = "delta"
    title = "Delta on S3 of SeaweedFS, Hadoop's S3A"
    sparks = tuple(_RELEASES)
    extension = "io.delta.sql.DeltaSparkSessionExtension"

    def jars(self) -> list[Path]:
        scala, version = _RELEASES[SPARK]
        wanted = [f"io.delta:delta-spark_{scala}:{version}", f"io.delta:delta-storage:{version}"]
        found = maven_jars(self.run, f"delta-{scala}-{version}", wanted, cache=CACHE, transitive=False)
        return [*super().jars(), *found]

    def confs(self) -> dict[str, str]:
        return {
            **super().confs(),
            "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        }

    def write(self, spark: Any, numbers: Iterable[int]) -> None:
        frame = spark.createDataFrame([(number,) for number in numbers], "id long")
        frame.write.format("delta").mode("append").save(f"s3a://{self.name}/numbers")

    def frame(self, spark: Any) -> Any:
        return spark.read.format("delta").load(f"s3a://{self.name}/numbers")
