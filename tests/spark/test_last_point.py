"""What no door of a shared server has seen: tables that another application left in the metastore.

The last point asks: where a connection opens, and where a file of the server's machine does.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pyspark
import pytest

from leaks.support import bare_jvm
from support.attacks import BAIT, SHOP, fill, prepare
from support.rpc import protected_rpc
from support.shim import shim_jar
from support.shipped_rules import shipped_rules
from support.sql_clients import jdbc_rows
from support.sql_servers import Site, connect_server, hive, thrift_server
from support.verdicts import attempt

pytestmark = pytest.mark.spark

DRIVER = f"org.apache.derby.{'' if pyspark.__version__.startswith('3.') else 'iapi.'}jdbc.AutoloadedDriver"


def jdbc(name: str, options: str) -> str:
    return f"CREATE TABLE {name} USING jdbc OPTIONS (dbtable 'sysibm.sysdummy1', {options})"


REFUSED = {
    "jdbc_url": jdbc("jdbc_url", "url '{evil}'"),
    "jdbc_folder": jdbc("jdbc_folder", "url 'jdbc:derby:{folder}/base;create=true'"),
    "jdbc_property": jdbc("jdbc_property", f"url '{SHOP}', traceFile '{{folder}}/trace'"),
    "jdbc_driver": jdbc("jdbc_driver", f"url '{SHOP}', driver '{DRIVER}'"),
    "jdbc_provider": jdbc("jdbc_provider", f"url '{SHOP}', connectionProvider 'basic'"),
    "text_file": "CREATE TABLE text_file (value STRING) USING text LOCATION '{bait}'",
    "text_folder": "CREATE TABLE text_folder (value STRING) USING text LOCATION '{folder}/away'",
    "text_link": "CREATE TABLE text_link (value STRING) USING text LOCATION '{lake}/link.txt'",
    "csv_link": "CREATE TABLE csv_link (value STRING) USING csv LOCATION 'file:{lake}/away'",
    "hive_text": "CREATE EXTERNAL TABLE hive_text (value STRING) STORED AS TEXTFILE LOCATION '{folder}/away'",
    "hive_avro": (
        "CREATE TABLE hive_avro ROW FORMAT SERDE 'org.apache.hadoop.hive.serde2.avro.AvroSerDe'"
        " STORED AS INPUTFORMAT 'org.apache.hadoop.hive.ql.io.avro.AvroContainerInputFormat'"
        " OUTPUTFORMAT 'org.apache.hadoop.hive.ql.io.avro.AvroContainerOutputFormat'"
        " TBLPROPERTIES ('avro.schema.url' = 'file:{folder}/away/a.avsc')"
    ),
    "parted": (
        "CREATE EXTERNAL TABLE parted (value STRING) PARTITIONED BY (day STRING) STORED AS TEXTFILE"
        " LOCATION '{lake}/parted'; ALTER TABLE parted ADD PARTITION (day = 'a') LOCATION '{folder}/away'"
    ),
    "events": (
        "CREATE TABLE events (value STRING) USING text OPTIONS (path '{folder}/events', recursiveFileLookup 'true')"
    ),
}
"""Tables to what makes them."""

LOGGED = (
    "CREATE TABLE logged (value STRING) USING text OPTIONS (path '{lake}/logged', recursiveFileLookup 'true')"
)

HONEST = {
    "jdbc_shop": jdbc("jdbc_shop", f"url '{SHOP}', user 'app'"),
    "of_lake": "CREATE TABLE of_lake USING parquet LOCATION '{lake}/of_others' AS SELECT 1 AS a",
}

#: Those of the Thrift server are processes of their own.
EXECUTORS = {
    **protected_rpc(),
    "spark.executor.memory": "600m",
    "spark.shuffle.readHostLocalDisk": "false",  # as local-cluster sets it by itself, later
    "spark.executor.extraClassPath": str(shim_jar()),
}


@pytest.fixture(scope="module")
def site(harness_run, tmp_path_factory) -> Site:
    folder = tmp_path_factory.mktemp("last").resolve()
    prepare(folder)
    (folder / "events").mkdir()
    schema = {"type": "record", "name": "a", "fields": [{"name": "value", "type": "string"}]}
    (folder / "away" / "a.avsc").write_text(json.dumps(schema))
    made = Site(
        harness_run,
        folder,
        shipped_rules(folder),
        **{"spark.plugins": "io.sparkconfig.ConfigPlugin", **EXECUTORS},
    )
    texts = [fill(text, folder, "other") for text in (*REFUSED.values(), LOGGED, *HONEST.values())]
    (folder / "tables.sql").write_text(";\n".join(texts) + ";\n")
    # An application without sparkconfig.
    other = made.start(
        "other",
        ["spark-sql", "-f", folder / "tables.sql"],
        **{**hive(folder), "spark.plugins": "", "spark.config.job.file": ""},
    )
    assert other.wait(240) == 0, other.output()
    for name in ("thrift", "connect"):
        shutil.copytree(folder / "metastore", folder / f"{name}-store" / "metastore")
    return made


@contextlib.contextmanager
def thrift(site: Site) -> Iterator[Callable[[str], Any]]:
    confs = {**EXECUTORS, "spark.master": "local-cluster[1,1,700]", **hive(site.folder / "thrift-store")}
    with thrift_server(site, "thrift", BAIT, **confs) as (url, _), bare_jvm() as gateway:
        gateway.jvm.java.lang.Class.forName("org.apache.hive.jdbc.HiveDriver")
        connection = gateway.jvm.java.sql.DriverManager.getConnection(url, "ann", "")
        yield lambda text: jdbc_rows(connection, text)
        connection.close()


@contextlib.contextmanager
def connect(site: Site) -> Iterator[Callable[[str], Any]]:
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    confs = {
        **hive(site.folder / "connect-store"),
        "spark.sql.catalogImplementation": "hive",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{site.folder}/events",
    }
    with connect_server(site, "connect", **confs) as (address, _):
        session = ConnectSession.builder.remote(f"{address}/;user_id=ann").create()
        yield lambda text: session.sql(text).collect()
        session.stop()


SERVERS = [thrift, pytest.param(connect, marks=pytest.mark.sparks(since="4.0"))]


@pytest.fixture(scope="module", params=SERVERS, ids=["thrift", "connect"])
def run(site: Site, request) -> Iterator[Callable[[str], Any]]:
    with request.param(site) as made:
        yield made


@pytest.mark.parametrize("table", REFUSED)
def test_a_table_of_others_leads_nowhere(run, table):
    for text in (
        f"SELECT * FROM {table}",
        f"SELECT count(*) FROM {table} a, range(2)",
        f"CACHE TABLE {table}",
    ):
        problem = attempt(run, text)
        assert "operator's policy does not allow" in str(problem), (text, problem)
        assert BAIT not in str(problem)


def test_the_log_of_a_sink_is_not_followed(run):
    assert run("SELECT * FROM logged") == []


@pytest.mark.parametrize(
    "text", ["text.`{lake}/linked`", "csv.`{lake}/linked/*`", "json.`{lake}/linked_days`"]
)
def test_no_link_is_followed(site, run, text):
    problem = attempt(run, f"SELECT * FROM {fill(text, site.folder, 'last')}")
    assert "operator's policy does not allow" in str(problem)


def test_the_lake_is_written_and_read(site, run, request):
    place = f"{site.folder}/lake/own_{request.node.callspec.id}"
    run(f"CREATE TABLE own_rows USING parquet LOCATION '{place}' AS SELECT id FROM range(9)")
    run("INSERT INTO own_rows SELECT id FROM range(1)")
    for text in (
        "SELECT count(*) FROM own_rows a JOIN own_rows b USING (id)",
        f"SELECT count(*) FROM parquet.`{place}`",
    ):
        assert int(run(text)[0][0]) >= 10
    run("CACHE TABLE own_rows")
    run("DROP TABLE own_rows")


@pytest.mark.parametrize("table", HONEST)
def test_what_the_policy_names_is_read(run, table):
    assert str(run(f"SELECT count(*) FROM {table}")[0][0]) == "1"
