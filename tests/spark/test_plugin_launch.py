"""Every way to launch a job: spark-submit, a Python program, spark-sql, a Scala main class, both plugin confs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from leaks.support import scala_jar
from support.session import QUIET
from support.shim import shim_jar
from support.spark_home import spark_home

pytestmark = pytest.mark.spark

APP = Path(__file__).parent / "apps" / "ordinary.py"
SECRET = "Canary-4d0a77-value"

SCALA = """
import org.apache.spark.sql.SparkSession
object Shop {
  def main(arguments: Array[String]): Unit = {
    val spark = SparkSession.builder.getOrCreate()
    val seen = "{\\"value\\": \\"" + io.sparkconfig.driver.DriverApi.current(arguments(0)) + "\\"}"
    java.nio.file.Files.write(java.nio.file.Paths.get(sys.env("SEEN")), seen.getBytes("UTF-8"))
    println("printed: " + seen)
    spark.stop()
  }
}
"""


@pytest.fixture(scope="module")
def conf(tmp_path_factory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("launch")
    secrets = folder / "shop.properties"
    secrets.write_text(f"badge={SECRET}\n")
    return {
        **QUIET,
        "spark.master": "local[1]",
        "spark.app.name": "launch",
        "spark.ui.enabled": "false",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.config.providers": "files",
        "spark.config.providers.files.class": "file",
        "spark.shop.badge": f"${{files:{secrets}:badge}}",
    }


def _run(command: list[str | Path], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_"))}
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        cwd=folder,
        env={
            **plain,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
            "SEEN": str(folder / "seen.json"),
            **variables,
        },
    )


def _seen(done: subprocess.CompletedProcess[str], folder: Path, *, masked: bool = True) -> dict[str, object]:
    """What the application saw, and a check that nothing that was printed shows the value."""
    seen = folder / "seen.json"
    text = done.stdout + done.stderr
    assert seen.exists(), text[-3000:].replace(SECRET, "(value)")
    if masked:
        assert text.count(SECRET) == 0
    return json.loads(seen.read_text(encoding="utf-8"))


def _confs(conf: dict[str, str]) -> list[str]:
    return [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]


def _submit(conf: dict[str, str]) -> list[str | Path]:
    return [spark_home() / "bin" / "spark-submit", "--jars", shim_jar(), *_confs(conf)]


def test_spark_submit_of_a_python_application(conf, tmp_path) -> None:
    plugin = {**conf, "spark.plugins": "io.sparkconfig.ConfigPlugin"}
    seen = _seen(_run([*_submit(plugin), APP], tmp_path), tmp_path)
    assert seen == {"shown": conf["spark.shop.badge"], "value": SECRET, "count": 10}


def test_a_python_program_with_a_configured_builder(conf, tmp_path) -> None:
    pairs = [f"{key}={value}" for key, value in conf.items()]
    seen = _seen(_run([sys.executable, APP, "--configure", *pairs], tmp_path), tmp_path, masked=False)
    assert seen == {"shown": conf["spark.shop.badge"], "value": SECRET, "count": 10}


def test_spark_sql(conf, tmp_path) -> None:
    plugin = {
        **conf,
        "spark.plugins": "io.sparkconfig.ConfigPlugin",
        "spark.sql.catalogImplementation": "in-memory",
    }
    done = _run(
        [spark_home() / "bin" / "spark-sql", "--jars", shim_jar(), *_confs(plugin), "-e",
         "set spark.shop.badge; select 40 + 2 as answer"],
        tmp_path,
    )  # fmt: skip
    text = done.stdout + done.stderr
    assert "42" in done.stdout, text[-3000:].replace(SECRET, "(value)")
    assert conf["spark.shop.badge"] in done.stdout
    assert text.count(SECRET) == 0


def test_a_scala_main_class_and_the_list_of_default_plugins(conf, tmp_path) -> None:
    jar = scala_jar(SCALA, tmp_path / "shop.jar")
    # As YARN unpacks spark.archives: below the driver's working directory.
    python = tmp_path / "python" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    plugin = {
        **conf,
        "spark.plugins.defaultList": "io.sparkconfig.ConfigPlugin",
        "spark.config.agent.python": "./python/bin/python",
    }
    command = [*_submit(plugin), "--class", "Shop", jar, conf["spark.shop.badge"]]
    assert _seen(_run(command, tmp_path), tmp_path) == {"value": SECRET}


def test_the_extension_without_the_plugin_names_the_missing_line(conf, tmp_path) -> None:
    alone = {**conf, "spark.sql.extensions": "io.sparkconfig.ConfigExtensions"}
    done = _run([*_submit(alone), APP], tmp_path)
    assert done.returncode != 0
    assert "spark.plugins=io.sparkconfig.ConfigPlugin" in done.stdout + done.stderr


def test_jdbc_without_references_works_with_the_jar_and_without_the_plugin(conf, tmp_path) -> None:
    plain = {
        key: value for key, value in conf.items() if not key.startswith(("spark.config.", "spark.shop."))
    }
    assert _seen(_run([*_submit(plain), APP.with_name("plain_jdbc.py")], tmp_path), tmp_path) == {"rows": 3}


def test_a_package_of_another_version_is_an_error_that_names_both(conf, tmp_path) -> None:
    package = tmp_path / "other" / "sparkconfig"
    package.parent.mkdir()
    source = Path(__file__).parents[2] / "python" / "sparkconfig"
    subprocess.run(["cp", "-r", str(source), str(package)], check=True)
    (package / "_base" / "version.py").write_text('__version__ = "9.9.9"\n')
    plugin = {**conf, "spark.plugins": "io.sparkconfig.ConfigPlugin"}
    done = _run([*_submit(plugin), APP], tmp_path, PYTHONPATH=str(package.parent))
    assert done.returncode != 0
    assert "9.9.9" in done.stdout + done.stderr
    assert_ends_with("sparkconfig jar has version 0.1.0", done)


def assert_ends_with(words: str, done: subprocess.CompletedProcess[str]) -> None:
    """Our message is the end of what a failed start prints, once, and no Java stands around it."""
    # spark-submit passes on what Python says, errors included, on its standard output.
    told = [text for text in (done.stdout, done.stderr) if words in text]
    assert [text.count(words) for text in told] == [1], done.stderr[-3000:]
    assert words in told[0].rstrip().splitlines()[-1], told[0][-3000:]
    assert "\tat " not in done.stdout + done.stderr


def test_spark_sql_that_does_not_start_ends_with_the_reason(conf, tmp_path) -> None:
    wrong = {**conf, "spark.plugins": "io.sparkconfig.ConfigPlugin", "spark.shop.badge": "${flies:x:badge}"}
    done = _run(
        [spark_home() / "bin" / "spark-sql", "--jars", shim_jar(), *_confs(wrong), "-e", "select 1"], tmp_path
    )
    assert done.returncode == 1
    assert_ends_with("unknown provider 'flies'", done)


def test_a_jar_for_another_scala_says_so(conf, tmp_path) -> None:
    with zipfile.ZipFile(shim_jar()) as own:
        flavour = own.read("META-INF/sparkconfig.properties").decode()
        other = "scala-2.12-javax" if "scala-2.13" in flavour else "scala-2.13-jakarta"
        with zipfile.ZipFile(tmp_path / "other.jar", "w") as changed:
            for name in own.namelist():
                content = own.read(name)
                if name == "META-INF/sparkconfig.properties":
                    content = re.sub(rb"scala-\S+", other.encode(), content)
                changed.writestr(name, content)
    plugin = {**conf, "spark.plugins": "io.sparkconfig.ConfigPlugin"}
    command = [spark_home() / "bin" / "spark-submit", "--jars", tmp_path / "other.jar", *_confs(plugin), APP]
    done = _run(command, tmp_path)
    assert done.returncode == 1
    last = done.stdout.rstrip().splitlines()[-1]
    assert f"this sparkconfig jar ({other}) is for another Spark" in last
    assert "sparkconfig jar" in last
