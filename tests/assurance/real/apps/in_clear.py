"""An application of stock Spark, which prints the secret that it has in clear."""

from __future__ import annotations

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
print("printed", spark.conf.get("spark.shop.login"), flush=True)
print("COUNT", spark.range(7).count(), flush=True)
spark.stop()
