"""``sparkconfig run`` with a real master: the secret that it read is the one that a worker needs to register."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.processes import Run
from support.rpc import protected_rpc
from support.spark_home import spark_environment, spark_home

pytestmark = [pytest.mark.spark, pytest.mark.cluster]
VALUE = "run-master-canary-61cc"


def _lines(confs: Mapping[str, str]) -> str:
    return "".join(f"{key} {text}\n" for key, text in confs.items())


def test_a_worker_registers_with_a_master_whose_secret_is_a_reference(harness_run: Run) -> None:
    home = harness_run.private_dir("run-command")
    (home / "conf").mkdir()
    (home / "store.properties").write_text(f"secret={VALUE}\n")
    environ = {
        **spark_environment(home / "conf", home),
        "SPARK_DAEMON_MEMORY": "300m",
        **({"JAVA_HOME": os.environ["JAVA_HOME"]} if "JAVA_HOME" in os.environ else {}),
    }
    spark_class = str(spark_home() / "bin" / "spark-class")
    confs = {
        **protected_rpc(f"${{files:{home}/store.properties:secret}}"),
        "spark.config.providers": "files",
        "spark.config.providers.files.class": "file",
    }
    file = harness_run.private_file("m.conf", _lines(confs))
    master = harness_run.start(
        "run-master",
        [sys.executable, "-m", "sparkconfig", "run", "--properties-file", file, "--", spark_class,
         "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "0",
         "--webui-port", "0", "--properties-file", "{properties}"],
        env={**environ, "PYTHONPATH": str(Path(__file__).parents[2] / "python")},
    )  # fmt: skip
    address = master.wait_for(r"Starting Spark master at (spark://\S+)", timeout=90)[1]
    known = harness_run.private_file("w.conf", _lines(protected_rpc(VALUE)))
    worker = harness_run.start(
        "run-worker",
        [spark_class, "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--webui-port", "0",
         "--properties-file", known, address],
        env=environ,
    )  # fmt: skip
    worker.wait_for(r"Successfully registered with master", timeout=90)
    worker.stop()
    master.stop()
