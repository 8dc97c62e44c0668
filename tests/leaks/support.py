"""A bare JVM with the shim, for tests of its parts without a Spark application."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

from support.shim import shim_jar
from support.spark_home import java

__all__ = ["PYSPARK", "bare_jvm", "compile_scala", "shim_jar"]

PYSPARK = Path(pyspark.__file__).parent


def compile_scala(source: Path | Sequence[Path], into: Path) -> None:
    """Compile test code against Spark and the shim, with the compiler in Spark's jars."""
    into.mkdir(parents=True, exist_ok=True)
    jars = f"{shim_jar()}:{PYSPARK / 'jars'}/*"
    command = [java(), "-Xss8m", "-XX:TieredStopAtLevel=1", "-cp", jars, "scala.tools.nsc.Main", "-usejavacp"]
    sources = [source] if isinstance(source, Path) else source
    subprocess.run([*command, "-d", str(into), *map(str, sources)], check=True)


@contextmanager
def bare_jvm(*options: str, classes: Path | None = None) -> Iterator[JavaGateway]:
    """A JVM with Spark's jars and the shim on its class path, and no Spark application."""
    port, process = launch_gateway(
        classpath=":".join(str(part) for part in (shim_jar(), f"{PYSPARK / 'jars'}/*", classes) if part),
        javaopts=["-Xmx1g", "-XX:+UseSerialGC", *options],
        die_on_exit=True, return_proc=True, java_path=java(),
    )  # fmt: skip
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auto_convert=True))
    try:
        yield gateway
    finally:
        gateway.shutdown()
        process.stdin.close()
        process.wait(20)
