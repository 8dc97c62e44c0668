"""DataFrames with secrets in literals, filters, column names and hints."""

import io
from contextlib import redirect_stdout

from pyspark.sql import functions as F  # noqa: N812

from leaks.corpus.shop import Shop, failing


def run(shop: Shop) -> None:
    spark = shop.spark
    for text in shop.texts:
        frame = spark.range(20).withColumn("secret", F.lit(text)).filter(F.col("secret") == text)
        frame.groupBy("secret").count().collect()
        frame.filter(F.col("secret").isin("a", text)).filter(F.col("secret").contains(text[:64])).count()
        frame.join(F.broadcast(spark.range(3).withColumn("other", F.lit(text))), "id").count()
        spark.range(3).select(F.col("id").alias(f"c {text}")).cache().count()
        frame.alias("x").hint("broadcast").repartition(2, "secret").count()
        shown = io.StringIO()
        with redirect_stdout(shown):
            frame.explain(mode="extended")
        print(shown.getvalue())
        frame.select("id").write.mode("overwrite").saveAsTable("shop_clean")
        with failing():
            frame.select(f"no such {text}").collect()
        with failing():
            frame.select(F.udf(int, "int")("secret")).collect()
