"""A job that knows nothing of sparkconfig, on a Spark that has the jar: JDBC on Derby must work as ever."""

import os
from pathlib import Path

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
options = {
    "url": "jdbc:derby:memory:plain;create=true",
    "driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver",
}
spark.range(3).write.format("jdbc").options(**options, dbtable="numbers").save()
rows = spark.read.format("jdbc").options(**options, dbtable="numbers").load().count()
Path(os.environ["SEEN"]).write_text(f'{{"rows": {rows}}}', encoding="utf-8")
spark.stop()
