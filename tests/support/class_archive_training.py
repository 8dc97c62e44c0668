"""What an archive of Spark's classes is made from: a little of everything that the tests' applications do."""

from __future__ import annotations

import tempfile
import urllib.request
from pathlib import Path

from pyspark.sql import SparkSession, functions

#: Loaded by name, since the driver of a local application never needs them.
ROLES = (
    "org.apache.spark.deploy.master.Master",
    "org.apache.spark.deploy.worker.Worker",
    "org.apache.spark.deploy.worker.ExecutorRunner",
    "org.apache.spark.deploy.client.StandaloneAppClient",
    "org.apache.spark.deploy.history.HistoryServer",
    "org.apache.spark.executor.CoarseGrainedExecutorBackend",
    "org.apache.spark.scheduler.cluster.StandaloneSchedulerBackend",
)


def main() -> None:
    """Run a small application with a UI, an event log, tables, streams, and functions in Python."""
    folder = Path(tempfile.mkdtemp())
    (folder / "events").mkdir()
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.port", "0")
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.dir", (folder / "events").as_uri())
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.authenticate", "true")
        .config("spark.authenticate.secret", "training")
        .config("spark.network.crypto.enabled", "true")
        .getOrCreate()
    )
    numbers = spark.range(100).withColumn(
        "word", functions.concat(functions.lit("w"), functions.col("id") % 7)
    )
    for kind in ("parquet", "csv", "json", "orc"):
        numbers.write.format(kind).save(str(folder / kind))
        spark.read.format(kind).load(str(folder / kind)).groupBy().count().collect()
    numbers.createOrReplaceTempView("numbers")
    spark.sql("CREATE TABLE kept USING parquet AS SELECT * FROM numbers")
    spark.sql(
        "SELECT a.word, count(*) FROM numbers a JOIN kept b ON a.id = b.id GROUP BY 1 ORDER BY 2"
    ).collect()
    for statement in (
        "SHOW TABLES",
        "DESCRIBE EXTENDED kept",
        "SET spark.sql.shuffle.partitions",
        "SHOW DATABASES",
    ):
        spark.sql(statement).collect()
    spark.sql("EXPLAIN FORMATTED SELECT * FROM kept").collect()
    numbers.cache().count()
    spark.sparkContext.parallelize(range(10), 2).map(lambda x: (x % 2, x)).reduceByKey(max).collect()
    numbers.select(functions.udf(lambda word: word.upper())("word")).collect()
    stream = spark.readStream.format("rate").load().writeStream.format("memory").queryName("rates")
    query = stream.option("checkpointLocation", str(folder / "checkpoint")).start()
    query.processAllAvailable()
    query.stop()
    for page in ("jobs/", "environment/", "SQL/", "executors/", "api/v1/applications"):
        urllib.request.urlopen(f"{spark.sparkContext.uiWebUrl}/{page}").read()
    loader = spark._jvm.Thread.currentThread().getContextClassLoader()
    for role in ROLES:
        spark._jvm.java.lang.Class.forName(role, True, loader)
    spark.stop()


if __name__ == "__main__":
    main()
