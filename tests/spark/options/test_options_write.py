"""Batch writes and V2 catalogs' tables: what is written arrives, with the password of the moment."""

from __future__ import annotations

from pathlib import Path

import pyspark
import pytest
from pyspark.errors import AnalysisException

from spark.options.conftest import EACH_FRONT

#: 3.5 has no WITH (options) in SQL.
SPARK_4 = not pyspark.__version__.startswith("3.")

pytestmark = pytest.mark.spark


def ids(doors, *numbers):
    return doors.spark.createDataFrame([(number,) for number in numbers], "id bigint")


@EACH_FRONT
@pytest.mark.parametrize("source", ["storev1", "storev2"])
def test_save(doors, source):
    for number in (1, 2):
        ids(doors, number).write.format(source).option("password", doors.ref()).mode("append").save()
        doors.rotate()
    assert doors.stored() == [1, 2]
    assert doors.store.refusals() == ""


def test_v2_overwrite(doors):
    doors.fill(1)
    ids(doors, 2).write.format("storev2").option("password", doors.ref()).mode("overwrite").save()
    assert doors.stored() == [2]


@EACH_FRONT
def test_jdbc(doors):
    table = doors.table("written")
    for mode in ("append", "append", "overwrite"):
        ids(doors, 1, 2).write.format("jdbc").options(**doors.jdbc(table)).mode(mode).save()
        doors.rotate()
    options = doors.jdbc(doors.ref("written"), url=doors.ref("url"))
    doors.put(written=table)
    ids(doors, 3).write.format("jdbc").options(**options).mode("append").save()
    properties = {key: options[key] for key in ("driver", "user", "password")}
    ids(doors, 4).write.jdbc(doors.jdbc(table)["url"], table, mode="append", properties=properties)
    assert doors.postgres.sql(f"select id from {table} order by id", database="keeper").split() == [
        "1",
        "2",
        "3",
        "4",
    ]


@EACH_FRONT
@pytest.mark.parametrize("layout", ["plain", "partitioned", "v2"])
def test_csv(doors, layout):
    folder = doors.path("csv")
    doors.put(separator="|+|")
    writer = doors.spark.sql("SELECT 1 a, 'x' b, 7 p").write.option("sep", doors.ref("separator"))
    if layout == "partitioned":
        writer = writer.partitionBy("p")
    if layout == "v2":
        doors.spark.conf.set("spark.sql.sources.useV1SourceList", "")
    try:
        writer.csv(folder)
    finally:
        doors.spark.conf.unset("spark.sql.sources.useV1SourceList")
    written = "".join(path.read_text() for path in Path(folder).rglob("part-*.csv"))
    assert written == ("1|+|x\n" if layout == "partitioned" else "1|+|x|+|7\n")


def test_write_to_a_path_by_reference(doors):
    doors.put(target=doors.path("target"))
    ids(doors, 1).write.parquet(doors.secrets["target"])
    assert doors.spark.read.parquet(doors.ref("target")).count() == 1


@EACH_FRONT
def test_save_as_table(doors):
    table = doors.table()
    for mode in ("overwrite", "append"):
        ids(doors, 1).write.format("storev1").option("password", doors.ref()).mode(mode).saveAsTable(table)
        doors.rotate()
    assert doors.ids(doors.spark.table(table)) == [1, 1]
    doors.spark.sql(f"DROP TABLE {table}")


def test_bucketed_save_as_table(doors):
    table = doors.table()
    frame = doors.spark.range(20).selectExpr("id", "id % 3 p")
    writer = frame.write.format("csv").option("header", doors.ref("true"))
    writer.partitionBy("p").bucketBy(2, "id").sortBy("id").saveAsTable(table)
    assert doors.spark.table(table).where("id is not null").count() == 20
    doors.spark.sql(f"INSERT INTO {table} SELECT 20L, 2L")
    assert doors.spark.table(table).where("p = 2").count() == 7
    doors.spark.sql(f"DROP TABLE {table}")


@EACH_FRONT
def test_tables_of_a_v2_catalog(doors):
    table = f"store.ns.{doors.table()}"
    doors.spark.sql(f"CREATE TABLE {table} (id bigint) USING anything")
    ids(doors, 1).writeTo(table).option("password", doors.ref()).append()
    doors.rotate()
    if SPARK_4:
        doors.spark.sql(f"INSERT INTO {table} WITH (password = '{doors.ref()}') SELECT 2L")
    else:
        ids(doors, 2).writeTo(table).option("password", doors.ref()).append()
    ids(doors, 3).write.option("password", doors.ref()).insertInto(table)
    ids(doors, 4).write.format("storev2").option("password", doors.ref()).mode("append").saveAsTable(table)
    assert doors.stored() == [1, 2, 3, 4]
    assert doors.ids(doors.spark.read.option("password", doors.ref()).table(table)) == [1, 2, 3, 4]
    doors.rotate()
    if SPARK_4:
        selected = doors.spark.sql(f"SELECT * FROM {table} WITH (password = '{doors.ref()}')")
        assert doors.ids(selected) == [1, 2, 3, 4]
    assert doors.store.refusals() == ""
    doors.spark.sql(f"DROP TABLE {table}")


@EACH_FRONT
@pytest.mark.parametrize("source", ["storev1", "storev2", "jdbc"])
def test_a_missing_secret_is_named(doors, source):
    options = {**doors.jdbc(doors.ref("nobody")), "password": doors.ref("nobody")}
    writer = ids(doors, 1).write.format(source).options(**options).mode("append")
    with pytest.raises(AnalysisException) as error:
        writer.save()
    assert doors.ref("nobody") in str(error.value)
    doors.assert_hidden(str(error.value))
    assert doors.store.refusals() == ""


@EACH_FRONT
@pytest.mark.parametrize("source", ["storev1", "eagerv2", "jdbc"])
def test_wrapper_format(doors, source):
    table = doors.table("wrapped")
    options = {**doors.jdbc(table), "sparkconfig.format": source}
    ids(doors, 1).write.format("sparkconfig").options(**options).mode("append").save()
    if source == "jdbc":
        assert doors.postgres.sql(f"select id from {table}", database="keeper").split() == ["1"]
    else:
        assert doors.stored() == [1]
    assert doors.store.refusals() == ""
    folder = doors.path("csv")
    doors.put(separator="|+|")
    frame = (
        doors.spark.sql("SELECT 1 a, 'x' b").write.format("sparkconfig").option("sparkconfig.format", "csv")
    )
    frame.option("sep", doors.ref("separator")).save(folder)
    assert "".join(path.read_text() for path in Path(folder).glob("part-*")) == "1|+|x\n"


def test_the_wrapper_format_does_not_read(doors):
    reader = doors.spark.read.format("sparkconfig").option("sparkconfig.format", "storev1")
    with pytest.raises(AnalysisException, match=r"CREATE TEMPORARY VIEW name USING storev1"):
        reader.option("password", doors.ref()).load().collect()
    assert doors.store.refusals() == ""
