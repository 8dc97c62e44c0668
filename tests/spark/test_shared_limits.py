"""How much one user takes of a shared server: sessions, options and properties."""

from __future__ import annotations

import contextlib
import socket
import struct
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from leaks.support import bare_jvm
from support.attacks import BAIT
from support.false_lengths import write_all
from support.shipped_rules import shipped_rules
from support.sql_clients import jdbc_rows
from support.sql_servers import Site, connect_server, thrift_server
from support.verdicts import attempt

pytestmark = pytest.mark.spark

SESSIONS = 4


class Client(NamedTuple):
    """One session of a user's: what runs a statement in it, and what ends it."""

    run: Callable[[str], Any]
    end: Callable[[], object]
    session: Any


LogIn = Callable[[str], Client]


@pytest.fixture(scope="module")
def site(harness_run, tmp_path_factory) -> Site:
    folder = tmp_path_factory.mktemp("limits").resolve()
    (folder / "lake").mkdir()
    rules = shipped_rules(folder)
    rules["statements"].append({"type": "allow", "statement": "more-sessions", "users": "pool"})
    settings = {"spark.config.user.sessions": str(SESSIONS), "spark.config.connect.user.trusted": "true"}
    return Site(harness_run, folder, rules, **settings)


@pytest.fixture(scope="module")
def server(site: Site) -> Iterator[str]:
    """The URL of a Thrift server."""
    with thrift_server(site, "thrift", BAIT) as (url, _):
        yield url


@pytest.fixture(scope="module")
def thrift(server: str) -> Iterator[LogIn]:
    with bare_jvm() as gateway:
        gateway.jvm.java.lang.Class.forName("org.apache.hive.jdbc.HiveDriver")

        def log_in(user: str) -> Client:
            made = gateway.jvm.java.sql.DriverManager.getConnection(server, user, "")
            return Client(lambda text: jdbc_rows(made, text), made.close, made)

        yield log_in


@pytest.fixture(scope="module")
def connect(site: Site) -> Iterator[LogIn]:
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    kept: list[Any] = []  # see KEPT in test_policy_servers.py

    def log_in(user: str) -> Client:
        made = ConnectSession.builder.remote(f"{address}/;user_id={user}").create()
        kept.append(made)
        made.sql("SELECT 1").collect()
        return Client(lambda text: made.sql(text).collect(), made.stop, made)

    with connect_server(site, "connect") as (address, _):
        yield log_in


@pytest.fixture(params=["thrift", pytest.param("connect", marks=pytest.mark.sparks(since="4.0"))])
def log_in(request) -> LogIn:
    return request.getfixturevalue(request.param)


def test_a_user_has_so_many_sessions_at_once(log_in):
    clients = [log_in("ann") for _ in range(SESSIONS)]
    for _ in range(3):
        assert f"spark.config.user.sessions={SESSIONS} are open" in str(attempt(log_in, "ann"))
    assert [len(each.run("SELECT 1")) for each in clients] == [1] * SESSIONS
    clients += [log_in("pool") for _ in range(SESSIONS + 1)]  # a user whom a rule lets have more
    for _ in range(2):
        clients.pop(0).end()
        clients.insert(SESSIONS - 1, log_in("ann"))
    assert attempt(log_in, "ann")
    for each in clients:
        each.end()


@pytest.mark.sparks(since="4.1")
def test_a_copy_is_a_session_too(connect):
    clients = [connect("eve") for _ in range(SESSIONS)]
    first = clients[0].session
    assert "are open" in str(attempt(lambda _: first.cloneSession(), ""))
    clients.pop().end()
    copy = first.cloneSession()
    assert copy.sql("SELECT 1").collect()
    for end in (copy.stop, *(each.end for each in clients)):
        end()


def test_keys_by_the_thousand_and_of_megabytes_are_refused_before_anybody_waits(site, log_in):
    many = ", ".join(f"'k{number}' = 'v'" for number in range(20_000))
    long = "k" * 5_000_000
    client = log_in("ann")
    for text in (
        f"CREATE TABLE flood (a INT) USING csv TBLPROPERTIES ({many})",
        f"CREATE DATABASE flood WITH DBPROPERTIES ({many})",
        f"CREATE TABLE flood (a INT) USING csv TBLPROPERTIES ('{long}' = 'v')",
        f"CREATE TEMPORARY VIEW flood USING csv OPTIONS (path '{site.folder}/lake', '{long}' 'v')",
        f"SELECT to_json(named_struct('a', 1), map('{long}', 'v'))",
    ):
        assert "statement flood" in str(attempt(client.run, text)), text[:60]
    client.end()


def test_a_file_that_lies_about_its_lengths_is_an_error_and_the_server_goes_on(site, log_in):
    """Natively, Snappy writes as much as its text says; Spark reads at the addresses that a file of ORC says."""
    client = log_in("ann")
    folder = site.folder / "lake" / f"lengths-{len(list((site.folder / 'lake').iterdir()))}"
    queries = write_all(folder)
    assert str(client.run(queries.pop("whole.snappy"))[0][0]) == "1000"
    for name, query in queries.items():
        problem = attempt(client.run, query)
        assert problem, name
        assert problem.startswith("NOT BY POLICY"), name
    assert client.run("SELECT 1")
    client.end()


def test_a_default_of_a_column_names_no_conf_of_the_server(log_in):
    """Readers of Parquet take it from a conf of Hadoop's, which expands it."""
    client = log_in("carla")
    table = f"defaults_{client.session.__class__.__module__.split('.')[0]}"
    client.run(f"CREATE TABLE {table} (q INT) USING parquet")
    client.run(f"INSERT INTO {table} VALUES (1)")
    for name in ("env.HOME", "user.home", "fs.defaultFS"):
        client.run(f"ALTER TABLE {table} ADD COLUMN `{name}` STRING DEFAULT '\\u0024{{{name}}}'")
        assert "variable" in str(attempt(client.run, f"SELECT * FROM {table}"))
    client.run(f"DROP TABLE {table}")
    client.end()


@pytest.fixture
def connections(server: str) -> Iterator[Callable[[], socket.socket]]:
    """Connections to the Thrift server without a driver."""
    port = int(server.rpartition(":")[2].split("/")[0])
    with contextlib.ExitStack() as opened:
        yield lambda: opened.enter_context(socket.create_connection(("127.0.0.1", port), timeout=90))


def sasl(status: int, text: bytes) -> bytes:
    return struct.pack(">bI", status, len(text)) + text


@pytest.mark.parametrize("length", [100_000_000, 131_073, 2**31 - 1, 2**31, 2**32 - 1])
def test_nobody_has_memory_taken_by_saying_a_length(connections, length):
    """Memory for a length was taken before any login, and after it without a limit; both connections end at once."""
    stranger, user = connections(), connections()
    stranger.sendall(b"\x01" + struct.pack(">I", length))
    user.sendall(sasl(1, b"PLAIN") + sasl(5, b"\0ann\0ann"))
    assert user.recv(5) == sasl(5, b"")
    user.sendall(struct.pack(">I", max(length, 100_000_000)))
    for each in (stranger, user):
        with contextlib.suppress(ConnectionResetError):
            while each.recv(1000):
                pass


@pytest.mark.parametrize("length", [32 << 20, 1 << 20])
def test_a_message_takes_memory_as_it_comes(connections, length, thrift):
    """Sixty times 32 MB were more than the server has."""
    begun = [connections() for _ in range(60)]
    for each in begun:
        each.sendall(sasl(1, b"PLAIN") + sasl(5, b"\0ann\0ann"))
        assert each.recv(5) == sasl(5, b"")
        each.sendall(struct.pack(">I", length))
    client = thrift("bob")
    assert client.run("SELECT 1")
    client.end()


def test_who_does_not_log_in_is_sent_away(connections):
    silent, slow = connections(), connections()
    slow.sendall(sasl(1, b"PLAIN") + b"\x05")
    for each in (silent, slow):
        with contextlib.suppress(ConnectionResetError):
            while each.recv(1000):
                pass
