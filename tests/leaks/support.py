"""A bare JVM with the shim, for tests of its parts without a Spark application."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

from support.shim import shim_jar
from support.spark_home import java

__all__ = ["PYSPARK", "bare_jvm", "compile_scala", "jvm_classes", "jvm_jar", "shim_jar"]

#: Packages of connectors that read confs by themselves, a conf of each, and a package of a job.
CONNECTORS = {
    "shopdb.connector": "spark.shopdb.pw",
    "com.azure.cosmos.spark": "spark.cosmos.accountKey",
    "com.mongodb.spark": "spark.mongodb.read.connection.uri",
    "io.openlineage": "spark.openlineage.transport.auth.apiKey",
    "com.redislabs.provider.redis": "spark.redis.auth",
    "org.apache.spark.sql.cassandra": "spark.cassandra.auth.password",
}
JOB = "shopdb.job"
PYSPARK = Path(pyspark.__file__).parent
_SOURCES = Path(__file__).resolve().parents[1] / "jvm"
_OPTIONS = _SOURCES.parent / "spark" / "options"
_PAGE = _SOURCES.parents[1] / "docs" / "confs.md"
_COMPILED = _SOURCES.parents[1] / ".cache" / "test-classes"


def jvm_classes() -> Path:
    """All of tests/jvm and tests/spark/options, and the example of docs/confs.md, for this Spark and the shim."""
    sources = [*sorted(_SOURCES.glob("*.scala")), *sorted(_OPTIONS.glob("*.scala"))]
    texts = {path.name: path.read_text(encoding="utf-8") for path in sources}
    for package in (*list(CONNECTORS)[1:], JOB):
        text = texts["Connector.scala"].replace("package shopdb.connector", f"package {package}")
        texts[f"{package}.scala"] = text
    (texts["WhoGetsWhat.scala"],) = re.findall(r"```scala\n(.*?)```", _PAGE.read_text(), re.DOTALL)
    (core,) = (PYSPARK / "jars").glob("spark-core_*.jar")
    if "org/sparkproject/jetty/ee10/servlet/ServletHolder.class" not in zipfile.ZipFile(core).namelist():
        texts["FilterProbe.scala"] = texts["FilterProbe.scala"].replace(".jetty.ee10.", ".jetty.")
    if pyspark.__version__ < "4":
        texts["FilterProbe.scala"] = texts["FilterProbe.scala"].replace("import jakarta.", "import javax.")
    _COMPILED.mkdir(parents=True, exist_ok=True)
    # The other processes of a run wait, and find what the first has compiled.
    with tempfile.TemporaryDirectory() as folder, (_COMPILED / "lock").open("w") as lock:
        for name, text in texts.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _compiled([Path(folder, name) for name in texts])


def jvm_jar() -> Path:
    """The same as a jar."""
    classes = jvm_classes()
    jar = classes.with_suffix(".jar")
    if not jar.exists():
        made = shutil.make_archive(f"{jar}.{os.getpid()}", "zip", classes)
        Path(made).rename(jar)
    return jar


def compile_scala(source: Path | Sequence[Path], into: Path) -> None:
    """Compile test code against Spark and the shim, with the compiler in Spark's jars."""
    shutil.copytree(_compiled([source] if isinstance(source, Path) else source), into, dirs_exist_ok=True)


def _compiled(sources: Sequence[Path]) -> Path:
    """What was compiled is kept for later runs, as long as the sources, the shim and the Spark are the same."""
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
            compiler = [
                "scala.tools.nsc.Main",
                "-usejavacp",
                "-nowarn",
                "-d",
                str(classes),
                *map(str, sources),
            ]
            subprocess.run([java(), *options, *compiler], check=True)
            # Another process may have been faster.
            with contextlib.suppress(OSError):
                classes.rename(kept)
    return kept


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
