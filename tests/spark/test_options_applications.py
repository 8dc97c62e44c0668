"""References in options of whole applications: Python with `session.configure`, also on local Connect, and Scala."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest

from leaks.support import scala_jar
from support.session import QUIET
from support.shim import shim_jar
from support.spark_home import spark_home

pytestmark = pytest.mark.spark

APP = Path(__file__).parent / "apps" / "rows_between.py"
LOOKS = APP.with_name("values_that_look_like_references.py")
OLD, NEW = "Canary-5d1c7e-old", "Canary-5d1c7e-new"
HAS_CONNECT = any((spark_home() / "jars").glob("spark-connect_*.jar")) and all(
    importlib.util.find_spec(name) for name in ("grpc", "grpc_status", "pandas", "pyarrow")
)
CONNECT = pytest.param(
    "local[1]",
    marks=pytest.mark.skipif(
        not HAS_CONNECT, reason="no Connect server in this Spark's wheel, or no client here"
    ),
)

#: Reads twice; between, it changes rows and secret. On 3.5 a reader of Scala loads at once: a view in SQL.
SCALA = """
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}
import org.apache.spark.sql.SparkSession

object Rows {
  def main(arguments: Array[String]): Unit = {
    val Array(rows, secrets, seen, from, to) = arguments
    val spark = SparkSession.builder.getOrCreate()
    def read(key: String) = {
      val separator = "${files:" + secrets + ":" + key + "}"
      val loaded =
        if (spark.version.startsWith("3.")) {
          spark.sql(s"CREATE OR REPLACE TEMPORARY VIEW v USING text OPTIONS (path '$rows', lineSep '$separator')")
          spark.table("v")
        } else spark.read.format("text").option("lineSep", separator).load(rows)
      loaded.collect().map(_.getString(0)).sorted.mkString(",")
    }
    def change(file: String, text: String => String) = {
      val before = new String(Files.readAllBytes(Paths.get(file)), UTF_8)
      Files.write(Paths.get(file), text(before).getBytes(UTF_8))
    }
    val first = read("between")
    change(rows, _.replace(from, to))
    change(secrets, _.replace(from, to))
    // A change is used as soon as it has arrived.
    val until = System.nanoTime() + 12L * 1000000000
    var second = read("between")
    while (second != first && System.nanoTime() < until) second = read("between")
    val refused =
      try { read("nothing"); "" } catch { case e: Exception => e.getClass.getSimpleName + " " + e.getMessage }
    spark.stop()
    change(seen, _ => Seq(first, second, refused).mkString("\\n"))
  }
}
"""


class Files:
    """Rows that only the secret between them separates, and a folder for event logs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows, self.secrets, self.seen = folder / "rows.txt", folder / "store.properties", folder / "seen"
        self.rows.write_text(f"one{OLD}two{OLD}three")
        self.secrets.write_text(f"between={OLD}\n")
        self.seen.write_text("")
        (folder / "events").mkdir()
        self.confs = {
            **QUIET,
            "spark.ui.enabled": "false",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": (folder / "events").as_uri(),
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
        }

    def run(self, command: list[object], **variables: str) -> None:
        """Run the application; what it prints and logs shows neither of the values."""
        plain = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_"))}
        done = subprocess.run(
            [str(part) for part in command],
            env={**plain, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable,
                 "SEEN": str(self.seen), **variables},
            cwd=self.folder, capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
        printed = done.stdout + done.stderr
        hidden = printed.replace(OLD, "(value)").replace(NEW, "(value)")
        assert done.returncode == 0, hidden[-3000:]
        logs = [path for path in (self.folder / "events").rglob("*") if path.is_file()]
        logged = "".join(path.read_text() for path in logs)
        assert "SparkListenerApplicationStart" in logged
        for value in (OLD, NEW):
            assert (value in printed, value in logged) == (False, False)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


@pytest.mark.parametrize("remote", ["", CONNECT], ids=["classic", "SPARK_REMOTE=local"])
def test_python(files: Files, remote: str) -> None:
    files.secrets.with_suffix(".next").write_text(json.dumps([NEW, OLD]))
    if not remote:
        files.confs["spark.master"] = "local[1]"
    command = [sys.executable, APP, files.rows, files.secrets, shim_jar(), json.dumps(files.confs)]
    files.run(command, **({"SPARK_REMOTE": remote} if remote else {}))
    found = json.loads(files.seen.read_text(encoding="utf-8"))
    assert ("connect" in found["kind"]) is bool(remote), "the session is of the kind that was requested"
    assert found["first"] == found["second"] == ["one", "three", "two"]
    kind, message = found["refused"]
    assert kind == "AnalysisException", pyspark.__version__
    assert "store.properties:nothing" in message
    assert OLD not in message
    assert NEW not in message


def test_a_value_that_spells_a_reference_is_a_value(files: Files, tmp_path: Path) -> None:
    """In an application of its own, where no other text is masked with it; files of V1 and V2, batches and streams."""
    looks = "${files:/nowhere/at/all.properties:none}"
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "1.csv").write_text(f"1,{looks}\n2,x\n")
    files.secrets.write_text(f"looks={looks}\nurl=jdbc:postgresql://localhost:1/x?password={looks}\n")
    files.confs["spark.master"] = "local[1]"
    files.run([sys.executable, LOOKS, tmp_path, files.secrets, shim_jar(), json.dumps(files.confs)])
    found = json.loads(files.seen.read_text(encoding="utf-8"))
    refused = found.pop("url")
    assert "whose value spells a reference itself" in refused
    assert looks not in refused
    assert len(found) == 16
    lines = {"write", "wrapper_write", "stream", "wrapper_stream"}
    wanted = {
        way: [f"1,{looks}", "2,x"] if way.split()[0] in lines else [[1, None], [2, "x"]] for way in found
    }
    assert found == wanted


def test_scala(files: Files) -> None:
    jar = scala_jar(SCALA, files.folder / "rows.jar")
    confs = {
        **files.confs,
        "spark.master": "local[1]",
        "spark.plugins": "io.sparkconfig.ConfigPlugin",
        "spark.config.agent.python": sys.executable,
        "spark.config.providers": "files",
        "spark.config.providers.files.class": "file",
    }
    pairs = [part for key, text in confs.items() for part in ("--conf", f"{key}={text}")]
    submit = [spark_home() / "bin" / "spark-submit", "--jars", shim_jar(), *pairs, "--class", "Rows", jar]
    files.run([*submit, files.rows, files.secrets, files.seen, "-old", "-new"])
    first, second, refused = files.seen.read_text().split("\n", 2)
    assert first == second == "one,three,two"
    assert refused.startswith(("AnalysisException", "OptionReferenceException"))
    assert "store.properties:nothing" in refused
    assert OLD not in refused
    assert NEW not in refused
