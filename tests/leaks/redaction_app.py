"""A Spark application that shows the values it is given wherever it can; the redaction tests run it.

Reads one JSON object on stdin: jar, values (name to value), conf, hooks (whether redaction is on). Prints
``READY <ui>`` when all jobs are done, then waits for a line before it stops.
"""

from __future__ import annotations

import contextlib
import json
import sys

from py4j.java_collections import ListConverter
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from sparkconfig import redaction


def main() -> None:
    order = json.loads(sys.stdin.readline())
    values = order["values"]
    conf = SparkConf().setMaster("local[2]").setAppName("redaction")
    conf.set("spark.driver.extraClassPath", order["jar"]).set("spark.driver.memory", "768m")
    conf.set("spark.ui.port", "0").set("spark.sql.shuffle.partitions", "2")
    for key, value in order["conf"].items():
        conf.set(key, value)
    if order["hooks"]:
        conf.set("spark.extraListeners", "io.sparkconfig.redaction.sinks.EventLogListener")
        conf.set("spark.ui.filters", "io.sparkconfig.redaction.sinks.UiFilter")
        redaction.install()
        redaction.REGISTRY.declare(values.values())
    gateway = launch_gateway(conf)
    jvm = gateway.jvm.io.sparkconfig.redaction
    if order["hooks"]:
        for sink in ("LogRedaction", "StreamRedaction"):
            # A Scala object's instance: what takes no argument has no public static form.
            getattr(getattr(jvm.sinks, f"{sink}$"), "MODULE$").hook()
        listed = ListConverter().convert(list(values.values()), gateway._gateway_client)
        jvm.engine.Redactor.registerAllDeclared(listed)
    for name, value in values.items():
        conf.set(f"spark.shop.{name}.endpoint", f"jdbc:x://shop:{value}@db/shop")
    spark = SparkSession(SparkContext(gateway=gateway, conf=conf))
    for value in values.values():
        show_everywhere(spark, value)
    log_everywhere(spark, values)
    sys.stdout.write(f"READY {spark.sparkContext.uiWebUrl}\n")
    sys.stdout.flush()
    sys.stdin.readline()
    spark.stop()


def show_everywhere(spark: SparkSession, value: str) -> None:
    """Run jobs that carry a value in every text a job has."""
    context = spark.sparkContext
    context.setJobGroup(f"group {value}", f"description {value}", interruptOnCancel=False)
    context.setLocalProperty("shop.endpoint", value)
    rdd = context.parallelize(range(4), 2).setName(f"rdd {value}").cache()
    rdd.map(lambda x: (x % 2, x)).reduceByKey(lambda a, b: a + b).collect()
    literal = value.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    spark.sql(f"SELECT id, '{literal}' AS found FROM range(3) WHERE concat(id, '{literal}') <> 'x'").collect()
    column = value.replace("`", "``")
    frame = spark.range(3).selectExpr(f"id AS `c {column}`")
    frame.cache().count()
    spark.conf.set("spark.shop.session", value)
    spark.sql("SET -v").collect()
    with contextlib.suppress(Exception):
        spark.sql(f"SELECT no_such_column + '{literal}' FROM range(1)").collect()
    with contextlib.suppress(Exception):
        spark.sql(f"SELECT raise_error('{literal}')").collect()
    with contextlib.suppress(Exception):
        context.parallelize([value], 1).map(int).collect()


def log_everywhere(spark: SparkSession, values: dict[str, str]) -> None:
    """Write log lines, throwables, thread context and standard output on the JVM."""
    jvm = spark.sparkContext._jvm
    slf4j = jvm.org.slf4j.LoggerFactory.getLogger("shop")
    for name, value in values.items():
        slf4j.warn(f"logged {name} {value}")
        cause = jvm.java.lang.IllegalArgumentException(f"cause {value}")
        error = jvm.java.lang.RuntimeException(f"error {value}", cause)
        error.addSuppressed(jvm.java.lang.IllegalStateException(f"suppressed {value}"))
        slf4j.error("thrown", error)
        jvm.org.slf4j.MDC.put("shop", value)
        slf4j.warn("with context")
        jvm.org.slf4j.MDC.remove("shop")
        jvm.java.lang.System.out.println(f"printed {value}")
        half = len(value) // 2
        jvm.java.lang.System.out.print(f"torn {value[:half]}")
        jvm.java.lang.System.out.flush()
        jvm.java.lang.System.out.println(value[half:])
        jvm.java.lang.System.err.println(f"printed {value}")
    slf4j.warn("the last line of the log")


if __name__ == "__main__":
    main()
