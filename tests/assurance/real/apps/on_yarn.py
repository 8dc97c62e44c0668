"""What an application on YARN sees of a reference, before and after a rotation; arguments: store, table, result."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

from sparkconfig._spark import driver

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
print("SUM", spark.read.parquet(table).selectExpr("sum(id)").collect()[0][0])
first = digests()
print("FIRST", *first)
store.with_suffix(".next").replace(store)
# Before any task needs the new value: executors poll too seldom to have it otherwise than by a push.
waited = subprocess.run(
    [sys.executable, "-m", "sparkconfig", "refresh", spark.sparkContext.applicationId, "--wait", "--json"],
    capture_output=True, text=True, check=False,
)  # fmt: skip
print("WAITED", waited.returncode, waited.stdout, waited.stderr)
executors = driver.status()["executors"]
pushed = waited.returncode == 0 and len(executors) >= 2 and all(each["pushed"] for each in executors)
deadline = time.monotonic() + 60
second = digests()
while (second == first or len(second) > 1) and time.monotonic() < deadline:
    second = digests()
print("SECOND", *second)
# Where Spark would put it: a conf, a plan, a log.
spark.conf.set("spark.sql.shuffle.partitions", "2")
spark.read.option("password", reference).parquet(table).count()
(Path(sys.argv[3])).write_text(
    " ".join(
        ["/".join(sorted(first)), "/".join(sorted(second)), "pushed" if pushed else waited.stdout or "not"]
    )
)
spark.stop()
