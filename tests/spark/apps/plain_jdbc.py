"""A job that knows nothing of sparkconfig, on a Spark that has the jar: JDBC on Derby must work as ever."""

import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
options = {
    "url": "jdbc:derby:memory:plain;create=true",
    "driver": "org.apache.derby.iapi.jdbc.AutoloadedDriver",
}
spark.range(3).write.format("jdbc").options(**options, dbtable="numbers").save()
rows = spark.read.format("jdbc").options(**options, dbtable="numbers").load().count()
sys.stdout.write(f'SEEN {{"rows": {rows}}}\n')
spark.stop()
