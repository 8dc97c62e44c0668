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


def compile_scala(source: Path, into: Path) -> None:
    """Compile test code against Spark and the shim, with the compiler in Spark's jars."""
    into.mkdir(parents=True, exist_ok=True)
    jars = f"{shim_jar()}:{PYSPARK / 'jars'}/*"
    command = ["java", "-Xss8m", "-XX:TieredStopAtLevel=1", "-cp", jars, "scala.tools.nsc.Main", "-usejavacp"]
    subprocess.run([*command, "-d", str(into), str(source)], check=True)


@contextmanager
def bare_jvm(*options: str, classes: Path | None = None) -> Iterator[JavaGateway]:
    """A JVM with Spark's jars and the shim on its class path, and no Spark application."""
    port, process = launch_gateway(
        classpath=":".join(str(part) for part in (shim_jar(), f"{PYSPARK / 'jars'}/*", classes) if part),
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
