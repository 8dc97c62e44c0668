"""Airflow with SparkSubmitOperator, whose conf holds references: API server, scheduler and a real run of a DAG."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.crawl import fetch
from support.leaks import LeakFinder
from support.postgres import PostgresServer, free_port, new_password
from support.processes import Run, wait_until
from support.rotation import provider_confs
from support.session import QUIET
from support.shim import shim_jar
from support.surfaces import files, places

# Airflow needs minutes to start on a machine that does something else.
pytestmark = [pytest.mark.spark, pytest.mark.timeout(1200)]

HERE = Path(__file__).parent
BIN = HERE.parents[2] / ".venvs" / "airflow" / "bin"
RUN = "dags/sales/dagRuns/one"


class Airflow:
    """`airflow standalone` with a database, DAGs and logs of its own, in which everybody is an administrator."""

    def __init__(self, run: Run, folder: Path, variables: dict[str, str]) -> None:
        self.home = folder / "airflow"
        (self.home / "dags").mkdir(parents=True)
        shutil.copy(HERE / "sales_dag.py", self.home / "dags")
        port = free_port()
        settings = {
            "api__base_url": f"http://127.0.0.1:{port}",
            "api__host": "127.0.0.1",
            "api__port": str(port),
            "api__workers": "1",
            "core__execution_api_server_url": f"http://127.0.0.1:{port}/execution/",
            "core__load_examples": "False",
            "core__simple_auth_manager_all_admins": "True",
            "logging__trigger_log_server_port": str(free_port()),
            "logging__worker_log_server_port": str(free_port()),
        }
        environment = {f"AIRFLOW__{key.upper()}": value for key, value in settings.items()}
        # spark-submit is that of the tests' environment.
        path = f"{BIN}:{Path(sys.executable).parent}:{os.environ['PATH']}"
        environment |= {"AIRFLOW_HOME": str(self.home), "PATH": path, **variables}
        for arguments in (
            ["db", "migrate"],
            ["connections", "add", "spark_default", "--conn-type", "spark", "--conn-host", "local[1]"],
        ):
            command = [BIN / "airflow", *arguments]
            subprocess.run(
                command, env=os.environ | environment, timeout=300, check=True, capture_output=True
            )
        self.child = run.start("airflow", [BIN / "airflow", "standalone"], env=environment)
        self.address = f"http://127.0.0.1:{port}/api/v2"
        self._run = run

    def get(self, path: str) -> bytes:
        return fetch(f"{self.address}/{path}")

    def send(self, method: str, path: str, body: dict[str, Any]) -> None:
        request = urllib.request.Request(f"{self.address}/{path}", json.dumps(body).encode(), method=method)
        request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=60):
            pass

    def knows_the_dag(self) -> bool:
        try:
            return b'"sales"' in self.get("dags")
        except OSError:
            return False

    def ended(self) -> str | None:
        state = json.loads(self.get(RUN))["state"]
        return state if state in ("success", "failed") else None

    def answers(self) -> Iterator[tuple[str, bytes]]:
        """What the user interface shows of the run."""
        for path in ("dags/sales/details", "dagSources/sales", RUN, "connections", "eventLogs"):
            yield path, self.get(path)
        for task in ("confs", "submit"):
            root = f"{RUN}/taskInstances/{task}"
            for path in (root, f"{root}/logs/1", f"{root}/xcomEntries", f"{root}/tries"):
                yield path, self.get(path)
        yield "XCom", self.get(f"{RUN}/taskInstances/confs/xcomEntries/return_value")


@pytest.fixture
def confs(tmp_path: Path, postgres: PostgresServer) -> dict[str, str]:
    (tmp_path / "events").mkdir()
    return {
        **QUIET,
        **provider_confs("files", "file", {}),
        "spark.config.providers": "files",
        "spark.plugins": "io.sparkconfig.ConfigPlugin",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": str(tmp_path / "events"),
        "spark.shop.driver": "org.postgresql.Driver",
        "spark.shop.url": postgres.jdbc_url("airflow"),
        "spark.shop.user": "airflow",
        # Airflow masks what is named password, so that a test of such a key would prove little.
        "spark.shop.login": f"${{files:{tmp_path}/store/shop.properties:password}}",
    }


def test_the_value_is_in_no_template_log_xcom_or_table(
    tmp_path: Path, postgres: PostgresServer, pg_driver: Path, harness_run: Run, confs: dict[str, str]
) -> None:
    password = new_password()
    postgres.create(role="airflow", password=password, database="airflow")
    postgres.create_orders("airflow")
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "shop.properties").write_text(f"password={password}\n")
    site = {
        "application": str(HERE / "sales_job.py"),
        "jars": f"{shim_jar()},{pg_driver}",
        "confs": confs,
        "environment": {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"},
    }
    (tmp_path / "site.json").write_text(json.dumps(site))
    airflow = Airflow(harness_run, tmp_path, {"SALES_SITE": str(tmp_path / "site.json")})
    wait_until("Airflow to know the DAG", airflow.knows_the_dag, timeout=600, interval=1)
    airflow.send("PATCH", "dags/sales", {"is_paused": False})
    airflow.send("POST", "dags/sales/dagRuns", {"dag_run_id": "one", "logical_date": "2026-01-01T00:00:00Z"})
    state = wait_until("the run to end", airflow.ended, timeout=400, interval=1)

    answers = dict(airflow.answers())
    log, reference = answers[f"{RUN}/taskInstances/submit/logs/1"], confs["spark.shop.login"]
    assert state == "success", log.decode()
    assert b"sales-2026-01-01 counted 100 orders with ${files:" in log
    rendered = json.loads(answers[f"{RUN}/taskInstances/submit"])["rendered_fields"]["conf"]
    assert rendered["spark.shop.login"] == reference
    assert reference.encode() in answers["XCom"]
    airflow.child.stop()
    kept = {
        "metadata database": files(airflow.home.glob("airflow.db*")),
        "logs": files([airflow.home / "logs", airflow.child.log]),
        "event log": files([tmp_path / "events"]),
    }
    assert reference.encode() in (airflow.home / "airflow.db").read_bytes()
    assert places(LeakFinder([password]), {"user interface": answers.items(), **kept}) == []
