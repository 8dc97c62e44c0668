"""A SparkSession in the test's own process, with a JVM of its own that ends with it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

from support.shim import shim_jar

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: What every test application gets: loopback, little memory, no fixed ports, and no progress bars in the output.
QUIET = {
    "spark.ui.port": "0",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "700m",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
}


@contextmanager
def running_session(
    conf: Mapping[str, str], *, folder: Path, plugin: bool = True, env: Mapping[str, str] | None = None
) -> Iterator[SparkSession]:
    """Start a session in this process and end it together with its JVM.

    A JVM of its own, since the class path of the first session would stay for the next one.

    Args:
        conf: Spark confs, over `QUIET`.
        folder: for warehouse and local files.
        plugin: whether sparkconfig is turned on.
        env: added to the JVM's environment.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    assert SparkContext._active_spark_context is None, "another test left its Spark application running"
    extra = {"SPARK_LOCAL_DIRS": str(folder / "local"), "SPARK_LOCAL_IP": "127.0.0.1", **(env or {})}
    with mock.patch.dict(os.environ, extra):
        builder = SparkSession.builder.config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        own = (
            {"spark.plugins": "io.sparkconfig.ConfigPlugin", "spark.jars": str(shim_jar())} if plugin else {}
        )
        for key, value in {**QUIET, **own, **conf}.items():
            builder = builder.config(key, value)
        try:
            session = builder.getOrCreate()
            try:
                yield session
            finally:
                session.stop()
        finally:
            builder._options.clear()
            end_jvm()


def end_jvm() -> None:
    """End the gateway's JVM, so that the next session starts one with its own class path."""
    from py4j import java_gateway, protocol
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is not None:
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(timeout=30)
        SparkContext._gateway = None
        SparkContext._jvm = None
        # PySpark puts its own translation of errors into Py4J, which asserts that its JVM is there; the next
        # session puts it in again.
        java_gateway.get_return_value = protocol.get_return_value
