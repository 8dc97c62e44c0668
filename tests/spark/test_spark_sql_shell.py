"""`spark-sql` prints what it prints without sparkconfig, statement by statement."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.jdbc import DERBY
from support.session import QUIET
from support.shim import shim_jar
from support.spark_home import spark_environment, spark_home

pytestmark = pytest.mark.spark

STATEMENTS = """
CREATE TABLE derby.things (id INT, name VARCHAR(20));
DESCRIBE derby.things;
DESCRIBE EXTENDED derby.things;
DESCRIBE derby.things id;
SHOW TBLPROPERTIES derby.things;
SHOW COLUMNS IN derby.things;
SHOW NAMESPACES IN derby;
DESCRIBE NAMESPACE EXTENDED derby.APP;
INSERT INTO derby.things VALUES (1, 'one');
SELECT * FROM derby.things;
EXPLAIN FORMATTED SELECT id FROM derby.things;
CREATE DATABASE shop COMMENT 'a shop';
CREATE TABLE shop.sales (id INT COMMENT 'its number', region STRING) USING parquet PARTITIONED BY (region)
  COMMENT 'what was sold' TBLPROPERTIES ('owner team'='sales');
INSERT INTO shop.sales VALUES (1, 'north'), (2, 'south');
CREATE VIEW shop.north AS SELECT id FROM shop.sales WHERE region = 'north';
USE shop;
DESCRIBE sales;
DESCRIBE EXTENDED sales;
DESCRIBE EXTENDED sales PARTITION (region='north');
DESCRIBE sales id;
DESCRIBE QUERY SELECT id, 'x' AS letter FROM sales;
DESCRIBE DATABASE EXTENDED shop;
DESCRIBE FUNCTION EXTENDED upper;
SHOW DATABASES;
SHOW TABLES;
SHOW TABLES IN shop LIKE 's*';
SHOW TABLE EXTENDED LIKE 'sales';
SHOW VIEWS;
SHOW COLUMNS IN sales;
SHOW PARTITIONS sales;
SHOW CREATE TABLE sales;
SHOW CREATE TABLE north;
SHOW TBLPROPERTIES sales;
SHOW FUNCTIONS LIKE 'upp*';
SHOW CATALOGS;
ANALYZE TABLE sales COMPUTE STATISTICS FOR ALL COLUMNS;
DESCRIBE EXTENDED sales id;
EXPLAIN EXTENDED SELECT count(*) FROM sales;
SET spark.sql.ansi.enabled;
SET spark.shop.colour=blue;
SET spark.shop.colour;
SELECT array(1, 2), map('a', 1), struct(1, 'x'), date'2026-01-02', 1.50;
CACHE TABLE sales;
DROP VIEW north;
TRUNCATE TABLE sales;
USE default;
DROP DATABASE shop CASCADE;
"""
#: Spark 3.5 has it not.
NEWER = "CREATE TABLE again USING parquet AS SELECT 1 AS one;\nDESCRIBE EXTENDED again AS JSON;\n"


def start(folder: Path, confs: dict[str, str]) -> subprocess.Popen[str]:
    folder.mkdir()
    everywhere = {
        **QUIET,
        "spark.master": "local[1]",
        "spark.ui.enabled": "false",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.catalog.derby": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
        "spark.sql.catalog.derby.url": "jdbc:derby:memory:shell;create=true",
        "spark.sql.catalog.derby.driver": DERBY,
    }
    properties, script = folder / "spark.properties", folder / "statements.sql"
    properties.write_text("".join(f"{key} {text}\n" for key, text in {**everywhere, **confs}.items()))
    newer = "" if any((spark_home() / "jars").glob("scala-library-2.12*")) else NEWER
    script.write_text(STATEMENTS + newer)
    return subprocess.Popen(
        [spark_home() / "bin" / "spark-sql", "--properties-file", properties, "-v", "-f", script],
        env=dict(spark_environment(folder, folder / "local"), **path()), cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def path() -> dict[str, str]:
    import os

    return {key: os.environ[key] for key in ("PATH", "HOME", "JAVA_HOME", "LANG") if key in os.environ}


def printed(shell: subprocess.Popen[str], folder: Path) -> list[str]:
    """What it printed, without what differs from run to run: folders, times, ids and durations."""
    output, errors = shell.communicate(timeout=240)
    assert shell.returncode == 0, errors[-3000:]
    output = output.replace(str(folder), "FOLDER")
    for pattern, name in (
        (r"\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \w+ \d{4}|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME"),
        (r"#\d+L?", "#ID"),
        (r"(transient_lastDdlTime\D{1,3})\d+", r"\1TIME"),
        (r"plan_id=\d+", "plan_id=ID"),
        (r"\b(\d+) bytes", "SIZE bytes"),
        (r"(Location: \w+\(\d+ paths\))\[[^,]*", r"\1[FOLDER"),  # plans cut it
    ):
        output = re.sub(pattern, name, output)
    return output.splitlines()


def test_spark_sql_prints_the_same_with_and_without(tmp_path: Path) -> None:
    store = tmp_path / "shop.properties"
    store.write_text("word=Canary-of-the-shell\n")
    added = {
        "spark.jars": str(shim_jar()),
        "spark.plugins": "io.sparkconfig.ConfigPlugin",
        "spark.config.agent.python": sys.executable,
        "spark.config.providers": "files",
        "spark.config.providers.files.class": "file",
        "spark.config.inplace.keys": "spark.shop.word",
        "spark.shop.word": f"${{files:{store}:word}}",
    }
    shells = {name: start(tmp_path / name, confs) for name, confs in (("stock", {}), ("added", added))}
    stock, with_plugin = (printed(shell, tmp_path / name) for name, shell in shells.items())
    assert len(stock) > 150
    assert with_plugin == stock
