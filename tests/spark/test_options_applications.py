"""References in options of whole applications: Python with `session.configure` and on local Connect, and Scala."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyspark
import pytest

from leaks.support import jvm_jar
from support.session import QUIET
from support.shim import shim_jar
from support.spark_home import spark_home
from support.starts import run

pytestmark = pytest.mark.spark

APP = Path(__file__).parent / "apps" / "rows_between.py"
LOOKS = APP.with_name("values_that_look_like_references.py")
OLD, NEW = "Canary-5d1c7e-old", "Canary-5d1c7e-new"


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
        done = run([str(part) for part in command], self.folder, SEEN=str(self.seen), **variables)
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


@pytest.mark.sparks(since="4.0")
def test_python_on_local_connect(files: Files) -> None:
    files.secrets.with_suffix(".next").write_text(json.dumps([NEW, OLD]))
    command = [sys.executable, APP, files.rows, files.secrets, shim_jar(), json.dumps(files.confs)]
    files.run(command, SPARK_REMOTE="local[1]")
    found = json.loads(files.seen.read_text(encoding="utf-8"))
    assert "connect" in found["kind"], "the session is of the kind that was requested"
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
    """With the list of default plugins, and the Python that YARN unpacks below the driver's working directory."""
    python = files.folder / "python" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    confs = {
        **files.confs,
        "spark.master": "local[1]",
        "spark.plugins.defaultList": "io.sparkconfig.ConfigPlugin",
        "spark.config.agent.python": "./python/bin/python",
        "spark.config.providers": "files",
        "spark.config.providers.files.class": "file",
    }
    pairs = [part for key, text in confs.items() for part in ("--conf", f"{key}={text}")]
    submit = [
        spark_home() / "bin" / "spark-submit",
        "--jars",
        shim_jar(),
        *pairs,
        "--class",
        "Rows",
        jvm_jar(),
    ]
    files.run([*submit, files.rows, files.secrets, files.seen, "-old", "-new"])
    first, second, refused = files.seen.read_text().split("\n", 2)
    assert first == second == "one,three,two"
    assert refused.startswith(("AnalysisException", "OptionReferenceException"))
    assert "store.properties:nothing" in refused
    assert OLD not in refused
    assert NEW not in refused
