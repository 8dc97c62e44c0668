"""Hadoop keys with references that are set while an application runs, and what a server then gets as its password."""

from __future__ import annotations

import itertools

import pytest

from spark.options.conftest import has_connect
from spark.options.ftp_server import Logins

pytestmark = pytest.mark.spark
_HOSTS = itertools.count(2)


@pytest.fixture(scope="module")
def ftp():
    server = Logins()
    yield server
    server.close()


class Host:
    """One address of the server, with the keys of Hadoop that are about it."""

    def __init__(self, server: Logins) -> None:
        self.address = f"127.0.0.{next(_HOSTS)}"
        self.user, self.password = (f"fs.ftp.{word}.{self.address}" for word in ("user", "password"))
        self.path = f"ftp://{self.address}:{server.port}/orders"
        self._server = server

    def logins(self) -> list[str]:
        return self._server.seen.pop(self.address, [])


@pytest.fixture
def host(ftp, doors) -> Host:
    # Else Hadoop keeps the client that the first read has made, with its password.
    hadoop(doors).set("fs.ftp.impl.disable.cache", "true")
    return Host(ftp)


def read(session, host: Host, **options: str) -> str:
    """Fails, since nobody is let in; returns the error."""
    with pytest.raises(Exception, match=r".") as error:
        session.read.options(**options).text(host.path).count()
    return str(error.value)


def hadoop(doors):
    return doors.classic.sparkContext._jsc.hadoopConfiguration()


def is_value(doors, given: list[str]) -> bool:
    return bool(given) and set(given) == {doors.passwords[-1]}


def set_conf(doors, key, text):
    doors.spark.conf.set(key, text)


def set_in_connect(doors, key, text):
    """And the rest of the test is the client's: a server sets its confs in a way of its own."""
    doors.spark = doors.sessions["connect"]
    doors.spark.conf.set(key, text)


def set_sql(doors, key, text):
    doors.spark.sql(f"SET {key}={text}")


def set_variable(doors, key, text):
    doors.spark.sql(f"SET `{key}`=`{text}`")


def set_hadoop(doors, key, text):
    hadoop(doors).set(key, text)


def set_with_source(doors, key, text):
    hadoop(doors).set(key, text, "a test")


CONF = (set_conf, *([set_in_connect] if has_connect() else []))
DOORS = (*CONF, set_sql, set_variable, set_hadoop, set_with_source)


@pytest.mark.parametrize("put", DOORS)
def test_runtime_hadoop_confs(doors, host, put):
    put(doors, host.user, "ann")
    put(doors, host.password, doors.ref())
    error = read(doors.spark, host)
    assert is_value(doors, host.logins()) is True
    doors.rotate()
    doors.refresh()
    read(doors.spark, host)
    assert is_value(doors, host.logins()) is True
    doors.assert_hidden(error)


@pytest.mark.parametrize("put", DOORS)
def test_a_key_shows_its_reference_wherever_confs_are_listed(doors, host, put):
    put(doors, host.password, doors.ref())
    listed = [str(row) for row in doors.spark.sql("SET -v").collect() + doors.spark.sql("SET").collect()]
    listed.append(str(dict(entry.toString().split("=", 1) for entry in hadoop(doors).iterator())))
    doors.assert_hidden(*listed)
    if put in (set_hadoop, set_with_source):
        assert f"'{host.password}': '{doors.ref()}'" in listed[-1]


def test_an_option_of_a_reader_gives_the_value(doors, host):
    read(doors.spark, host, **{host.user: "ann", host.password: doors.ref()})
    assert is_value(doors, host.logins()) is True


KEYS = (
    "fs.s3a.secret.key",
    "fs.azure.account.key.x",
    "hive.server2.keystore",
    "javax.jdo.option.ConnectionPassword",
)


@pytest.mark.parametrize(
    ("put", "key"), [*((put, KEYS[0]) for put in DOORS), *((set_conf, key) for key in KEYS[1:])]
)
def test_a_key_without_a_value_is_not_set_and_the_session_goes_on(doors, put, key):
    """Neither this session nor another one: a Hadoop configuration is made for each read of files."""
    missing = doors.ref("nothing")
    doors.spark.sql("SELECT 1").collect()
    put(doors, key, doors.ref())
    with pytest.raises(Exception, match="nothing") as error:
        put(doors, key, missing)
    assert key in str(error.value)
    assert_works(doors, doors.spark)
    seen = doors.spark is doors.classic or put in (set_hadoop, set_with_source)
    assert (not seen or made(doors).get(key) == doors.passwords[-1]) is True, "the value of before"
    put(doors, key, "plain")
    assert (not seen or made(doors).get(key) == "plain") is True
    doors.spark.sql(f"RESET {key}")
    hadoop(doors).unset(key)
    assert_works(doors, doors.spark)


@pytest.mark.parametrize(
    ("key", "statement"),
    [
        *(
            (key, "SELECT 1")
            for key in (*KEYS, "hoodie.x.password", "spark.hoodie.x.password", "es.net.http.auth.pass")
        ),
        *(
            (KEYS[0], text)
            for text in ("RESET", "RESET {key}", "SET {key}=plain", "CREATE TEMPORARY VIEW v AS SELECT 1")
        ),
    ],
)
def test_what_was_set_before_the_first_statement_fails_one_statement(doors, key, statement):
    session = doors.classic.newSession()
    session.conf.set(key, doors.ref("nothing"))
    with pytest.raises(Exception, match="was set in the session before this statement") as error:
        session.sql(statement.format(key=key)).collect()
    assert key in str(error.value)
    session.sql(statement.format(key=key)).collect()
    assert_works(doors, session)


def test_a_key_whose_value_is_lost_names_itself_until_it_is_taken_away(doors):
    doors.put(lost="for-a-while")
    doors.spark.conf.set("fs.s3a.secret.key", doors.ref("lost"))
    assert_works(doors, doors.spark)
    del doors.secrets["lost"]
    doors.put()
    with pytest.raises(Exception, match=r"fs\.s3a\.secret\.key.*lost"):
        assert_works(doors, doors.spark)
    assert doors.spark.sql("SELECT 1").count() == 1
    doors.spark.sql("RESET fs.s3a.secret.key")
    assert_works(doors, doors.spark)


def test_a_catalog_without_a_value_is_said_at_each_use_until_it_has_one(doors):
    key, missing = "spark.sql.catalog.shop.password", doors.ref("later")
    doors.secrets.pop("later", None)
    doors.put()
    doors.spark.conf.set(
        "spark.sql.catalog.shop", "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog"
    )
    for name, text in doors.jdbc("x").items():
        doors.spark.conf.set(f"spark.sql.catalog.shop.{name}", text)
    doors.spark.conf.set(key, missing)
    for _ in range(2):
        with pytest.raises(Exception, match="later"):
            doors.spark.sql("SHOW TABLES IN shop.public").collect()
        assert_works(doors, doors.spark)
    doors.put(later=doors.passwords[-1])
    doors.spark.sql("SHOW TABLES IN shop.public").collect()


def assert_works(doors, session):
    rows = doors.path()
    session.range(3).write.csv(rows)
    assert session.read.csv(rows).count() == 3
    assert session.sql(f"SELECT * FROM csv.`{rows}`").count() == 3


def made(doors):
    return doors.classic._jsparkSession.sessionState().newHadoopConf()


@pytest.mark.parametrize("other", ["newSession", "cloneSession"])
def test_other_sessions_of_the_application_have_the_keys_that_the_application_set(doors, host, other):
    set_hadoop(doors, host.user, "ann")
    set_hadoop(doors, host.password, doors.ref())
    made = getattr(doors.classic._jsparkSession, other)()
    with pytest.raises(Exception, match=r"."):
        made.read().text(host.path).count()
    assert is_value(doors, host.logins()) is True


def test_a_clone_has_the_keys_of_its_session_and_a_new_session_has_not(doors, host):
    doors.classic.conf.set(host.password, doors.ref())
    for how, holds in (("cloneSession", True), ("newSession", False)):
        made = getattr(doors.classic._jsparkSession, how)().sessionState().newHadoopConf()
        assert (made.get(host.password) == doors.passwords[-1]) is holds


def test_a_stream_reads_with_the_value(doors, host):
    doors.classic.conf.set(host.user, "ann")
    doors.classic.conf.set(host.password, doors.ref())
    with pytest.raises(Exception, match=r"."):
        doors.classic.readStream.text(host.path).writeStream.format("noop").start().processAllAvailable()
    assert is_value(doors, host.logins()) is True


def test_jobs_without_sql_get_the_value(doors, host):
    set_hadoop(doors, host.user, "ann")
    set_hadoop(doors, host.password, doors.ref())
    with pytest.raises(Exception, match=r"."):
        doors.classic.sparkContext.textFile(host.path).count()
    assert is_value(doors, host.logins()) is True


def test_copies_and_deprecated_names_and_resources_that_are_added_keep_the_value(doors, host):
    configuration = hadoop(doors)
    copied = doors.classic._jvm.org.apache.hadoop.conf.Configuration(configuration)
    copied.set(host.password, doors.ref())
    configuration.set("topology.script.file.name", doors.ref())
    # As each class of HDFS or YARN does that is loaded later.
    doors.classic._jvm.org.apache.hadoop.conf.Configuration.addDefaultResource("another-default.xml")
    names = ("topology.script.file.name", "net.topology.script.file.name")
    assert [configuration.get(name) == doors.passwords[-1] for name in names] == [True, True]
    assert (copied.get(host.password) == doors.passwords[-1]) is True
    configuration.set(host.password, doors.ref())
    assert (configuration.get(host.password) == doors.passwords[-1]) is True
    configuration.set(host.password, "plain")
    assert configuration.get(host.password) == "plain"
    configuration.unset(host.password)
    assert configuration.get(host.password) is None
    doors.assert_hidden(str([entry.toString() for entry in configuration.iterator()]))
    configuration.unset("net.topology.script.file.name")


@pytest.mark.parametrize(
    ("put", "text", "words"),
    [
        *((put, "a ${files:STORE:missing}", "missing") for put in (*CONF, set_sql, set_hadoop)),
        (set_conf, "${fils:a:b}", "fils"),
        (set_conf, "${files:/nowhere/else.properties:pw}", "/nowhere/else.properties"),
    ],
)
def test_a_reference_without_a_value_is_an_error_that_names_the_key(doors, host, put, text, words):
    def use():
        put(doors, host.password, text.replace("STORE", str(doors.secrets_file)))
        doors.spark.read.text(host.path).count()

    with pytest.raises(Exception, match=r".") as error:
        use()
    doors.spark.conf.unset(host.password)
    assert host.password in str(error.value)
    assert words in str(error.value)
    assert host.logins() == []


def test_what_is_no_hadoop_key_and_what_is_no_reference_stays_as_it_is(doors):
    session = doors.classic._jsparkSession
    texts = {
        "spark.shop.password": doors.ref(),
        "sparkconfig.credential.shop": doors.ref(),
        "fs.shop.tmp": "${hadoop.tmp.dir}/shop",
        "fs.shop.home": "${env.NOWHERE-x}",
    }
    for key, text in texts.items():
        doors.classic.conf.set(key, text)
    made = session.sessionState().newHadoopConf()
    assert {key: made.getRaw(key) for key in texts} == texts
    for key in texts:
        doors.classic.conf.unset(key)


@pytest.mark.parametrize(
    ("put", "key"),
    [
        *((set_conf, key) for key in ("spark.es.net.http.auth.pass", "es.net.http.auth.pass")),
        *((put, "hoodie.shop.user") for put in (*CONF, set_sql)),
    ],
)
def test_a_conf_that_a_connector_reads_by_itself_is_refused_when_a_session_sets_it(doors, put, key):
    doors.spark.sql("SELECT 1").collect()
    with pytest.raises(Exception, match=key) as error:
        put(doors, key, doors.ref())
    assert "spark.config.resolve.prefixes" in str(error.value)
    assert doors.spark.conf.get(key, "nothing") == "nothing"
    put(doors, key, "plain")
    assert doors.spark.conf.get(key) == "plain"
    doors.spark.conf.unset(key)


def test_what_a_session_has_set_before_its_first_statement_is_refused_there(doors):
    session = doors.classic.newSession()
    session.conf.set("spark.es.net.http.auth.pass", doors.ref())
    with pytest.raises(Exception, match=r"spark\.es\.net\.http\.auth\.pass"):
        session.sql("SELECT 1").collect()
    session.conf.unset("spark.es.net.http.auth.pass")
    assert session.sql("SELECT 1").collect()[0][0] == 1


def test_a_conf_of_a_connector_that_is_known_and_one_of_the_job_keep_their_reference(doors):
    for key in ("spark.shopdb.pw2", "spark.cosmos.accountKey", "spark.shop.password"):
        doors.classic.conf.set(key, doors.ref())
        assert doors.classic.conf.get(key) == doors.ref()
        doors.classic.conf.unset(key)
