"""What an application on two nodes of YARN sees of its secrets until a test ends it.

Arguments: a folder, a table on HDFS, and rows behind a lock (``-``: none).
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pyspark.sql import SparkSession

folder, table, rows = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
spark = SparkSession.builder.getOrCreate()
references = [str(spark.conf.get(key)) for key in ("spark.shop.password", "spark.shop.key")]


def watch(kind: str) -> None:
    """Write down what is seen in this container, each change once, until the folder holds ``stop``."""
    from sparkconfig.worker import current

    name = "-".join([kind, *(os.environ.get(each, "") for each in ("CONTAINER_ID", "NM_PORT"))])
    last = ""
    while not (folder / "stop").exists():
        values = [current(reference).reveal() for reference in references]
        line = " ".join(hashlib.sha256(value.encode()).hexdigest() for value in values)
        if line != last:
            # Into the container's log, where it is masked.
            print("printed", *values, file=sys.stderr, flush=True)
            with (folder / f"{name}-{os.getpid()}").open("a") as out:
                out.write(f"{line}\n")
            last = line
        time.sleep(0.05)


def task(numbers: Iterable[int]) -> Iterable[int]:
    """Watch on an executor."""
    watch("executor")
    return numbers


def locked() -> int:
    """Count rows that only a file system opens which has the password of the moment."""
    return 8 if rows == "-" else int(spark.read.text(rows).count())


spark.range(0, 40, 1, 4).write.mode("overwrite").parquet(table)
assert locked() == 8
with ThreadPoolExecutor(1) as pool:
    job = pool.submit(spark.sparkContext.parallelize((1, 2), 2).mapPartitions(task).count)
    watch("driver")
    assert job.result() == 2
assert locked() == 8
print("SUM", spark.read.parquet(table).selectExpr("sum(id)").collect()[0][0], flush=True)
spark.stop()
