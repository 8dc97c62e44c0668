"""A nightly batch: orders by day, out of a database, into a CSV file.

It is ordinary PySpark. The one thing to notice is the password: the job holds a reference. The value is put in where
the JDBC connection is opened, so the plan, the event log and the UI show the reference.

    spark-submit --properties-file job.conf orders_batch.py
"""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

spark = SparkSession.builder.appName("orders-batch").getOrCreate()
orders = (
    spark.read.format("jdbc")
    .option("url", spark.conf.get("spark.shop.jdbc"))
    .option("dbtable", "sales.orders")
    .option("user", "shop")
    .option("password", "${sealed:shop:password}")
    .load()
)
by_day = (
    orders.groupBy("day").agg(F.count("*").alias("orders"), F.sum("amount").alias("total")).orderBy("day")
)
by_day.coalesce(1).write.mode("overwrite").option("header", True).csv("orders-by-day")
by_day.show()
spark.stop()
