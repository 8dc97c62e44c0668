"""What an application on Kubernetes sees of ``spark.shop.password``, before and after a rotation; argument: a table."""

from __future__ import annotations

import hashlib
import sys
import time

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
reference = str(spark.conf.get("spark.shop.password"))


def digests() -> set[str]:
    """What tasks on the executors have."""

    def mine(_: object) -> list[str]:
        from sparkconfig.worker import current

        return [hashlib.sha256(current(reference).reveal().encode()).hexdigest()]

    return set(spark.sparkContext.parallelize(range(8), 8).mapPartitions(mine).collect())


spark.range(0, 40, 1, 4).write.mode("overwrite").parquet(sys.argv[1])
print("SUM", spark.read.parquet(sys.argv[1]).selectExpr("sum(id)").collect()[0][0], flush=True)
first = digests()
print("FIRST", *first, flush=True)
# The Secret changes now; its mount on the driver is what tells.
deadline = time.monotonic() + 90
second = digests()
while (second == first or len(second) > 1) and time.monotonic() < deadline:
    second = digests()
print("SECOND", *second, flush=True)
# Where Spark would put it: a conf, a plan, a log.
spark.conf.set("spark.sql.shuffle.partitions", "2")
spark.read.option("password", reference).parquet(sys.argv[1]).count()
spark.stop()
