"""A client of a Spark Connect server: it uses a password that it cannot read, and may do only what the policy allows.

The client has no secrets, no key and no plugin. It names a connection of the server, which has the database's address,
user and password. The server runs the policy for shared servers, `conf/policies/shared-server.json`, as it is shipped.

    python orders_client.py sc://127.0.0.1:15002
"""

import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
orders = (
    spark.read.format("jdbc")
    .option("sparkconfig.connection", "shared-shop")
    .option("dbtable", "sales.orders")
)
print(f"orders: {orders.load().count()}")

# Another team's secret, sent to a database of one's own.
payroll = {
    "url": "jdbc:postgresql://db.example.com/shop", "dbtable": "orders", "user": "shop",
    "password": "${sealed:payroll:password}",
}  # fmt: skip

# What this user has no business with. The message says which rule refused it, and never shows a value.
for what, attempt in {
    "another team's secret": lambda: spark.read.format("jdbc").options(**payroll).load().count(),
    "a file of the server": lambda: spark.read.text("/etc/hostname").count(),
    "code of one's own": lambda: spark.sql("ADD JAR '/tmp/own.jar'").collect(),
}.items():
    try:
        attempt()
    except Exception as error:  # noqa: BLE001 - Connect's errors have many classes
        print(f"{what}: refused: {str(error).splitlines()[0][:150]}")
    else:
        print(f"{what}: WAS POSSIBLE")
spark.stop()
