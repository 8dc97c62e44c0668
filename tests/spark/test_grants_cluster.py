"""What a user may connect to, that user's tasks open: on an executor that works for others meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

from leaks.support import bare_jvm
from support.cluster import SparkCluster
from support.postgres import PostgresServer, new_password
from support.processes import Run
from support.shim import shim_jar
from support.sql_clients import jdbc_rows
from support.sql_servers import THRIFT, Site, thrift_confs, thrift_port

pytestmark = [pytest.mark.spark, pytest.mark.cluster]

USERS = {"ann": 3, "bob": 4}
"""Each with as many rows in a table of that user's own."""
V2 = "org.apache.spark.sql.execution.datasources.v2.jdbc"


class Server:
    """A Thrift server with one executor, and the two connected to it."""

    def __init__(self, postgres: PostgresServer, folder: Path) -> None:
        self.postgres = postgres
        self.folder = folder
        self.connections: dict[str, Any] = {}
        for user, rows in USERS.items():
            (folder / "users" / user).mkdir(parents=True)
            postgres.create(role=user, password=new_password(), database=user)
            numbers = f"SELECT n AS id FROM generate_series(1, {rows}) n"
            postgres.sql(
                f"CREATE TABLE numbers AS {numbers}; ALTER TABLE numbers OWNER TO {user}", database=user
            )
            self.rotate(user)

    def rotate(self, user: str) -> None:
        password = new_password()
        self.postgres.set_password(user, password)
        (self.folder / "users" / user / "own.properties").write_text(f"line={password}\n")

    def where(self, owner: str) -> dict[str, str]:
        line = f"${{files:{self.folder}/users/{owner}/own.properties:line}}"
        url = self.postgres.jdbc_url(owner)
        return {"driver": "org.postgresql.Driver", "url": url, "user": owner, "password": line}

    def options(self, owner: str, **more: str) -> str:
        """Of a data source that reads the owner's table, with the owner's password."""
        each = {**self.where(owner), "dbtable": "numbers", **more}
        return ", ".join(f"{key} '{text}'" for key, text in each.items())

    def run(self, user: str, statement: str) -> list[tuple[str, ...]]:
        try:
            return jdbc_rows(self.connections[user], statement)
        except Py4JJavaError as error:  # its text is the JVM's, which has ended when pytest shows it
            raise RuntimeError(
                f"{user}: {statement[:60]}: {error.java_exception.getMessage()[:2000]}"
            ) from None

    def share(self, user: str, view: str, options: str) -> None:
        """Make a view that other sessions see, with the relation that this user has opened."""
        self.run(user, f"CREATE OR REPLACE GLOBAL TEMPORARY VIEW {view} USING jdbc OPTIONS ({options})")

    def refused(self, user: str, statement: str) -> None:
        with pytest.raises(RuntimeError, match="policy does not allow"):
            self.run(user, statement)


@pytest.fixture(scope="module")
def server(
    cluster: SparkCluster, harness_run: Run, postgres: PostgresServer, pg_driver: Path, tmp_path_factory
) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("grants")
    place = f"{postgres.host}:{postgres.port}"
    own = {"type": "allow", "provider": "files", "path": "*/users/{user}/*", "formats": "jdbc", "to": place}
    rules = {
        "references": [own],
        "connections": [{"type": "allow", "connection": "bobs", "users": "bob"}],
    }
    made = Server(postgres, folder)
    settings = {
        f"spark.config.connections.bobs.option.{key}": text for key, text in made.where("bob").items()
    }
    settings["spark.config.connections.bobs.format"] = "jdbc"
    # Spark pushes what it can into the query of a catalog's table: joins, too, which become its options.
    catalog = {"": f"{V2}.JDBCTableCatalog", **made.where("ann"), "pushDownJoin": "true"}
    settings |= {f"spark.sql.catalog.anns{'.' if key else ''}{key}": text for key, text in catalog.items()}
    settings["spark.sql.optimizer.datasourceV2JoinPushdown"] = "true"
    site = Site(harness_run, folder, rules, **cluster.security(), **settings)
    confs = {
        **cluster.application(executors=1),
        **thrift_confs(folder / "thrift"),
        "spark.jars": f"{shim_jar()},{pg_driver}",
    }
    child = site.start("thrift", ["spark-submit", "--class", THRIFT, "spark-internal"], **confs)
    port = thrift_port(child)
    with bare_jvm() as gateway:
        gateway.jvm.java.lang.Class.forName("org.apache.hive.jdbc.HiveDriver")
        for user in USERS:
            made.connections[user] = gateway.jvm.java.sql.DriverManager.getConnection(
                f"jdbc:hive2://127.0.0.1:{port}/default", user, ""
            )
            made.run(user, f"CREATE TEMPORARY VIEW mine USING jdbc OPTIONS ({made.options(user)})")
        yield made
        for connection in made.connections.values():
            connection.close()
    child.stop()


def test_two_users_in_turns_on_one_executor(server: Server) -> None:
    server.share("bob", "bobs", server.options("bob"))
    for _ in range(5):
        calls = [partial(server.run, user, "SELECT count(*) FROM mine") for user in USERS]
        with ThreadPoolExecutor(len(calls)) as pool:
            found = [done.result() for done in [pool.submit(call) for call in calls]]
        assert found == [[(str(rows),)] for rows in USERS.values()]
        assert server.run("bob", "SELECT count(*) FROM global_temp.bobs") == [("4",)]
        server.refused("ann", "SELECT count(*) FROM global_temp.bobs")
    for user, options in (
        ("ann", server.options("bob")),
        ("bob", server.options("ann")),
        ("ann", "sparkconfig.connection 'bobs', dbtable 'numbers'"),
    ):
        server.refused(user, f"CREATE TEMPORARY VIEW others USING jdbc OPTIONS ({options})")


@pytest.mark.parametrize("way", ["by reference", "by name"])
def test_a_cache_that_is_filled_later(server: Server, way: str) -> None:
    """Spark computes it in a clone of the session, which is its user's; for others it opens nothing."""
    named = "sparkconfig.connection 'bobs', dbtable 'numbers'"
    options = named if way == "by name" else server.options("bob", fetchsize="7")
    server.share("bob", "source", options)
    server.run(
        "bob", "CREATE OR REPLACE GLOBAL TEMPORARY VIEW lazy AS SELECT id + 1 AS id FROM global_temp.source"
    )
    server.run("bob", "CACHE LAZY TABLE global_temp.lazy")
    server.refused("ann", "SELECT count(*) FROM global_temp.lazy")
    assert server.run("bob", "SELECT max(id) FROM global_temp.lazy") == [("5",)]
    server.refused("ann", "SELECT count(*) FROM global_temp.lazy")
    server.run("bob", "UNCACHE TABLE global_temp.lazy")


def test_which_rows_and_how_changes_no_grant(server: Server) -> None:
    parts = {"partitionColumn": "id", "lowerBound": "1", "upperBound": "4", "numPartitions": "3"}
    for number, more in enumerate(
        (
            parts,
            {"fetchsize": "1"},
            {"dbtable": "(SELECT id FROM numbers WHERE id < 9) n"},
            {"pushDownLimit": "true"},
        )
    ):
        view = f"rows_{number}"
        server.run(
            "ann", f"CREATE TEMPORARY VIEW {view} USING jdbc OPTIONS ({server.options('ann', **more)})"
        )
        for statement, rows in (
            (f"SELECT count(*) FROM {view}", [("3",)]),
            (f"SELECT id FROM {view} WHERE id = 2 LIMIT 1", [("2",)]),
            (f"SELECT max(a.id) FROM {view} a JOIN mine b ON a.id = b.id WHERE a.id > 1", [("3",)]),
            (f"SELECT count(*) FROM mine WHERE id IN (SELECT id FROM {view})", [("3",)]),
        ):
            assert server.run("ann", statement) == rows, (more, statement)
    table = "anns.public.numbers"
    for statement, rows in (
        (f"SELECT sum(id) FROM {table} WHERE id > 1", [("5",)]),
        (f"SELECT id FROM {table} ORDER BY id DESC LIMIT 1", [("3",)]),
        (f"SELECT a.id, b.id FROM {table} a JOIN {table} b ON a.id = b.id + 2", [("3", "1")]),
    ):
        assert server.run("ann", statement) == rows, statement


def test_a_task_connects_again_after_a_rotation(server: Server) -> None:
    """A grant is for what was written: another value needs no other one."""
    for _ in range(3):
        for user, rows in USERS.items():
            server.rotate(user)
            assert server.run(user, "SELECT count(*) FROM mine") == [(str(rows),)]
    server.refused("ann", f"CREATE TEMPORARY VIEW others USING jdbc OPTIONS ({server.options('bob')})")
