"""Statements on shared servers under the shipped policy: what attackers try is refused, what everybody does works.

One Connect server and one Thrift server; the policy is ``conf/policies/shared-server.json``, with a folder of this
machine instead of the lake.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import pyspark
import pytest
from pyspark.errors import AnalysisException

from leaks.support import bare_jvm
from support.attacks import (
    BAIT,
    BOUND,
    CONNECT,
    CONNECTED,
    FIELDED,
    FOOTED,
    LINKED,
    LOGGED,
    fill,
    log_of_a_sink,
    named,
    prepare,
)
from support.attacks_in_connect import CONNECT_LOGS
from support.attacks_in_sql import DONE_TO_LED, LEADING, LED, LOGS
from support.connect_names import texts_name
from support.honest import CONNECT_HONEST
from support.kept_confs import UNSHOWN, hidden_from_catalogs, hidden_from_jdbc, hidden_from_statements
from support.large_messages import options, others_are_answered, view
from support.policies import records
from support.processes import Child
from support.shipped_rules import shipped_rules
from support.spark_ui import UI, page
from support.sql_clients import jdbc_rows
from support.sql_servers import THRIFT, Site, connect_server, thrift_confs, thrift_port
from support.thrift_login import GUESSED_LOGINS, HONEST_LOGINS, REFUSED_LOGINS, open_session
from support.two_users import USERS, make_folders, nobody_is_mistaken, take_turns
from support.verdicts import (
    SEEN_BY_NONE,
    UNSEEN,
    all_refused,
    all_work,
    attempt,
    confs_are_hidden,
    connections,
    names_alone,
    no_log_is_followed,
)

pytestmark = pytest.mark.spark

#: Of names of variables: Spark would look for the end of each, for hours, on a Thrift server before any door.
BEGINNINGS = ("${", "${a:", "$${", "${}{", "{${")


@pytest.fixture(scope="module")
def site(harness_run, tmp_path_factory) -> Site:
    folder = tmp_path_factory.mktemp("doors").resolve()
    prepare(folder)
    make_folders(folder, BAIT)
    for name in ("shop", "private"):
        (folder / name).mkdir()
        (folder / name / "db.properties").write_text(f"password={BAIT}\n")
    for name in ("events", "lake/dataframe"):
        (folder / name).mkdir()
    settings = {**UI, **connections(folder), **SEEN_BY_NONE, **UNSHOWN}
    settings["spark.plugins"] = "io.sparkconfig.ConfigPlugin"
    return Site(harness_run, folder, shipped_rules(folder), **settings)


@contextlib.contextmanager
def thrift(site: Site, name: str, more: Mapping[str, str] | None = None) -> Iterator[tuple[Any, Any, Child]]:
    """A Thrift server, with a connection of ann's and one of bob's."""
    confs = {**UI, **thrift_confs(site.folder / name), **(more or {})}
    server = site.start(name, ["spark-submit", "--class", THRIFT, "spark-internal"], **confs)
    port = thrift_port(server)
    with bare_jvm() as gateway:
        gateway.jvm.java.lang.Class.forName("org.apache.hive.jdbc.HiveDriver")
        url = f"jdbc:hive2://127.0.0.1:{port}/default"
        both = [gateway.jvm.java.sql.DriverManager.getConnection(url, user, "") for user in USERS]
        yield both[0], both[1], server
        for connection in both:
            connection.close()
    server.stop()


class TestThriftStatements:
    @pytest.fixture(scope="class")
    @classmethod
    def servers(cls) -> list[Child]:
        return []

    @pytest.fixture(scope="class")
    @classmethod
    def run(cls, site, servers) -> Iterator[Callable[[str], object]]:
        with thrift(site, "thrift") as (connection, other, server):
            servers.append(server)
            cls.connection = connection

            def run(text: str, user: str = "ann") -> object:
                return jdbc_rows(connection if user == "ann" else other, text)

            run("CREATE TABLE kept (id BIGINT) USING parquet")
            run(fill(BOUND, site.folder, "thrift"))
            run(CONNECTED)
            run(fill(LOGGED, site.folder, "thrift"))
            log_of_a_sink(site.folder, "thrift_later")
            run(fill(FOOTED, site.folder, "thrift"))
            run(fill(LINKED, site.folder, "thrift"))
            attempt(run, FIELDED)
            yield run

    def test_attacks_are_refused(self, site, run):
        all_refused(run, site.folder, "thrift")
        denied = [record for record in records(site.folder) if record.get("statement") == "add-jar"]
        assert {(record["user"], record["decision"]) for record in denied} == {("ann", "denied")}

    def test_the_log_of_a_sink_is_not_followed(self, site, run):
        no_log_is_followed(run, site.folder, "thrift", LOGS)

    @pytest.mark.parametrize("key", REFUSED_LOGINS)
    def test_what_hive_would_do_at_a_login_is_refused(self, run, key):
        problem = open_session(self.connection, {key: REFUSED_LOGINS[key]})
        assert "operator's policy does not allow" in str(problem), (key, problem)
        assert "42501" in str(problem)

    @pytest.mark.parametrize("key", GUESSED_LOGINS)
    def test_a_login_that_guesses_a_conf_is_answered_like_any_other(self, site, run, key):
        guesses = [text.format(folder=site.folder) for text in GUESSED_LOGINS[key]]
        (told,) = {str(open_session(self.connection, {key: guess})) for guess in guesses}
        assert "operator's policy does not allow" in told

    @pytest.mark.parametrize("key", HONEST_LOGINS)
    def test_what_drivers_send_at_a_login_is_taken(self, run, key):
        assert open_session(self.connection, {key: HONEST_LOGINS[key]}) is None

    def test_honest_statements_work(self, site, run):
        all_work(run, site.folder, "thrift")

    def test_a_connection_shows_its_name_alone(self, run):
        names_alone(run, "thrift")

    def test_the_servers_confs_are_hidden(self, site, run):
        confs_are_hidden(run, site.folder)

    def test_confs_that_views_and_functions_keep_are_hidden(self, site, run):
        hidden_from_statements(run, site.folder)
        hidden_from_jdbc(self.connection, site.folder)

    def test_a_connection_for_one_user(self, run):
        view = "CREATE OR REPLACE TEMPORARY VIEW mine USING jdbc OPTIONS (sparkconfig.connection 'bobs', dbtable "
        assert attempt(lambda text: run(text, "bob"), view + "'sysibm.sysdummy1')") is None
        assert attempt(lambda text: run(text, "ann"), view + "'sysibm.sysdummy1')")
        # A table that he has made does not lead to his connection.
        run(
            "CREATE TABLE bobs USING jdbc OPTIONS (sparkconfig.connection 'bobs', dbtable 'sysibm.sysdummy1')",
            "bob",
        )
        assert run("SELECT count(*) FROM bobs", "bob") == [("1",)]
        assert attempt(lambda text: run(text, "ann"), "SELECT count(*) FROM bobs")

    def test_who_may_not_use_what_a_table_holds_leads_it_nowhere_else(self, site, run):
        """Its owner would go there with his connection, or send his password."""
        for text in LED:
            run(fill(text, site.folder, "thrift"), "bob")
        tried = {text: attempt(run, fill(text, site.folder, "thrift")) for text in LEADING}
        passed = [text for text in LEADING if not re.search("connection bobs|users/bob", str(tried[text]))]
        assert passed == ["ALTER TABLE led SET TBLPROPERTIES ('note' = 'a')"]
        told = {text: attempt(run, text) for text in DONE_TO_LED}
        assert {text: told[text] for text in told if "connection bobs" not in str(told[text])} == {}
        assert run("SELECT count(*) FROM led", "bob") == [("1",)]

    def test_two_users_at_once(self, site, run):
        """Each pair of statements runs at once, in any order."""
        take_turns(
            {user: lambda text, user=user: attempt(lambda each: run(each, user), text) for user in USERS},
            site.folder,
        )
        nobody_is_mistaken(records(site.folder), site.folder)
        for user in USERS:
            refused = attempt(lambda text, user=user: run(text, user), "LIST JARS")
            assert (refused is None) == (user == "bob")

    def test_the_page_config_shows_each_user_what_they_do(self, run, servers):
        for user in USERS:
            attempt(lambda text, user=user: run(text, user), "LIST JARS")
        pages = {user: page(servers[0], user) for user in (*USERS, "chief", "carol", "")}
        users = {
            name: {each.get("user", "") for each in json.loads(text)["decisions"]}
            for name, text in pages.items()
        }
        assert users["chief"] >= set(USERS)
        assert (users["ann"], users["bob"], users["carol"], users[""]) == ({"ann"}, {"bob"}, set(), set())
        assert json.loads(pages["chief"])["references"]
        for name in ("carol", ""):
            shown = json.loads(pages[name])
            assert (shown["references"], "private/" in pages[name]) == ([], False), name
            assert shown["generation"] == json.loads(pages["chief"])["generation"]
        assert "shows what ann does" in page(servers[0], "ann", "")
        assert "you are not logged in" in page(servers[0], "", "")
        assert 'id="shown-to"' not in page(servers[0], "chief", "")

    def test_the_page_config_says_what_is_hidden_and_who_sees_all(self, run, servers):
        attempt(lambda text: run(text, "ann"), "LIST JARS")
        shown = {user: page(servers[0], user, "") for user in ("chief", "ann", "carol", "")}
        assert "hidden)" not in shown["chief"]
        for user in ("carol", ""):
            assert re.search(r"References \(hidden\).*Policy decisions \(hidden\)", shown[user], re.DOTALL)
            assert "No decision yet" not in shown[user]
        assert re.search(r"Policy decisions \(\d+ shown, others hidden\)", shown["ann"])
        for user in ("ann", "carol", ""):
            assert "spark.admin.acls" in shown[user]
        assert "spark.ui.filters" in shown[""]

    @pytest.mark.parametrize("name", ["refused", "keyless"])
    def test_the_error_of_a_connection_names_the_connection_alone(self, run, name):
        for text in (
            named("dbtable 'a'", name=name),
            named("query 'VALUES 1'", name=name),
            f"CREATE TABLE peek USING jdbc OPTIONS (sparkconfig.connection '{name}', dbtable 'a')",
            f"CREATE TABLE peek USING jdbc OPTIONS (sparkconfig.connection '{name}', dbtable 'a') AS SELECT 1 AS b",
            f"SELECT * FROM {name}_catalog.APP.a",
        ):
            with pytest.raises(Exception) as caught:
                run(text)
            # Of a refused connection 3.5's catalog says that the table is not there, and drops the reason.
            is_lost = pyspark.__version__.startswith("3.") and "_catalog." in text and name == "refused"
            told = "TABLE_OR_VIEW_NOT_FOUND" if is_lost else f"the connection '{name}'"
            problem = str(caught.value)
            assert (told in problem, "private/" in problem, "${" in problem) == (True, False, False), text

    def test_texts_of_megabytes_are_read_once(self, run):
        """Work that grew with the square of the text would not end."""
        size = 1_000_000
        for text in (
            # The others are read by the same code over Connect, below.
            f"SELECT length('{('${a:' * size)[:size]}')",
            f"SELECT length('{'x$' * (size // 2)}')",
            f"SELECT {size} /* {'${ ` -- ' * (size // 7)} */",
        ):
            assert run(text) == [(str(size),)]
        literals = ", ".join(map(str, range(1_000_000, 1_020_000)))
        assert run(f"SELECT count(*) FROM range(9) WHERE id IN ({literals})") == [("0",)]

    def test_20000_references_or_6000_options_hold_up_nobody_else(self, site, run):
        given = options(site.folder, 20_000)
        large = {name: partial(attempt, run, view(each)) for name, each in given.items()}
        others_are_answered(large, lambda: run("SELECT 1", "bob"))

    def test_a_reference_in_the_options_of_a_function_is_refused(self, site, run):
        line = f"${{files:{site.folder}/users/ann/own.properties:line}}"
        problem = attempt(
            run, f"SELECT to_csv(named_struct('a', CAST(NULL AS STRING)), map('nullValue', '{line}'))"
        )
        assert "the rule names other options" in str(problem)


class TestSingleSession:
    """With ``singleSession`` all users share one session, and nobody can say whose a statement is."""

    def test_rules_about_users_never_match(self, site):
        shared = {"spark.sql.hive.thriftServer.singleSession": "true"}
        with thrift(site, "single", shared) as (first, second, _):
            # Whoever came first, and whoever came last: neither of them is bob to the policy.
            for connection in (first, second):
                assert attempt(lambda text, each=connection: jdbc_rows(each, text), "LIST JARS")
                assert jdbc_rows(connection, "SELECT 1") == [("1",)]
        denied = [record for record in records(site.folder) if record.get("statement") == "list-jars"]
        assert denied
        assert not denied[-1].get("user")


@pytest.mark.sparks(since="4.0")
class TestConnectStatements:
    @pytest.fixture(scope="class")
    @classmethod
    def session(cls, site) -> Iterator[Any]:
        from pyspark.sql.connect.session import SparkSession as ConnectSession

        confs = {
            **UI,
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": f"file://{site.folder}/events",
            "spark.eventLog.compress": "false",
            "spark.sql.catalogImplementation": "in-memory",
            "spark.sql.streaming.checkpointLocation": f"file:{site.folder}/state",
        }
        with connect_server(site, "connect", **confs) as (address, _):
            cls.another = ConnectSession.builder.remote(f"{address}/;user_id=bob").create
            made = cls.another()
            made.sql("CREATE TABLE kept (id BIGINT) USING parquet")
            made.sql(fill(BOUND, site.folder, "connect"))
            made.sql(CONNECTED)
            made.sql(fill(LOGGED, site.folder, "connect"))
            log_of_a_sink(site.folder, "connect_later")
            made.sql(fill(FOOTED, site.folder, "connect"))
            made.sql(fill(LINKED, site.folder, "connect"))
            made.sql(FIELDED)
            yield made
            made.stop()

    @pytest.fixture
    def run(self, session) -> Callable[[str], object]:
        return lambda text: session.sql(text).collect()

    def test_attacks_are_refused(self, site, run):
        all_refused(run, site.folder, "connect")

    def test_honest_statements_work(self, site, run):
        all_work(run, site.folder, "connect")

    def test_a_connection_shows_its_name_alone(self, site, run):
        names_alone(run, "connect")
        # Of all the statements before, too. The page Config lists every reference in use.
        logs = [path.read_text() for path in (site.folder / "events").rglob("*") if path.is_file()]
        events = [line for line in "".join(logs).splitlines() if '"Event":"io.sparkconfig.ui' not in line]
        assert "sparkconfig.connection" in "".join(events)
        for text in (UNSEEN, "private/db.properties", BAIT):
            assert not any(text in event for event in events), text

    def test_the_servers_confs_are_hidden(self, site, session, run):
        confs_are_hidden(run, site.folder)
        told = [session.conf.get(key) for key in ("spark.app.id", "spark.driver.host", "spark.jars")]
        told += [str(session.conf.getAll)] if hasattr(session.conf, "getAll") else []
        assert all("hidden: the operator's policy" in text for text in told)
        assert str(site.folder) not in "".join(told)
        assert session.conf.get("spark.acme.nothing", "own") == "own"
        assert session.conf.get("spark.sql.session.timeZone").count("hidden") == 0

    def test_confs_that_views_and_functions_keep_are_hidden(self, site, session, run):
        hidden_from_statements(run, site.folder)
        hidden_from_catalogs(session, site.folder)

    def test_the_first_thing_that_a_session_does_is_no_guess_either(self, run):
        """It sets a conf as it begins: its answer, and that of its first statement."""
        told = []
        for guess in ("eu-west", "us-east") * 3:
            fresh = self.another()
            told.append(attempt(lambda text, fresh=fresh: fresh.conf.set("spark.acme.region", text), guess))
            assert fresh.sql("SELECT 1 AS a").collect()[0].a == 1
        (answer,) = set(told)
        assert "policy does not allow" in str(answer)

    def test_users_whom_nobody_authenticates_are_in_no_rule(self, run):
        """Anybody may say that he is bob, and the operator has not set spark.config.connect.user.trusted."""
        assert attempt(run, "LIST JARS")

    @pytest.fixture
    def python(self, site, session) -> Callable[[str], object]:
        names = texts_name(session, site.folder)
        return lambda text: eval(text, names)

    def test_what_the_parser_refuses_is_told(self, run):
        """Spark throws there what its parser's interface does not declare."""
        assert re.search(r"INVALID_LABEL_USAGE|SQL_SCRIPTING", str(attempt(run, "BEGIN LEAVE outside; END")))

    def test_python_attacks_are_refused(self, site, python):
        all_refused(python, site.folder, "connect", CONNECT)

    def test_the_log_of_a_sink_is_not_followed(self, site, run, python):
        no_log_is_followed(run, site.folder, "connect", LOGS)
        for text in CONNECT_LOGS:
            attempt(python, fill(text, site.folder, "connect"))

    @pytest.mark.parametrize("part", BEGINNINGS)
    def test_a_megabyte_of_beginnings_is_read_once(self, run, part):
        assert run(f"SELECT length('{(part * 1_000_000)[:1_000_000]}') a")[0].a == 1_000_000

    def test_20000_references_or_6000_options_hold_up_nobody_else(self, site, session):
        other = self.another()

        def read(given: Mapping[str, str]) -> object:
            return session.read.format("jdbc").options(**given).load().schema

        given = options(site.folder, 20_000)
        large = {name: partial(attempt, lambda _, each=each: read(each), "") for name, each in given.items()}
        others_are_answered(large, lambda: other.sql("SELECT 1").collect())

    @pytest.mark.parametrize(
        "text", ["spark.udf.register('peek', lambda a: a)", "spark.sql('ADD JAR a').collect()"]
    )
    def test_a_refusal_has_the_state_of_missing_rights(self, python, text):
        """One comes from a message, and one from a plan."""
        with pytest.raises(AnalysisException) as error:
            python(text)
        assert error.value.getSqlState() == "42501"

    def test_honest_dataframes_work(self, site, python):
        all_work(python, site.folder, "connect", {"DataFrames": CONNECT_HONEST})
