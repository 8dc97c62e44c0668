"""A Spark Connect client: jobs with secrets in their texts and options, and the errors that come back.

Reads one JSON object on standard input: remote, values and options by name, jdbc.
"""

from __future__ import annotations

import io
import json
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from leaks.corpus.shop import Shop, failing, sql_literal


def main() -> None:
    order = json.loads(sys.stdin.readline())
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.remote(order["remote"]).getOrCreate()
    shop = Shop(spark, order["values"], order["options"], Path(), order["jdbc"])
    # What a client has written itself comes back as it is: the server's surfaces show whether it is masked there.
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        for text in shop.texts:
            run(shop, text)
    read_options(shop)
    spark.stop()


def run(shop: Shop, text: str) -> None:
    from pyspark.sql import functions as F  # noqa: N812

    spark = shop.spark
    literal = sql_literal(text)
    spark.addTag(text.replace(",", ";"))
    spark.sql(f"SELECT id, '{literal}' AS found FROM range(3)").collect()
    frame = spark.range(4).withColumn("secret", F.lit(text)).filter(F.col("secret") == text)
    frame.groupBy("secret").count().collect()
    frame.explain(extended=True)
    spark.clearTags()
    spark.conf.set("spark.sql.shop.note", text)
    with failing():
        spark.sql(f"SELEKT '{literal}'").collect()
    with failing():
        spark.sql(f"SELECT no_such_column + '{literal}' FROM range(1)").collect()
    with failing():
        spark.sql(f"SELECT raise_error('{literal}')").collect()
    with failing():
        frame.select(F.udf(int, "int")("secret")).collect()
    spark.conf.unset("spark.sql.shop.note")


def read_options(shop: Shop) -> None:
    """What the server shows of its confs and of the options that a client wrote."""
    spark = shop.spark
    spark.sql("SET -v").collect()
    for name in shop.options:
        for key in (f"spark.shop.{name}.pwd", f"spark.shop.{name}.apikey"):
            try:
                print(key, spark.conf.get(key))
            except Exception:
                traceback.print_exc()
            print(spark.sql(f"EXPLAIN SELECT '${{{key}}}'").collect())
            with failing():
                spark.sql(f"SELECT raise_error('${{{key}}}')").collect()
    reader = spark.read.format("jdbc").options(
        url=shop.jdbc, driver="org.postgresql.Driver", user="audit", password=shop.options["awkward"]
    )
    frame = reader.option("query", "SELECT 7 AS n").load()
    assert frame.collect()[0][0] == 7
    frame.explain(extended=True)
    with failing():
        reader.option("query", "SELECT CAST('none' AS INT) AS n").load().collect()


if __name__ == "__main__":
    main()
