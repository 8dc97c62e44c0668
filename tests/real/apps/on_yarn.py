"""What an application on YARN sees of a reference, before and after a rotation; arguments: store, table, result."""

from __future__ import annotations

import hashlib
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

store, table = Path(sys.argv[1]), sys.argv[2]
reference = f"${{files:{store}:password}}"
spark = SparkSession.builder.getOrCreate()


def digests() -> set[str]:
    """What tasks on each executor have."""

    def mine(_: object) -> list[str]:
        from sparkconfig.worker import current

        return [hashlib.sha256(current(reference).reveal().encode()).hexdigest()]

    return set(spark.sparkContext.parallelize(range(8), 8).mapPartitions(mine).collect())


spark.range(0, 40, 1, 4).write.mode("overwrite").parquet(table)
print("SUM", spark.read.parquet(table).selectExpr("sum(id)").first()[0])
first = digests()
print("FIRST", *first)
store.with_suffix(".next").replace(store)
deadline = time.monotonic() + 60
second = digests()
while (second == first or len(second) > 1) and time.monotonic() < deadline:
    second = digests()
print("SECOND", *second)
# Where Spark would put it: a conf, a plan, a log.
spark.conf.set("spark.sql.shuffle.partitions", "2")
spark.read.option("password", reference).parquet(table).count()
(Path(sys.argv[3])).write_text(" ".join(["/".join(sorted(first)), "/".join(sorted(second))]))
spark.stop()
