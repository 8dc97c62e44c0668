"""Data that is a secret itself: cached, shuffled, broadcast; Spark keeps it in blocks on disk."""

from pyspark import StorageLevel
from pyspark.sql import functions as F  # noqa: N812

from leaks.corpus.shop import Shop


def run(shop: Shop) -> None:
    spark = shop.spark
    context = spark.sparkContext
    values = list(shop.values.values())
    context.parallelize(values, 2).persist(StorageLevel.DISK_ONLY).count()
    context.parallelize([(value, value) for value in values], 2).groupByKey().count()
    shared = context.broadcast(values)
    context.parallelize(range(4), 2).map(lambda _: len(shared.value)).sum()
    rows = spark.createDataFrame([(value,) for value in values], "secret string")
    rows.persist(StorageLevel.DISK_ONLY).count()
    rows.join(F.broadcast(rows), "secret").repartition(2).count()
