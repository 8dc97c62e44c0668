"""Loads Seattle's weather (2012 to 2015) into PostgreSQL and reports from there: ordinary PySpark.

The one thing to notice is the password: the application holds a reference to it. With sparkconfig the
reference is replaced inside the JDBC connection, each time one is opened, on the driver and on the executors.
Without sparkconfig, set ``spark.shop.pwd`` to the password itself: the ordinary way, which works too.

    spark-submit --properties-file spark-defaults.conf shop_weather.py --csv FILE --url jdbc:postgresql://...

The report can be made several times, so that you can change the password in between.
"""

import argparse
import time
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

REFERENCE = "${sealed:shop:password}"


def load(spark: SparkSession, csv: str, connection: dict[str, str]) -> None:
    """Write the public data set into the table ``weather``."""
    weather = (
        spark.read.option("header", True)
        .option("inferSchema", True)
        .csv(csv)
        .withColumn("date", F.to_date("date", "yyyy/MM/dd"))
    )
    weather.repartition(2).write.format("jdbc").options(**connection).mode("overwrite").save()


def report(spark: SparkSession, connection: dict[str, str]) -> DataFrame:
    """Read the table back, four partitions at once, and sum it up by year."""
    weather = (
        spark.read.format("jdbc")
        .options(**connection)
        .option("partitionColumn", "date")
        .option("lowerBound", "2012-01-01")
        .option("upperBound", "2015-12-31")
        .option("numPartitions", 4)
        .load()
    )
    return (
        weather.groupBy(F.year("date").alias("year"))
        .agg(
            F.count("*").alias("days"),
            F.count_if(F.col("weather") == "sun").alias("sunny days"),
            F.round(F.max("temp_max"), 1).alias("hottest, °C"),
            F.round(F.avg("temp_max"), 1).alias("mean high, °C"),
            F.round(F.sum("precipitation")).cast("int").alias("rain, mm"),
        )
        .orderBy("year")
    )


def wait_for(file: str) -> None:
    """Wait until this file is there."""
    while not Path(file).exists():
        time.sleep(0.1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--csv", required=True, help="vega_datasets' seattle-weather.csv")
    parser.add_argument("--url", required=True, help="jdbc:postgresql://HOST:PORT/DATABASE")
    parser.add_argument("--user", default="shop")
    parser.add_argument(
        "--again-when", nargs="*", default=[], help="report again when each of these files exists"
    )
    parser.add_argument("--end-when", help="stay until this file exists")
    arguments = parser.parse_args()

    spark = SparkSession.builder.appName("shop-weather").getOrCreate()
    connection = {
        "url": arguments.url,
        "driver": "org.postgresql.Driver",
        "dbtable": "weather",
        "user": arguments.user,
        "password": spark.conf.get("spark.shop.pwd", REFERENCE),
    }
    load(spark, arguments.csv, connection)
    report(spark, connection).show()
    print("report 1 is complete", flush=True)
    for number, file in enumerate(arguments.again_when, start=2):
        wait_for(file)
        report(spark, connection).show()
        print(f"report {number} is complete", flush=True)
    if arguments.end_when:
        wait_for(arguments.end_when)
    spark.stop()


if __name__ == "__main__":
    main()
