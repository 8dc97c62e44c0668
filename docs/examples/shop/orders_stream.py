"""A stream that writes into a database while its password changes.

Nothing is restarted: each batch opens a connection of its own, and gets the password of that moment. The stream reads
JSON files, as they arrive in the folder `incoming`.

Here one program plays three parts, so that it can run by itself: it drops the files, it is the stream, and it is the
person who changes the password. In your cluster only `start()` is yours; `rotate()` is the work of those who run the
database.

    spark-submit --properties-file job.conf orders_stream.py shop.sealed shop.key
"""

import json
import secrets
import subprocess
import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming import StreamingQuery

import sparkconfig

REFERENCE = "${sealed:shop:password}"


def start(spark: SparkSession, url: str) -> StreamingQuery:
    """Start the stream. `foreachBatch` is the usual way to write to a database."""

    def write(batch: DataFrame, _number: int) -> None:
        options = {"url": url, "dbtable": "sales.orders", "user": "shop", "password": REFERENCE}
        batch.write.format("jdbc").options(**options).mode("append").save()

    orders = spark.readStream.schema("id INT, day DATE, amount DECIMAL(8, 2)").json("incoming")
    return orders.writeStream.foreachBatch(write).option("checkpointLocation", "checkpoint").start()


def rotate(spark: SparkSession, url: str, sealed_file: str, key_file: str) -> None:
    """Change the password in the database, then where the job looks. Derby lets each user change their own."""
    new = secrets.token_urlsafe(18)
    manager = spark._jvm.java.sql.DriverManager  # noqa: SLF001 - JDBC without Spark
    connection = manager.getConnection(url, "shop", sparkconfig.current(REFERENCE).reveal())
    call = connection.prepareCall("CALL SYSCS_UTIL.SYSCS_MODIFY_PASSWORD(?)")
    call.setString(1, new)
    call.execute()
    connection.close()
    # The value travels through standard input: a command line is open to everybody on the machine.
    seal = [sys.executable, "-m", "sparkconfig", "seal", "set", "--file", sealed_file, "--key-file", key_file]
    subprocess.run([*seal, "shop:password"], input=new.encode(), check=True)


def arrive(number: int) -> None:
    """An order arrives. The file gets its name when it is complete, or the stream would read half of it."""
    part = Path(f"{number}.part")
    part.write_text(json.dumps({"id": number, "day": "2026-11-03", "amount": "10.00"}))
    Path("incoming").mkdir(exist_ok=True)
    part.rename(f"incoming/{number}.json")


def main() -> None:
    sealed_file, key_file = sys.argv[1:]
    spark = SparkSession.builder.appName("orders-stream").getOrCreate()
    url = spark.conf.get("spark.shop.jdbc")
    arrive(101)
    query = start(spark, url)
    query.processAllAvailable()
    print("batch 1 is written with the first password", flush=True)
    rotate(spark, url, sealed_file, key_file)
    arrive(102)
    query.processAllAvailable()
    print("batch 2 is written with the second password", flush=True)
    query.stop()
    spark.stop()


if __name__ == "__main__":
    main()
