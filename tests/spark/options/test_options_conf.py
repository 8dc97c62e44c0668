"""Catalogs by confs, session confs, and what is in the event log in the end."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException

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


def test_a_catalogs_missing_secret_is_named(doors):
    name = doors.table("bad")
    doors.spark.conf.set(f"spark.sql.catalog.{name}", "sparkconfigtest.StoreCatalog")
    doors.spark.conf.set(f"spark.sql.catalog.{name}.password", doors.ref("nobody"))
    with pytest.raises(AnalysisException, match=f"catalog {name}") as error:
        doors.spark.sql(f"SHOW TABLES IN {name}.ns").collect()
    assert doors.ref("nobody") in str(error.value)


def test_a_session_catalog_that_delegates(application):
    spark = application.classic.newSession()
    name = application.table("delegated")
    application.rotate()
    spark.conf.set("spark.sql.catalog.spark_catalog.password", application.ref())
    spark.conf.set("spark.sql.catalog.spark_catalog", "sparkconfigtest.StoreSessionCatalog")
    spark.sql(f"CREATE TABLE {name} (id INT) USING parquet")
    try:
        assert [row.tableName for row in spark.sql(f"SHOW TABLES LIKE '{name}'").collect()] == [name]
        assert spark.sql("SHOW NAMESPACES IN spark_catalog").collect()
        spark.sql(f"INSERT INTO {name} VALUES (7)")
        assert [row.id for row in spark.table(name).collect()] == [7]
    finally:
        spark.sql(f"DROP TABLE {name}")
    assert application.store.refusals() == ""


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


def test_a_connect_client_is_refused_confs_with_a_password_by_spark_itself(application):
    if "connect" not in application.sessions or application.classic.version < "4.1":
        pytest.skip("this Spark has no such rule")
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


def test_the_event_log_shows_no_password(doors):
    files = [path for path in (doors.folder / "events").rglob("*") if path.is_file()]
    text = "\n".join(path.read_text() for path in files)
    assert "SQLExecutionStart" in text
    doors.assert_hidden(text)
