"""A client of a Spark Connect server: it uses a password that it cannot read, and may do only what the policy allows.

The client has no secrets, no key and no plugin. It sends the reference; the server resolves it. The server runs the
policy for shared servers, `conf/policies/shared-server.json`, as it is shipped.

    python orders_client.py sc://127.0.0.1:15002 jdbc:derby:/srv/shop
"""

import sys

from pyspark.sql import DataFrame, SparkSession

address, url = sys.argv[1:]
spark = SparkSession.builder.remote(address).getOrCreate()


def orders(password: str) -> DataFrame:
    options = {"url": url, "dbtable": "sales.orders", "user": "shop", "password": password}
    return spark.read.format("jdbc").options(**options).load()


print(f"orders: {orders('${secrets:shared/shop:password}').count()}")

# What this user has no business with. The message says which rule refused it, and never shows a value.
for what, attempt in {
    "another team's secret": lambda: orders("${secrets:payroll:password}").count(),
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
