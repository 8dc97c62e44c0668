"""Launches that only a command of their own shows: without the plugin, with a wrong jar, and of spark-sql."""

from __future__ import annotations

import json
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from support.shim import shim_jar
from support.spark_home import spark_home
from support.starts import BASE, FILES, PLUGIN, run

pytestmark = pytest.mark.spark

APP = Path(__file__).parent / "apps" / "plain_jdbc.py"
SECRET = "Canary-4d0a77-value"


@pytest.fixture(scope="module")
def conf(tmp_path_factory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("launch")
    secrets = folder / "shop.properties"
    secrets.write_text(f"badge={SECRET}\n")
    return {
        **BASE,
        **FILES,
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.shop.badge": f"${{files:{secrets}:badge}}",
    }


def _seen(done: subprocess.CompletedProcess[str], folder: Path) -> dict[str, object]:
    """What the application saw, and a check that nothing that was printed shows the value."""
    seen = folder / "seen.json"
    text = done.stdout + done.stderr
    assert seen.exists(), text[-3000:].replace(SECRET, "(value)")
    assert text.count(SECRET) == 0
    return json.loads(seen.read_text(encoding="utf-8"))


def _confs(conf: dict[str, str]) -> list[str]:
    return [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]


def _submit(conf: dict[str, str]) -> list[str | Path]:
    return [spark_home() / "bin" / "spark-submit", "--jars", shim_jar(), *_confs(conf)]


def test_the_extension_without_the_plugin_names_the_missing_line(conf, tmp_path) -> None:
    alone = {**conf, "spark.sql.extensions": "io.sparkconfig.ConfigExtensions"}
    done = run([*_submit(alone), APP], tmp_path)
    assert done.returncode != 0
    assert "spark.plugins=io.sparkconfig.ConfigPlugin" in done.stdout + done.stderr


def test_jdbc_without_references_works_with_the_jar_and_without_the_plugin(conf, tmp_path) -> None:
    plain = {
        key: value for key, value in conf.items() if not key.startswith(("spark.config.", "spark.shop."))
    }
    assert _seen(run([*_submit(plain), APP], tmp_path), tmp_path) == {"rows": 3}


def assert_ends_with(words: str, done: subprocess.CompletedProcess[str]) -> None:
    """Our message is the end of what a failed start prints, once, and no Java stands around it."""
    # spark-submit passes on what Python says, errors included, on its standard output.
    told = [text for text in (done.stdout, done.stderr) if words in text]
    assert [text.count(words) for text in told] == [1], done.stderr[-3000:]
    assert words in told[0].rstrip().splitlines()[-1], told[0][-3000:]
    assert "\tat " not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "program", [["spark-sql", "-e", "select 1"], ["spark-submit", APP]], ids=lambda each: each[0]
)
def test_what_does_not_start_ends_with_the_reason(conf, tmp_path, program) -> None:
    wrong = {**conf, "spark.plugins": PLUGIN, "spark.shop.badge": "${flies:x:badge}"}
    name, *rest = program
    done = run([spark_home() / "bin" / name, "--jars", shim_jar(), *_confs(wrong), *rest], tmp_path)
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
    plugin = {**conf, "spark.plugins": PLUGIN}
    command = [spark_home() / "bin" / "spark-submit", "--jars", tmp_path / "other.jar", *_confs(plugin), APP]
    done = run(command, tmp_path)
    assert done.returncode == 1
    assert f"this sparkconfig jar ({other}) is for another Spark" in done.stdout.rstrip().splitlines()[-1]
