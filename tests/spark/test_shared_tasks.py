"""What the tasks of one user of a shared server do to those of another: in the server's JVM, and on an executor."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from py4j.protocol import Py4JJavaError

from leaks.support import bare_jvm
from support.cluster import SparkCluster
from support.processes import Run
from support.shipped_rules import shipped_rules
from support.sql_clients import jdbc_rows
from support.sql_servers import Site, thrift_server

pytestmark = [pytest.mark.spark, pytest.mark.cluster]

ROWS = "BENSECRET-000123-XYZW"
SECRET = "Canary-77d01c-value"


@pytest.fixture(scope="module", params=["local", "cluster"])
def run(request, harness_run: Run, tmp_path_factory) -> Iterator[Callable[[str, str], list[tuple[str, ...]]]]:
    """What runs a statement of ann's or bob's."""
    folder = tmp_path_factory.mktemp("tasks").resolve()
    confs, settings = {}, {}
    if request.param == "cluster":
        cluster: SparkCluster = request.getfixturevalue("cluster")
        confs, settings = cluster.application(executors=1), cluster.security()
    site = Site(harness_run, folder, shipped_rules(folder), **settings)
    with thrift_server(site, "tasks", SECRET, **confs) as (url, _), bare_jvm() as gateway:
        gateway.jvm.java.lang.Class.forName("org.apache.hive.jdbc.HiveDriver")
        users = {
            user: gateway.jvm.java.sql.DriverManager.getConnection(url, user, "") for user in ("ann", "bob")
        }

        def of(user: str, text: str) -> list[tuple[str, ...]]:
            try:
                return jdbc_rows(users[user], text)
            except Py4JJavaError as error:  # its text is the JVM's, which has ended when pytest shows it
                raise RuntimeError(error.java_exception.getMessage()[:2000]) from None

        yield of
        for connection in users.values():
            connection.close()


@pytest.mark.parametrize("call", ["substring(s, 1, 9)", "left(s, 9)", "right(s, 9)", "substring(s, -1, 3)"])
def test_a_text_that_ends_within_a_character_reads_no_memory_of_others(run, call):
    for count in (1, 2, 3, 5, 8, 13, 21, 34):
        run(
            "bob",
            "SELECT max(n) FROM (SELECT row_number() OVER (ORDER BY v DESC) n, v FROM "
            "(SELECT concat('BENSECRET-', lpad(id, 6, '0'), '-XYZW') v FROM range(0, 5000, 1, 1))) WHERE v > ''",
        )
        found = run(
            "ann",
            f"SELECT hex(cast({call} AS BINARY)) FROM (SELECT id, "
            "concat(repeat('A', 7 + cast(pmod(id, 1) AS INT)), cast(X'F0' AS STRING)) s "
            f"FROM range(0, {count}, 1, 1) SORT BY id DESC)",
        )
        ends = {bytes.fromhex(text).rpartition(b"\xf0")[2] for (text,) in found}
        shown = [end for end in ends if end.strip(b"\0") and end.isascii() and end.decode().isprintable()]
        assert shown == [], "what bob has sorted"


@pytest.mark.parametrize(
    "call",
    [
        "rlike({}, '^(a|b)*$')",
        "regexp_extract({}, '^((a|b)*)$', 1)",
        "regexp_replace({}, '^(a|b)*$', '')",
        "split({}, '^(a|b)*$')",
        "regexp_count({}, '^(a|b)*$')",
        "str_to_map({}, '^(a|b)*$', ':')",
    ],
)
def test_a_stack_overflow_is_an_error_of_that_task_alone(run, call):
    text = call.format("repeat('ab', 200000 + cast(id AS INT))")
    with pytest.raises(RuntimeError, match="StackOverflowError"):
        run("ann", f"SELECT {text} FROM range(1)")
    assert run("bob", "SELECT count(*) FROM range(0, 4, 1, 2) WHERE id > 0") == [("3",)]
