"""An ordinary PySpark application: prints what it sees of a conf that holds a reference."""

import json
import sys

from pyspark.sql import SparkSession

builder = SparkSession.builder
if "--configure" in sys.argv:
    from sparkconfig.session import configure

    builder = configure(builder)
    for pair in sys.argv[sys.argv.index("--configure") + 1 :]:
        key, value = pair.split("=", 1)
        builder = builder.config(key, value)
spark = builder.getOrCreate()
context = spark.sparkContext
seen = {
    "shown": spark.conf.get("spark.shop.badge"),
    "value": context._jsc.sc().conf().get("spark.shop.badge"),
    "count": spark.range(10).count(),
}
sys.stdout.write("SEEN " + json.dumps(seen) + "\n")
spark.stop()
