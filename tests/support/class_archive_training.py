"""What an archive of Spark's classes is made from: a little of everything that the tests' applications do."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import pyspark
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
    "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver",
    "org.apache.spark.sql.hive.thriftserver.SparkSQLDriver",
)
CONNECT_CLIENT = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
spark.range(10).selectExpr("id + 1 AS next").groupBy().count().collect()
spark.sql("SELECT 1").collect()
"""


def main() -> None:
    """Run a small application, and one whose catalog is Hive's and that serves Thrift."""
    folder = Path(tempfile.mkdtemp())
    (folder / "events").mkdir()
    _application(folder)
    _hive(folder)


def _application(folder: Path) -> None:
    """One with a UI, an event log, tables, streams, functions in Python, and Connect where Spark has it."""
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.port", "0")
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.dir", (folder / "events").as_uri())
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.authenticate", "true")
        .config("spark.authenticate.secret", "training")
        .config("spark.network.crypto.enabled", "true")
    )
    port = _free_port()
    connect = any((Path(pyspark.__file__).parent / "jars").glob("spark-connect_*.jar"))
    if connect:
        builder = (
            builder.config("spark.plugins", "org.apache.spark.sql.connect.SparkConnectPlugin")
            .config("spark.connect.grpc.binding.address", "127.0.0.1")
            .config("spark.connect.grpc.binding.port", str(port))
        )
    spark = builder.getOrCreate()
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
    if connect:
        # An archive without Connect's classes serves too.
        subprocess.run([sys.executable, "-c", CONNECT_CLIENT, f"sc://127.0.0.1:{port}"], check=False)
    loader = spark._jvm.Thread.currentThread().getContextClassLoader()
    for role in ROLES:
        spark._jvm.java.lang.Class.forName(role, True, loader)
    spark.stop()


def _hive(folder: Path) -> None:
    """What a Thrift server, `spark-sql` and beeline load."""
    port = _free_port()
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.warehouse.dir", str(folder / "hive-warehouse"))
        .config("spark.sql.catalogImplementation", "hive")
        .config("spark.hadoop.hive.server2.thrift.port", str(port))
        .config("spark.hadoop.hive.server2.thrift.bind.host", "127.0.0.1")
        .config("spark.hadoop.hive.server2.logging.operation.log.location", str(folder / "operations"))
        .config("spark.hadoop.hive.exec.scratchdir", str(folder / "scratch"))
        .config("spark.hadoop.hive.exec.local.scratchdir", str(folder / "local-scratch"))
        .config(
            "spark.hadoop.javax.jdo.option.ConnectionURL",
            f"jdbc:derby:;databaseName={folder}/metastore;create=true",
        )
        .getOrCreate()
    )
    spark.sql("CREATE TABLE IF NOT EXISTS held USING parquet AS SELECT 1 AS a")
    spark.sql("DESCRIBE EXTENDED held").collect()
    java = spark._jvm
    java.org.apache.spark.sql.hive.thriftserver.HiveThriftServer2.startWithContext(
        spark._jsparkSession.sqlContext()
    )
    properties = java.java.util.Properties()
    properties.setProperty("user", "training")
    connection = java.org.apache.hive.jdbc.HiveDriver().connect(f"jdbc:hive2://127.0.0.1:{port}", properties)
    statement = connection.createStatement()
    rows = statement.executeQuery("SELECT a FROM held")
    while rows.next():
        rows.getString(1)
    connection.close()
    spark.stop()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


if __name__ == "__main__":
    main()
