"""A bare JVM with the shim, for tests of its parts without a Spark application."""

from __future__ import annotations

import contextlib
import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

from support.shim import shim_jar
from support.spark_home import java

__all__ = ["PYSPARK", "bare_jvm", "compile_scala", "scala_jar", "shim_jar"]

PYSPARK = Path(pyspark.__file__).parent
_COMPILED = Path(__file__).resolve().parents[2] / ".cache" / "test-classes"


def compile_scala(source: Path | Sequence[Path], into: Path) -> None:
    """Compile test code against Spark and the shim, with the compiler in Spark's jars.

    What was compiled is kept for later runs, as long as the sources, the shim and the Spark are the same.
    """
    sources = [source] if isinstance(source, Path) else source
    digest = hashlib.sha256(f"{PYSPARK.resolve()} {pyspark.__version__}\n".encode())
    for file in (shim_jar(), *sources):
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    kept = _COMPILED / digest.hexdigest()[:16]
    if not kept.is_dir():
        _COMPILED.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=_COMPILED) as scratch:
            classes = Path(scratch, "classes")
            classes.mkdir()
            jars = f"{shim_jar()}:{PYSPARK / 'jars'}/*"
            options = ["-Xss8m", "-XX:TieredStopAtLevel=1", "-cp", jars]
            compiler = ["scala.tools.nsc.Main", "-usejavacp", "-d", str(classes), *map(str, sources)]
            subprocess.run([java(), *options, *compiler], check=True)
            # Another process may have been faster.
            with contextlib.suppress(OSError):
                classes.rename(kept)
    shutil.copytree(kept, into, dirs_exist_ok=True)


def scala_jar(source: str | Path | Sequence[Path], jar: Path) -> Path:
    """Compile files, or a text, into a new jar; return the jar."""
    if isinstance(source, str):
        jar.with_suffix(".scala").write_text(source)
        source = jar.with_suffix(".scala")
    compile_scala(source, jar.with_suffix(".classes"))
    made = shutil.make_archive(str(jar), "zip", jar.with_suffix(".classes"))
    return Path(made).rename(jar)


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
