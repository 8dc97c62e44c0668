"""A Python application that ends in the way that its first argument names; the second says whether it stops Spark."""

import os
import signal
import sys

from pyspark.sql import SparkSession

how, stopping = sys.argv[1:]
spark = SparkSession.builder.getOrCreate()
# Starts a Python worker, which is one more process that has to end.
assert spark.sparkContext.parallelize([1, 2], 1).map(str).collect() == ["1", "2"]
jvm = spark.sparkContext._jvm
if stopping == "stop":
    spark.stop()
sys.stdout.write("READY\n")
sys.stdout.flush()
if how == "exception":
    raise RuntimeError("on purpose")
if how == "exit":
    sys.exit(3)
if how == "_exit":
    os._exit(4)
if how == "halt":
    jvm.java.lang.System.exit(5)
if how.startswith("SIG"):
    while True:
        signal.pause()
