"""Catalogs by confs, session confs, and what is in the event log in the end."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException

from spark.options.compile_sources import CONNECTORS, JOB
from spark.options.conftest import EACH_FRONT
from spark.options.doors import ROLE

pytestmark = pytest.mark.spark


def test_jdbc_catalog(doors):
    doors.postgres.sql(
        "drop table if exists numbers; create table numbers(id int); insert into numbers values (1), (2);"
        'alter table numbers owner to "keeper"',
        database="keeper",
    )
    assert doors.ids(doors.spark.table("pg.public.numbers")) == [1, 2]
    doors.rotate()
    doors.spark.sql("INSERT INTO pg.public.numbers SELECT 3")
    assert doors.ids(doors.spark.sql("SELECT * FROM pg.public.numbers")) == [1, 2, 3]


@EACH_FRONT
@pytest.mark.parametrize("how", ["conf.set", "SET"])
def test_catalogs_of_a_session(doors, how):
    def put(key, text):
        if how == "SET":
            doors.spark.sql(f"SET {key}={text}")
        else:
            doors.spark.conf.set(key, text)

    name, jdbc = doors.table("late"), doors.table("latepg")
    put(f"spark.sql.catalog.{name}", "sparkconfigtest.StoreCatalog")
    put(f"spark.sql.catalog.{name}.password", doors.ref())
    assert doors.spark.sql(f"SHOW TABLES IN {name}.ns").collect() == []
    put(f"spark.sql.catalog.{jdbc}", "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog")
    put(f"spark.sql.catalog.{jdbc}.url", doors.ref("url"))
    put(f"spark.sql.catalog.{jdbc}.driver", "org.postgresql.Driver")
    put(f"spark.sql.catalog.{jdbc}.user", "keeper")
    put(f"spark.sql.catalog.{jdbc}.password", doors.ref())
    doors.rotate()
    assert doors.spark.sql(f"SHOW TABLES IN {jdbc}.public") is not None
    assert doors.store.refusals() == ""
    # Since 4.1 a Connect client is told nothing about confs whose keys Spark's redaction.regex matches.
    assert doors.spark.conf.get(f"spark.sql.catalog.{jdbc}.password", doors.ref()) == doors.ref()


def kept_catalog(doors) -> str:
    """A catalog that keeps the password that it was loaded with, set up in the session at hand."""
    name = doors.table("kept")
    doors.spark.conf.set(f"spark.sql.catalog.{name}", "sparkconfigtest.KeptCatalog")
    doors.spark.conf.set(f"spark.sql.catalog.{name}.password", doors.ref())
    doors.spark.conf.set(f"spark.sql.catalog.{name}.region", "north")
    return name


def test_a_catalog_is_loaded_anew_when_its_values_change(doors):
    name, kept = kept_catalog(doors), doors.classic._jvm.sparkconfigtest.KeptCatalog
    before = kept.loaded()
    for rotations in (1, 2):
        for _ in range(3):
            doors.spark.sql(f"SHOW TABLES IN {name}.ns").collect()
        assert kept.loaded() == before + rotations
        doors.put(other=f"of another catalog {rotations}")
        doors.refresh()
        doors.spark.sql(f"SHOW TABLES IN {name}.ns").collect()
        assert kept.loaded() == before + rotations
        doors.rotate()
        doors.refresh()
    # As with stock Spark, a catalog does not follow confs that are set after it was loaded.
    doors.spark.conf.set(f"spark.sql.catalog.{name}.password", "of nobody")
    doors.spark.sql(f"SHOW TABLES IN {name}.ns").collect()
    assert (kept.loaded(), doors.store.refusals()) == (before + 3, "")


def test_a_loaded_catalog_whose_secret_goes_fails_and_names_it(doors):
    name = kept_catalog(doors)
    doors.spark.sql(f"SHOW TABLES IN {name}.ns").collect()
    password = doors.secrets.pop("pw")
    doors.put()
    doors.refresh()
    try:
        with pytest.raises(AnalysisException, match=f"catalog {name}"):
            doors.spark.sql(f"SHOW TABLES IN {name}.ns").collect()
    finally:
        doors.put(pw=password)
    doors.spark.sql(f"SHOW TABLES IN {name}.ns").collect()


def test_streams_of_a_catalogs_table_follow_at_their_start(doors):
    table = f"{kept_catalog(doors)}.ns.{doors.table()}"
    doors.spark.sql(f"CREATE TABLE {table} (id bigint) USING anything")
    doors.fill(1)
    held, out, checkpoint = doors.spark.readStream.table(table), doors.path(), doors.path("checkpoint")
    for number in (2, 3):
        query = (
            held.writeStream.format("parquet").option("path", out).option("checkpointLocation", checkpoint)
            .trigger(availableNow=True).start()
        )  # fmt: skip
        assert query.awaitTermination(60)
        doors.store.put(number)
        doors.rotate()
        doors.refresh()
    assert doors.ids(doors.spark.read.parquet(out)) == [1, 2]
    assert doors.ids(doors.spark.table(table)) == [1, 2, 3]
    assert doors.store.refusals() == ""
    doors.spark.sql(f"DROP TABLE {table}")


def test_a_catalogs_missing_secret_is_named(doors):
    name = doors.table("bad")
    doors.spark.conf.set(f"spark.sql.catalog.{name}", "sparkconfigtest.StoreCatalog")
    doors.spark.conf.set(f"spark.sql.catalog.{name}.password", doors.ref("nobody"))
    with pytest.raises(AnalysisException, match=f"catalog {name}") as error:
        doors.spark.sql(f"SHOW TABLES IN {name}.ns").collect()
    assert doors.ref("nobody") in str(error.value)


@pytest.mark.parametrize("package", CONNECTORS)
def test_cosmos_connector(application, package):
    """And each other that reads confs by itself: its package gets values of its own prefix, the newest at each read."""
    spark, jvm, key = application.classic, application.classic._jvm, CONNECTORS[package]
    spark.range(1).collect()
    client, job = (getattr(jvm, f"{each}.Client") for each in (package, JOB))
    for _ in range(2):
        application.refresh()
        newest = application.passwords[-1]
        assert [text == newest for text in client.reads(spark._jsparkSession, key)] == [True] * 6
        assert set(job.reads(spark._jsparkSession, key)) == {application.ref()}
        application.rotate()
    others = [each for each in CONNECTORS.values() if each != key]
    assert {text for each in others for text in client.reads(spark._jsparkSession, each)} == {
        application.ref()
    }
    assert spark.conf.get(key) == application.ref()
    assert dict(spark.sparkContext.getConf().getAll())[key] == application.ref()
    copied = spark.newSession()
    copied.range(1).collect()
    assert copied.conf.get(key) == application.ref()


def test_a_connector_reads_a_session_that_has_run_nothing(application):
    """As the first load() of a session does on 3.5: it connects before anything is analysed."""
    fresh = application.classic.newSession()
    jvm, session = application.classic._jvm, fresh._jsparkSession
    session.sessionState()
    active = jvm.org.apache.spark.sql.SparkSession
    active.setActiveSession(session)
    try:
        application.refresh()
        theirs = list(jvm.shopdb.connector.Client.reads(session, "spark.shopdb.pw"))
    finally:
        active.setActiveSession(application.classic._jsparkSession)
    newest = application.passwords[-1]
    assert [text == newest for text in theirs] == [True] * 6


def test_a_library_opens_connections_by_itself(application):
    """As Iceberg's JDBC catalog and connection pools do, by `jdbc:sparkconfig:`."""
    jvm = application.classic._jvm
    url = application.postgres.jdbc_url(ROLE).replace("jdbc:", "jdbc:sparkconfig:")

    def connected(user: str = ROLE) -> int:
        connection = jvm.java.sql.DriverManager.getConnection(url, user, application.ref())
        try:
            answer = connection.createStatement().executeQuery("select 7")
            assert answer.next()
            return int(answer.getInt(1))
        finally:
            connection.close()

    for _ in range(3):
        assert connected() == 7
        application.rotate()
    with pytest.raises(Exception, match="authentication failed") as error:
        connected("nobody")
    assert application.ref() in str(error.value)
    application.assert_hidden(str(error.value))
    with pytest.raises(Exception, match="nobody"):
        jvm.java.sql.DriverManager.getConnection(url, ROLE, application.ref("nobody"))
    with pytest.raises(Exception, match="no JDBC driver takes URLs that begin with 'jdbc:nothing:'"):
        jvm.java.sql.DriverManager.getConnection("jdbc:sparkconfig:nothing:x", ROLE, application.ref())
    # Spark's own source connects through it too.
    options = application.jdbc("(select 7 as id) t", url=url)
    assert application.ids(application.classic.read.format("jdbc").options(**options).load()) == [7]


def test_a_session_catalog_that_delegates(application):
    spark = application.classic.newSession()
    name = application.table("delegated")
    application.rotate()
    application.store.clear()
    spark.conf.set("spark.sql.catalog.spark_catalog.password", application.ref())
    spark.conf.set("spark.sql.catalog.spark_catalog", "sparkconfigtest.StoreSessionCatalog")
    spark.sql(f"CREATE TABLE {name} (id INT) USING parquet")
    try:
        assert [row.tableName for row in spark.sql(f"SHOW TABLES LIKE '{name}'").collect()] == [name]
        assert spark.sql("SHOW NAMESPACES IN spark_catalog").collect()
        spark.sql(f"INSERT INTO {name} VALUES (7)")
        assert [row.id for row in spark.table(name).collect()] == [7]
        application.rotate()
        application.refresh()
        assert [row.id for row in spark.table(name).collect()] == [7]
        # It was loaded again, with the new password, and works through Spark's catalog again.
        assert application.store.entries("session catalog") == 2
    finally:
        spark.sql(f"DROP TABLE {name}")
    assert application.store.refusals() == ""


@EACH_FRONT
def test_confs_that_spark_adds_to_the_options_of_a_source(doors):
    doors.fill(1, 2)
    key = "spark.datasource.keyedv2.password"
    doors.spark.conf.set(key, doors.ref())
    try:
        assert doors.ids(doors.spark.read.format("keyedv2").load()) == [1, 2]
        doors.rotate()
        doors.spark.range(3, 4).write.format("keyedv2").mode("append").save()
    finally:
        doors.spark.conf.unset(key)
    assert (doors.stored(), doors.store.refusals()) == ([1, 2, 3], "")


@EACH_FRONT
@pytest.mark.parametrize("how", ["conf.set", "SET"])
def test_session_confs_keep_references_that_options_can_use(doors, how):
    doors.fill(1)
    key = doors.table("my.conf")
    if how == "SET":
        doors.spark.sql(f"SET {key}={doors.ref()}")
    else:
        doors.spark.conf.set(key, doors.ref())
    assert doors.spark.conf.get(key) == doors.ref()
    doors.assert_hidden(str(doors.spark.sql(f"SET {key}").collect()), str(doors.spark.sql("SET -v").count()))
    frame = doors.spark.read.format("storev1").option("password", doors.spark.conf.get(key)).load()
    assert doors.ids(frame) == [1]
    # Spark replaces ${key} in SQL texts by the conf's text: the reference arrives there too.
    table = doors.table()
    doors.spark.sql(f"CREATE TABLE {table} USING storev1 OPTIONS (password '${{{key}}}')")
    assert doors.ids(doors.spark.table(table)) == [1]
    doors.spark.sql(f"DROP TABLE {table}")


@pytest.mark.sparks(since="4.1")
def test_a_connect_client_is_refused_confs_with_a_password_by_spark_itself(application):
    connect = application.sessions["connect"]
    connect.conf.set("my.password", "plain")
    connect.conf.set("my.note", "${vault:db/prod:password}")
    for key in ("my.password", "my.note"):
        with pytest.raises(Exception, match=key):
            connect.conf.get(key)


def test_sessions_do_not_see_each_others_confs_and_catalogs(doors):
    other = doors.classic.newSession()
    key, name = doors.table("my.own"), doors.table("own")
    doors.spark.conf.set(key, doors.ref())
    doors.spark.conf.set(f"spark.sql.catalog.{name}", "sparkconfigtest.StoreCatalog")
    doors.spark.conf.set(f"spark.sql.catalog.{name}.password", doors.ref())
    doors.spark.sql(f"SHOW TABLES IN {name}.ns").collect()
    assert other.conf.get(key, "nothing") == "nothing"
    with pytest.raises(Exception, match=name):
        other.sql(f"SHOW TABLES IN {name}.ns").collect()


def test_hadoop_credentials(application):
    configuration = application.classic._jsc.hadoopConfiguration()
    for _ in range(2):
        assert "".join(configuration.getPassword("store.pw")) == application.passwords[-1]
        application.rotate()
    assert configuration.getRaw("sparkconfig.credential.store.pw") == application.ref()
    assert configuration.getPassword("nobody") is None
    copy = application.classic._jvm.org.apache.hadoop.conf.Configuration(configuration)
    copy.set("store.other", application.ref())
    assert "".join(copy.getPassword("store.other")) == application.passwords[-1]
