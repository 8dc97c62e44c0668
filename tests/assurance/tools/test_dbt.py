"""dbt-spark with ``method: session``: a profile whose server_side_parameters hold references, at a real database."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from support.leaks import LeakFinder
from support.postgres import PostgresServer, new_password
from support.processes import Run
from support.rotation import provider_confs
from support.session import QUIET
from support.shim import shim_jar
from support.surfaces import files, places

pytestmark = [pytest.mark.spark, pytest.mark.timeout(600)]

BIN = Path(__file__).parents[3] / ".venvs" / "dbt" / "bin"
PROJECT = {"name": "shop", "version": "1.0", "profile": "shop", "models": {"shop": {"materialized": "table"}}}
MODEL = "select id % 10 as kind, count(*) as orders from shop.public.orders group by 1"


def _dbt(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": str(BIN / "python")}
    environment |= {"DBT_PROFILES_DIR": str(folder), "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
    command = [BIN / "dbt", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    return output


def test_a_profile_holds_references_and_no_file_of_dbt_or_spark_a_value(
    tmp_path: Path, postgres: PostgresServer, pg_driver: Path, harness_run: Run
) -> None:
    password = new_password()
    postgres.create(role="dbt", password=password, database="dbt")
    postgres.create_orders("dbt")
    store, events = tmp_path / "store" / "shop.properties", tmp_path / "events"
    for folder in (store.parent, events, tmp_path / "models"):
        folder.mkdir()
    store.write_text(f"password={password}\n")
    catalog = "spark.sql.catalog.shop"
    parameters = {
        **QUIET,
        **provider_confs("files", "file", {}),
        "spark.config.providers": "files",
        "spark.plugins": "io.sparkconfig.ConfigPlugin",
        "spark.jars": f"{shim_jar()},{pg_driver}",
        "spark.master": "local[1]",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": str(events),
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
        catalog: "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
        f"{catalog}.url": postgres.jdbc_url("dbt"),
        f"{catalog}.driver": "org.postgresql.Driver",
        f"{catalog}.user": "dbt",
        f"{catalog}.password": f"${{files:{store}:password}}",
    }
    output = {"type": "spark", "method": "session", "host": "NA", "schema": "default"}
    outputs = {"dev": {**output, "server_side_parameters": parameters}}
    # JSON is YAML.
    (tmp_path / "profiles.yml").write_text(json.dumps({"shop": {"target": "dev", "outputs": outputs}}))
    (tmp_path / "dbt_project.yml").write_text(json.dumps(PROJECT))
    (tmp_path / "models" / "kinds.sql").write_text(MODEL)

    ran = _dbt(tmp_path, "--debug", "run")
    assert "Completed successfully" in ran
    assert list((tmp_path / "warehouse").rglob("*.parquet"))
    compiled = _dbt(tmp_path, "--debug", "debug") + _dbt(tmp_path, "docs", "generate", "--empty-catalog")
    finder = LeakFinder([password])
    assert finder.count(f"{ran}{compiled}".encode()) == 0
    store.unlink()
    kept = {name: files([tmp_path / name]) for name in ("target", "logs", "events", "warehouse")}
    assert places(finder, kept) == []
    # What is searched does hold the confs; Spark itself masks those that are named password.
    assert any(postgres.jdbc_url("dbt").encode() in text for _, text in files([events]))
