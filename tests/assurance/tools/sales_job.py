"""The job of `sales_dag.py`: it counts orders in a database, with a login that a conf refers to."""

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
options = {key: spark.conf.get(f"spark.shop.{key}") for key in ("driver", "url", "user", "login")}
options["password"] = options.pop("login")
count = spark.read.format("jdbc").options(dbtable="orders", **options).load().count()
print(f"{spark.sparkContext.appName} counted {count} orders with {options['password']}")
spark.stop()
