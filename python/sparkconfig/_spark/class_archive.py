"""An archive of the classes that a driver loads when it starts (AppCDS), so that it need not load them one by one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from sparkconfig._spark.jars import SparkInstall
from sparkconfig.errors import ConfigurationError

__all__ = ["confs", "write"]

# What most drivers load: a session, a query, the pages.
_TRAINING = """\
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.range(100).createOrReplaceTempView("numbers")
spark.sql("SELECT id % 7 AS part, count(*) AS rows FROM numbers GROUP BY 1").collect()
spark.stop()
"""
_SECONDS = 300
_LINES = 15


def confs(spark: SparkInstall, archive: Path) -> dict[str, str]:
    """Return the confs with which a driver starts from an archive.

    The JVM takes an archive only if the class path begins as it did when the archive was written. So Spark's jars
    come before its conf folder, which is another one on each machine.
    """
    return {
        "spark.driver.extraClassPath": f"{spark.jars}/*",
        "spark.driver.extraJavaOptions": f"-XX:SharedArchiveFile={archive} -Xlog:cds=off -Xlog:class+path=off",
    }


def write(spark: SparkInstall, archive: Path) -> int:
    """Start a small application once, and write the classes that it loads into an archive.

    Write access to the archive means control over what drivers run, as with a jar.

    Args:
        spark: has the plugin's jar in its folder of jars.
        archive: the file to write; one that is there is replaced when the new one is complete.

    Returns:
        Its size in bytes.

    Raises:
        ConfigurationError: the application did not run, or Java wrote no archive.
        OSError: the folder of the archive cannot be written.
    """
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix=".sparkconfig-") as name:
        folder = Path(name)
        application, partial = folder / "training.py", folder / "classes.jsa"
        application.write_text(_TRAINING, encoding="utf-8")
        settings = {
            "spark.master": "local[2]",
            "spark.plugins": "io.sparkconfig.ConfigPlugin",
            "spark.config.agent.python": sys.executable,
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.driver.extraClassPath": f"{spark.jars}/*",
            "spark.driver.extraJavaOptions": f"-XX:ArchiveClassesAtExit={partial} -Xlog:cds*=off",
        }
        command = [str(spark.home / "bin" / "spark-submit")]
        for key, text in settings.items():
            command += ["--conf", f"{key}={text}"]
        # No conf folder: one that holds files keeps Java from writing an archive.
        environ = {
            key: text for key, text in os.environ.items() if not key.startswith(("SPARK_", "PYSPARK_"))
        }
        environ |= {
            "SPARK_HOME": str(spark.home),
            "SPARK_CONF_DIR": str(folder / "none"),
            "SPARK_LOCAL_DIRS": str(folder / "local"),
            "PYSPARK_PYTHON": sys.executable,
        }
        try:
            done = subprocess.run(
                [*command, str(application)],
                env=environ, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                check=False, timeout=_SECONDS,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise ConfigurationError(
                f"{archive} was not written: Spark in {spark.home} did not end within {_SECONDS} seconds"
            ) from None
        if done.returncode or not partial.is_file():
            last = "\n".join(done.stdout.decode("utf-8", "replace").splitlines()[-_LINES:])
            what = (
                "a small application failed"
                if done.returncode
                else "Java wrote no archive (it needs 13 or later)"
            )
            raise ConfigurationError(f"{archive} was not written: {what} on Spark in {spark.home}:\n{last}")
        partial.chmod(0o644)
        partial.replace(archive)
    return archive.stat().st_size
