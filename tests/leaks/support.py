"""A bare JVM with the shim, for tests of its parts without a Spark application."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

ROOT = Path(__file__).resolve().parents[2]
PYSPARK = Path(pyspark.__file__).parent


def shim_jar() -> Path:
    """The jar that fits this environment's Spark, built when the sources are newer."""
    given = os.environ.get("SPARKCONFIG_TEST_JAR")
    if given:
        return Path(given)
    done = subprocess.run(
        [sys.executable, str(ROOT / "jvm-shim" / "build.py"), "--pyspark", str(PYSPARK)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return Path(done.stdout.strip().splitlines()[-1])


@contextmanager
def bare_jvm(*options: str) -> Iterator[JavaGateway]:
    """A JVM with Spark's jars and the shim on its class path, and no Spark application."""
    port, process = launch_gateway(
        classpath=f"{shim_jar()}:{PYSPARK / 'jars'}/*",
        javaopts=["-Xmx1g", "-XX:+UseSerialGC", *options],
        die_on_exit=True, return_proc=True,
    )  # fmt: skip
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auto_convert=True))
    try:
        yield gateway
    finally:
        gateway.shutdown()
        process.stdin.close()
        process.wait(20)
