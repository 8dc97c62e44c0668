"""A shared Thrift server over HTTP, whose statements run in the web server's threads unless they are asynchronous."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from support.attacks import BAIT, prepare
from support.policies import records
from support.postgres import free_port
from support.shipped_rules import shipped_rules
from support.sql_servers import THRIFT, Site, thrift_confs
from support.two_users import USERS, make_folders
from support.verdicts import LITERAL, connections

pytestmark = [pytest.mark.spark, pytest.mark.sparks(since="4.0")]  # the client is installed there

#: Runs a statement of a user's, as synchronous as asked: its rows, or SQLSTATE and message.
Run = Callable[..., Any]


@pytest.fixture(scope="module")
def site(harness_run, tmp_path_factory) -> Site:
    folder = tmp_path_factory.mktemp("http").resolve()
    prepare(folder)
    make_folders(folder, BAIT)
    settings = {"spark.plugins": "io.sparkconfig.ConfigPlugin", **connections(folder)}
    return Site(harness_run, folder, shipped_rules(folder), **settings)


@pytest.fixture(scope="module")
def run(site: Site) -> Iterator[Run]:
    from pyhive import exc, hive

    port = free_port()
    confs = {
        **thrift_confs(site.folder / "http"),
        "spark.hadoop.hive.server2.transport.mode": "http",
        "spark.hadoop.hive.server2.thrift.http.port": str(port),
        "spark.hadoop.hive.server2.thrift.http.cookie.auth.enabled": "false",
    }
    server = site.start("http", ["spark-submit", "--class", THRIFT, "spark-internal"], **confs)
    server.wait_for(r"Started ThriftHttpCLIService", timeout=240)
    with contextlib.ExitStack() as stack:
        each = {
            user: stack.enter_context(hive.connect("127.0.0.1", port, scheme="http", username=user))
            for user in USERS
        }

        def run(user: str, text: str, *, later: bool = False) -> Any:
            with contextlib.closing(each[user].cursor()) as cursor:
                try:
                    cursor.execute(text, async_=later)
                    if later:
                        state = cursor.poll()
                        while not state.operationCompleted and state.sqlState is None:
                            state = cursor.poll()
                        if state.sqlState:
                            return state.sqlState, state.errorMessage
                    return cursor.fetchall() if cursor.description else []
                except exc.Error as error:
                    status = error.args[0].status
                    return status.sqlState, status.errorMessage

        yield run
    server.stop()


def test_rules_about_users_know_the_user_of_each_statement(site, run):
    assert run("bob", "LIST JARS")[0][0].startswith("spark://")
    assert run("ann", "LIST JARS")[0] == "42501"
    assert {record["user"] for record in records(site.folder) if record.get("statement") == "list-jars"} == {
        *USERS
    }


def test_a_guess_is_not_answered(run):
    run(
        "bob",
        "CREATE TABLE bobs USING jdbc OPTIONS (sparkconfig.connection 'bobs', dbtable 'sysibm.sysdummy1')",
    )
    assert run("bob", "SELECT count(*) FROM bobs") == [(1,)]
    for text in ("EXPLAIN", "EXPLAIN EXTENDED", "EXPLAIN CODEGEN"):
        assert LITERAL in str(run("ann", f"{text} SELECT '{LITERAL}' AS a FROM range(3)"))
    assert LITERAL in str(run("ann", f"SELECT raise_error('{LITERAL}')"))


def test_a_connection_that_a_table_leads_to_is_refused_with_the_state_of_missing_rights(run):
    run(
        "bob",
        "CREATE TABLE led USING jdbc OPTIONS (sparkconfig.connection 'bobs', dbtable 'sysibm.sysdummy1')",
    )
    for text in ("SELECT * FROM led", "INSERT INTO led SELECT 'a'", "SELECT (SELECT count(*) FROM led)"):
        for later in (False, True):
            state, told = run("ann", text, later=later)
            assert (state, "connection bobs" in told) == ("42501", True), (text, later, state, told)


def test_a_table_with_the_name_of_a_file_does_not_hide_it(run):
    """Spark reads the file where the current catalog has no such table."""
    for text in ("CREATE DATABASE text", "CREATE TABLE text.job (a STRING) USING parquet"):
        assert run("ann", text) == []
    refused = r"path file:\S*/job"
    for catalog in ("bobs_catalog", "spark_catalog"):
        run("bob", f"USE {catalog}")
        for text in ("SELECT * FROM text.job", "SELECT * FROM `TEXT`.job", "TABLE text.job"):
            state, told = run("bob", text)
            assert (state, bool(re.search(refused, told))) == ("42501", True), (catalog, text, told)
    assert run("bob", "SELECT count(*) FROM spark_catalog.text.job") == [(0,)]
    run("bob", "USE text")
    assert run("bob", "SELECT count(*) FROM job") == [(0,)]
    assert run("bob", "DROP TABLE spark_catalog.text.job") == []
    assert run("bob", "USE default") == []


def test_a_server_that_keeps_logins_in_cookies_does_not_start(site):
    """Hive writes a name into them as it is: `zz&cu=ann` would be ann from then on."""
    confs = {**thrift_confs(site.folder / "cookies"), "spark.hadoop.hive.server2.transport.mode": "http"}
    confs["spark.hadoop.hive.server2.thrift.http.port"] = str(free_port())
    server = site.start("cookies", ["spark-submit", "--class", THRIFT, "spark-internal"], **confs)
    server.wait_for(r"set spark.hadoop.hive.server2.thrift.http.cookie.auth.enabled=false", timeout=240)
    assert server.wait(timeout=120) == 1
