"""Statements on shared servers under the shipped policy: what attackers try is refused, what everybody does works.

One Connect server and one Thrift server; the policy is ``conf/policies/shared-server.json``, with a folder of this
machine in the place of the lake.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from leaks.support import bare_jvm
from spark.options.conftest import has_connect
from sparkconfig.policy.rules.document import read
from support.attacks import BAIT, HONEST, STATEMENTS, fill, prepare
from support.policies import records
from support.sql_clients import jdbc_rows
from support.sql_servers import Site, hive

pytestmark = pytest.mark.spark

SHIPPED = Path(__file__).resolve().parents[2] / "conf" / "policies" / "shared-server.json"
REFUSED = re.compile(r"operator's policy does not allow|CANNOT_MODIFY_STATIC_CONFIG")


def document(folder: Path) -> dict[str, Any]:
    """The shipped rules; files below ``folder/lake`` are the lake."""
    rules = json.loads(json.dumps(dict(read(SHIPPED).data)))
    (option,) = (rule for rule in rules["rules"] if rule["key"] == "path")
    option["pattern"] = ".*"  # "paths" decides alone
    rules["paths"].append({"type": "allow", "path": f"file:{folder}/lake/*"})
    return rules


@pytest.fixture(scope="module")
def site(harness_run, tmp_path_factory) -> Site:
    folder = tmp_path_factory.mktemp("doors").resolve()
    prepare(folder)
    return Site(harness_run, folder, document(folder), **{"spark.plugins": "io.sparkconfig.ConfigPlugin"})


def attempt(run: Callable[[str], object], text: str) -> str | None:
    """Why a statement was refused; None: it was not. What fails otherwise is told."""
    try:
        found = run(text)
    except (PySparkException, Py4JJavaError) as error:
        problem = re.sub(r"An error occurred[^:]*:", "", str(error))
        assert BAIT not in problem, text
        return problem if REFUSED.search(problem) else f"NOT BY POLICY: {problem[:300]}"
    assert BAIT not in str(found), text
    return None


def all_refused(run: Callable[[str], object], folder: Path, server: str) -> None:
    passed = {}
    for attack, texts in STATEMENTS.items():
        for text in texts:
            statement = fill(text, folder, server)
            problem = attempt(run, statement)
            if problem is None or problem.startswith("NOT"):
                passed[f"{attack}: {statement}"] = problem
    assert not passed, "\n".join(f"{key} -> {text}" for key, text in passed.items())


def all_work(run: Callable[[str], object], folder: Path, server: str) -> None:
    failed = {}
    for texts in HONEST.values():
        for text in texts:
            problem = attempt(run, fill(text, folder, server))
            if problem is not None:
                failed[text] = problem
    assert not failed, "\n".join(f"{key} -> {text}" for key, text in failed.items())


class TestThriftStatements:
    @pytest.fixture(scope="class")
    @classmethod
    def run(cls, site) -> Iterator[Callable[[str], object]]:
        confs = {
            **hive(site.folder / "thrift"),
            "spark.hadoop.hive.server2.thrift.port": "0",
            "spark.hadoop.hive.server2.thrift.bind.host": "127.0.0.1",
            "spark.hadoop.hive.server2.logging.operation.log.location": f"{site.folder}/operations",
        }
        main_class = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
        server = site.start("thrift", ["spark-submit", "--class", main_class, "spark-internal"], **confs)
        port = server.wait_for(r"Starting ThriftBinaryCLIService on port (\d+)", timeout=240)[1]
        with bare_jvm() as gateway:
            gateway.jvm.java.lang.Class.forName("org.apache.hive.jdbc.HiveDriver")
            url = f"jdbc:hive2://127.0.0.1:{port}/default"
            connection = gateway.jvm.java.sql.DriverManager.getConnection(url, "ann", "")

            def run(text: str) -> object:
                return jdbc_rows(connection, text)

            run("CREATE TABLE kept (id BIGINT) USING parquet")
            yield run
            connection.close()
        server.stop()

    def test_attacks_are_refused(self, site, run):
        all_refused(run, site.folder, "thrift")
        denied = [record for record in records(site.folder) if record.get("statement") == "add-jar"]
        assert {(record["user"], record["decision"]) for record in denied} == {("ann", "denied")}

    def test_honest_statements_work(self, site, run):
        all_work(run, site.folder, "thrift")


@pytest.mark.skipif(
    not has_connect(), reason="the pyspark wheel of 3.5 has no Connect server, or grpcio is not installed"
)
class TestConnectStatements:
    @pytest.fixture(scope="class")
    @classmethod
    def session(cls, site) -> Iterator[Any]:
        from pyspark.sql.connect.session import SparkSession as ConnectSession

        main_class = "org.apache.spark.sql.connect.service.SparkConnectServer"
        confs = {
            "spark.connect.grpc.binding.port": "0",
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.sql.catalogImplementation": "in-memory",
        }
        server = site.start("connect", ["spark-submit", "--class", main_class, "spark-internal"], **confs)
        port = server.wait_for(r"Spark Connect server started at: \S*?:(\d+)", timeout=240)[1]
        made = ConnectSession.builder.remote(f"sc://127.0.0.1:{port}/;user_id=ann").create()
        made.sql("CREATE TABLE kept (id BIGINT) USING parquet")
        yield made
        made.stop()
        server.stop()

    @pytest.fixture
    def run(self, session) -> Callable[[str], object]:
        return lambda text: session.sql(text).collect()

    def test_attacks_are_refused(self, site, run):
        all_refused(run, site.folder, "connect")

    def test_honest_statements_work(self, site, run):
        all_work(run, site.folder, "connect")
