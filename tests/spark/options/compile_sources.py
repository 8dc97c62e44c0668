"""The test's own data sources, compiled with the Scala compiler in pyspark's jars."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

SOURCES = sorted(Path(__file__).parent.glob("*.scala"))
NAMES = ("V1Source", "V2Source", "EagerV2Source", "KeyedV2Source")
SERVICES = "META-INF/services/org.apache.spark.sql.sources.DataSourceRegister"


def sources_jar(cache: Path, spark_home: Path) -> Path:
    """The jar with the data sources and file systems beside this file; kept as long as nothing changes."""
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in SOURCES))
    digest.update(",".join(sorted(jar.name for jar in (spark_home / "jars").glob("spark-sql*.jar"))).encode())
    jar = cache / "test-sources" / f"{digest.hexdigest()[:16]}.jar"
    if jar.is_file():
        return jar
    jar.parent.mkdir(parents=True, exist_ok=True)
    java = (
        Path(os.environ["JAVA_HOME"], "bin", "java") if os.environ.get("JAVA_HOME") else shutil.which("java")
    )
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [str(java), "-Xss8m", "-Xmx700m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
             "-cp", f"{spark_home}/jars/*", "scala.tools.nsc.Main", "-usejavacp", "-nowarn", "-d", folder,
             *map(str, SOURCES)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + done.stdout
        part = jar.with_suffix(f".{os.getpid()}")
        with zipfile.ZipFile(part, "w") as archive:
            for path in sorted(Path(folder).rglob("*.class")):
                archive.write(path, path.relative_to(folder))
            archive.writestr(
                SERVICES,
                "".join(f"sparkconfigtest.{name}\n" for name in NAMES),
            )
        part.replace(jar)
    return jar
