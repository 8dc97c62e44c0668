"""Doors of servers and of spark-sql: users who never see the driver try to pass, over Thrift and over Connect."""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException

from leaks.support import bare_jvm
from support.policies import records
from support.processes import Run, wait_until
from support.shim import shim_jar
from support.sql_clients import jdbc_rows
from support.sql_servers import Site, connect_server, hive, thrift_server
from support.two_users import USERS, make_folders, nobody_is_mistaken, take_turns

pytestmark = pytest.mark.spark

PARTITIONS = "spark.sql.shuffle.partitions"
SECRET = "Canary-e1f9a0-value"
# When Python frees one of Connect's sessions, it ends the pool that all of them share. That can be in the middle of a
# use of the pool: PySpark 4.0.5 then waits for itself.
KEPT: list[Any] = []
RULES = {
    "rules": [
        {"key": PARTITIONS, "type": "range", "maxValue": "50"},
        {"key": "sparkconfig.reflect", "type": "allowlist", "values": ["java.lang.Math.abs"], "jobTypes": ["connect"]},
        {"key": "spark.shop.front", "type": "fixed", "value": "thrift", "jobTypes": ["sql"]},
        {"key": "spark.shop.front", "type": "fixed", "value": "connect", "jobTypes": ["connect"]},
    ],
    "references": [
        {"type": "allow", "provider": "files", "key": "shared*", "jobTypes": ["sql", "connect"], "options": "lineSep"},
        {"type": "allow", "provider": "files", "path": "*/users/{user}/*", "options": "lineSep"},
    ],
    "connections": [{"type": "allow", "connection": "bobs", "users": "bob"}],
}  # fmt: skip
DEFAULTS = {
    PARTITIONS: "7",
    "spark.sql.session.timeZone": "UTC",
    "spark.plugins": "io.sparkconfig.ConfigPlugin",
    "spark.config.connect.user.trusted": "true",
    "spark.config.connections.bobs.format": "jdbc",
    "spark.config.connections.bobs.option.url": "jdbc:derby:memory:bobs;create=true",
}


@pytest.fixture(scope="module")
def site(harness_run: Run, tmp_path_factory) -> Site:
    folder = tmp_path_factory.mktemp("servers")
    (folder / "shop.properties").write_text(f"shared={SECRET}\nown={SECRET}\n")
    make_folders(folder, SECRET)
    return Site(harness_run, folder, RULES, **DEFAULTS)


@pytest.fixture(scope="module")
def thrift(site: Site, pg_driver: Path) -> Iterator[tuple[Callable[[str], Any], Any]]:
    """What gives a connection of Hive's JDBC driver, for the confs at the end of the URL; and the server."""
    jars = f"{shim_jar()},{pg_driver}"
    with (
        thrift_server(site, "thrift", SECRET, **{"spark.jars": jars}) as (url, server),
        bare_jvm() as gateway,
    ):
        gateway.jvm.java.lang.Class.forName("org.apache.hive.jdbc.HiveDriver")
        yield lambda confs: gateway.jvm.java.sql.DriverManager.getConnection(url + confs, "ann", ""), server


@pytest.fixture(scope="module")
def connect(thrift: tuple[Callable[[str], Any], Any]) -> Callable[[str], Any]:
    return thrift[0]


def test_when_the_first_clients_leave_all_others_work_on(site, thrift):
    """Hive would close the class loader of what came by --jars: the plugin's jar, and drivers of databases."""
    connect, server = thrift
    for before in ((), ("SELECT 1",), ("SET spark.sql.shuffle.partitions",), ("SELECT nothing",)):
        first = connect("")
        for text in before:
            with contextlib.suppress(Py4JJavaError):
                jdbc_rows(first, text)
        first.close()
    second = connect("")
    own = f"${{files:{site.folder}/users/ann/own.properties:line}}"
    assert jdbc_rows(second, "SELECT 1") == [("1",)]
    for text in (
        "SELECT '${env:HOME}'",
        f"CREATE TEMPORARY VIEW a USING text OPTIONS (path '{site.folder}/shop.properties', lineSep '{own}')",
        f"CREATE TEMPORARY VIEW b USING csv OPTIONS (path '/', sep '{site.reference('own')}')",
        f"SET {PARTITIONS}=51",
        "CREATE TEMPORARY VIEW c USING jdbc OPTIONS (sparkconfig.connection 'bobs', dbtable 'a')",
        "CREATE TEMPORARY VIEW d USING jdbc OPTIONS (url 'jdbc:postgresql://127.0.0.1:1/a', dbtable 'a')",
        "CREATE TABLE t (a INT DEFAULT 1) USING parquet",
        "SELECT reflect('java.lang.System', 'getenv', 'HOME')",
        "DESCRIBE EXTENDED t",
        "SELECT nothing FROM a",
    ):
        with contextlib.suppress(Py4JJavaError):
            jdbc_rows(second, text)
    assert jdbc_rows(second, "SELECT 1") == [("1",)]
    second.close()
    assert not re.search(r"NoClassDefFoundError|ClassNotFoundException", server.output())


class TestThrift:
    run = staticmethod(jdbc_rows)

    def partitions(self, connection: Any) -> str:
        return self.run(connection, f"SET {PARTITIONS}")[0][1]

    def refused(self, action: Callable[[], object], *words: str) -> None:
        with pytest.raises(Py4JJavaError) as error:
            action()
        text = str(error.value)
        assert [word for word in words if word not in text] == [], text.replace(SECRET, "(value)")
        assert SECRET not in text

    def test_set(self, site, connect):
        connection = connect("")
        assert self.partitions(connection) == "7"
        self.refused(lambda: self.run(connection, f"SET {PARTITIONS}=51"), PARTITIONS, "sql job")
        decision = records(site.folder)[-1]
        assert (decision["subject"], decision["decision"]) == (PARTITIONS, "denied")
        assert decision["user"] == "ann"
        assert decision["session"]
        assert self.partitions(connection) == "7"
        self.run(connection, f"SET {PARTITIONS}=50")
        assert self.partitions(connection) == "50"
        self.run(connection, f"RESET {PARTITIONS}")
        assert self.partitions(connection) == "7"
        self.refused(lambda: self.run(connection, "SET TIME ZONE 'Asia/Tokyo'"), "spark.sql.session.timeZone")
        assert self.run(connection, "SELECT 1") == [("1",)]
        connection.close()

    @pytest.mark.parametrize("mark", ["?", "#"])
    def test_confs_of_the_url(self, site, connect, mark):
        """Hive confs and variables of the URL; refused at once, or at the first statement."""
        before = len(site.decisions())
        first, said = None, ""
        try:
            first = connect(f"{mark}{PARTITIONS}=51;spark.shop.free=x")
        except Py4JJavaError as error:
            said = f"; the connection ended with {str(error)[:500]}"
        if first is not None:
            with contextlib.suppress(Py4JJavaError):
                self.run(first, "SELECT 1")
            assert self.partitions(first) == "7"
            assert self.run(first, "SELECT 1") == [("1",)]
            first.close()
        # The server writes its log after its answer.
        wait_until(
            f"the decision{said}", lambda: ("denied", PARTITIONS) in site.decisions()[before:], timeout=30
        )
        second = connect(f"{mark}{PARTITIONS}=9")
        assert self.partitions(second) == "9"
        second.close()

    def test_the_job_type_is_sql(self, connect):
        connection = connect("")
        assert self.run(connection, "SET spark.shop.front")[0][1] == "thrift"
        self.refused(lambda: self.run(connection, "SET spark.shop.front=connect"), "spark.shop.front")
        connection.close()

    def test_reflection(self, connect):
        """Hive's own function makes instances, so it is refused for what has no static form, too."""
        connection = connect("")
        hive = "org.apache.hadoop.hive.ql.udf.generic.GenericUDFReflect"
        for number in ("", "2"):
            self.run(connection, f"CREATE TEMPORARY FUNCTION mirror{number} AS '{hive}{number}'")
        for call in (
            "reflect('io.sparkconfig.core.BuildInfo', 'version')",
            "mirror('io.sparkconfig.core.BuildInfo', 'version')",
            "mirror('io.sparkconfig.driver.DriverApi$', 'status')",
            "mirror2('text', 'length')",
        ):
            for statement in (f"SELECT {call}", f"SELECT * FROM VALUES ({call})"):
                self.refused(lambda statement=statement: self.run(connection, statement))
            self.refused(
                lambda call=call: self.run(connection, f"SELECT {call} FROM range(2)"),
                "sparkconfig's classes",
            )
        for name in ("reflect", "java_method", "mirror"):
            text = f"SELECT {name}('java.lang.Math', 'abs', 1)"
            self.refused(lambda text=text: self.run(connection, text), "sparkconfig.reflect", "sql job")
        assert self.run(connection, "SELECT 1") == [("1",)]
        connection.close()


@pytest.fixture(scope="class")
def ends(site: Site) -> dict[str, tuple[int, str]]:
    cases = {
        "hiveconf": ["--hiveconf", f"{PARTITIONS}=51", "-e", "SELECT 'ran'"],
        "allowed": [
            "--hiveconf", f"{PARTITIONS}=9", "--conf", "spark.shop.free=x",
            "-e", f"SELECT 'ran'; SET {PARTITIONS}; SET {PARTITIONS}=51",
        ],
    }  # fmt: skip
    confs = {"spark.sql.catalogImplementation": "in-memory"}
    children = {
        name: site.start(
            f"sql-{name}", ["spark-sql", *case], **{**confs, **hive(site.folder / f"sql-{name}")}
        )
        for name, case in cases.items()
    }
    return {name: (child.wait(240), child.output()) for name, child in children.items()}


class TestSparkSql:
    """Each a program of its own; they start together, since each takes its time."""

    def test_what_is_refused_ends_the_program(self, ends):
        code, text = ends["hiveconf"]
        assert code != 0, text
        assert PARTITIONS in text
        assert re.search(r"(not allow|too large)", text), text
        assert re.search(r"^ran$", text, re.MULTILINE) is None, text

    def test_what_is_allowed_works_until_set_is_refused(self, ends):
        code, text = ends["allowed"]
        assert re.search(r"^ran$", text, re.MULTILINE), text
        assert re.search(rf"^{PARTITIONS}\s+9$", text, re.MULTILINE), text
        assert code != 0, text
        assert "at most 50 is allowed" in text


@pytest.fixture(scope="class")
def url(site: Site) -> Iterator[str]:
    with connect_server(site, "connect") as (address, server):
        yield address
    assert SECRET not in server.output()


@pytest.mark.sparks(since="4.0")
class TestConnect:
    @pytest.fixture
    def session(self, url) -> Iterator[Any]:
        made = self.create(url)
        yield made
        made.stop()

    @staticmethod
    def create(url: str, **confs: str) -> Any:
        from pyspark.sql.connect.session import SparkSession as ConnectSession

        builder = ConnectSession.builder.remote(url)
        for key, text in confs.items():
            builder = builder.config(key.replace("__", "."), text)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the client only warns of what the server refuses
            made = builder.create()
        KEPT.append(made)
        return made

    def refused(self, action: Callable[[], object], *words: str) -> None:
        with pytest.raises(AnalysisException) as error:
            action()
        assert [word for word in words if word not in str(error.value)] == [], str(error.value)

    def test_the_config_rpc(self, session):
        assert session.conf.get(PARTITIONS) == "7"
        self.refused(lambda: session.conf.set(PARTITIONS, "51"), PARTITIONS, "connect job")
        session.conf.set(PARTITIONS, "50")
        assert session.conf.get(PARTITIONS) == "50"
        session.conf.unset(PARTITIONS)
        with contextlib.suppress(AnalysisException):  # refused at the next statement, and put back
            session.range(1).count()
        assert session.conf.get(PARTITIONS) == "7"

    def test_session_creation(self, url):
        name = PARTITIONS.replace(".", "__")
        for text, expected in (("51", "7"), ("9", "9")):
            session = self.create(url, **{name: text})
            with contextlib.suppress(AnalysisException):
                session.range(1).count()
            assert session.conf.get(PARTITIONS) == expected
            assert session.range(2).count() == 2
            session.stop()

    def test_sessions_made_from_a_session(self, session):
        assert session.range(1).count() == 1  # from here on the server knows it
        for way in ("cloneSession", "newSession"):
            try:
                other = getattr(session, way)()
            except (AttributeError, PySparkException):
                continue  # not in this version

            def set_and_use(session: Any = other) -> None:
                session.conf.set(PARTITIONS, "51")
                session.range(1).count()

            self.refused(set_and_use, PARTITIONS)
            assert other.conf.get(PARTITIONS) == "7"
            assert other.range(2).count() == 2

    def test_the_job_type_is_connect(self, session):
        assert session.conf.get("spark.shop.front") == "connect"
        self.refused(lambda: session.sql("SET spark.shop.front=thrift"), "spark.shop.front")

    def test_reflection(self, session):
        allowed, other = "'java.lang.Math', 'abs', 1", "'java.lang.System', 'getProperty', 'user.name'"
        for name in ("reflect", "java_method"):
            assert session.sql(f"SELECT {name}({allowed}) FROM range(0, 2, 1, 2)").collect() == [("1",)] * 2
            self.refused(
                lambda name=name: session.sql(f"SELECT {name}({other})").collect(), "sparkconfig.reflect"
            )

    def test_two_users_at_once(self, site, url):
        """A proxy that the operator trusts says who they are."""
        sessions = {user: self.create(f"{url}/;user_id={user}") for user in USERS}

        def attempt(user: str, text: str) -> str | None:
            refused = None
            try:
                sessions[user].sql(text).collect()
            except PySparkException as error:
                refused = str(error)
            assert SECRET not in str(refused)
            return refused

        take_turns({user: partial(attempt, user) for user in USERS}, site.folder)
        nobody_is_mistaken(records(site.folder), site.folder)
        for made in sessions.values():
            made.stop()

    def test_what_a_user_may_read_he_may_cache(self, url):
        """Spark caches and streams in clones of a session, which name no user."""
        sessions = {user: self.create(f"{url}/;user_id={user}") for user in USERS}

        def read(user: str) -> Any:
            options = {"sparkconfig.connection": "bobs", "dbtable": "(SELECT * FROM SYSIBM.SYSDUMMY1) t"}
            return sessions[user].read.format("jdbc").options(**options).load()

        bob, ann = sessions["bob"], sessions["ann"]
        view = "CREATE OR REPLACE TEMPORARY VIEW v USING jdbc OPTIONS (sparkconfig.connection 'bobs', dbtable '{}')"
        for frame in (read("bob").cache(), read("bob").persist(), read("bob").cache().filter("true").cache()):
            assert frame.count() == 1
            frame.unpersist()
        for table in ("SYSIBM.SYSDUMMY1", "(SELECT * FROM SYSIBM.SYSDUMMY1) t"):
            bob.sql(view.format(table)).collect()
            bob.sql("CACHE TABLE v").collect()
            assert bob.table("v").count() == 1
            bob.sql("UNCACHE TABLE v").collect()
        bob.sql("CACHE LAZY TABLE w AS SELECT * FROM v").collect()
        assert bob.table("w").count() == 1
        read("bob").cache().count()  # what he has cached is no way for others
        for refused in (lambda: read("ann").cache().count(), lambda: ann.sql(view.format("a")).collect()):
            self.refused(refused, "bobs")
        for made in sessions.values():
            made.stop()

    def test_python_workers_may_not_ask(self, site, session):
        from pyspark.sql.connect.functions import udf
        from pyspark.sql.types import StringType

        text = site.reference("shared")

        @udf(StringType())
        def ask(_number):
            from sparkconfig.worker import current

            try:
                return current(text).reveal()
            except Exception as error:
                return f"{type(error).__name__}: {error}"

        (row,) = session.range(1).select(ask("id")).collect()
        assert row[0].startswith("AgentError")
        assert "spark.config.worker.job.types" in row[0]
