"""An ordinary PySpark application: writes what it sees of a conf that holds a reference into a file, and prints it."""

import json
import os
import sys
from pathlib import Path

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
Path(os.environ["SEEN"]).write_text(json.dumps(seen), encoding="utf-8")
sys.stdout.write(f"printed: {seen['value']}\n")
spark.stop()
