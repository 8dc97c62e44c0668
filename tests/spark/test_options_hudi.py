"""Hudi, whose commands read options and table properties by themselves: values, or an error; never the text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException

from support.maven import maven_jars
from support.processes import Run
from support.session import running_session
from support.shim import shim_jar

pytestmark = [
    pytest.mark.spark,
    pytest.mark.sparks(before="4.0"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

CACHE = Path(__file__).parents[2] / ".cache"
BUNDLE = "org.apache.hudi:hudi-spark3.5-bundle_2.12:1.0.2"
VALUE = "shop_table_4711"
KEY = "hoodie.client.password"
OURS, HUDIS = "io.sparkconfig.ConfigExtensions", "org.apache.spark.sql.hudi.HoodieSparkSessionExtension"
CATALOG = {"spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog"}


class Lake:
    def __init__(self, spark: Any, folder: Path) -> None:
        self.spark, self.folder, self.made = spark, folder, 0
        self.ref = f"${{files:{folder}/store.properties:name}}"

    def new(self) -> str:
        self.made += 1
        return f"t{self.made}"

    def table(self) -> str:
        name = self.new()
        self.spark.sql(
            f"CREATE TABLE {name} (id bigint, ts bigint) USING hudi TBLPROPERTIES (primaryKey 'id')"
        )
        return name

    def properties(self, path: Path) -> str:
        return (path / ".hoodie" / "hoodie.properties").read_text()


@pytest.fixture(
    scope="module",
    params=["hudi first", "hudi last", "its catalog"],
)
def lake(request, harness_run: Run, tmp_path_factory) -> Iterator[Lake]:
    folder = tmp_path_factory.mktemp("hudi")
    (folder / "store.properties").write_text(f"name={VALUE}\n")
    jars = [shim_jar(), *maven_jars(harness_run, "hudi-3.5-1.0.2", [BUNDLE], cache=CACHE, transitive=False)]
    conf = {
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.jars": "",
        "spark.driver.extraClassPath": ":".join(map(str, jars)),
        "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
        "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
        "spark.sql.extensions": f"{OURS},{HUDIS}" if request.param == "hudi last" else HUDIS,
        "spark.sql.shuffle.partitions": "1",
        "spark.config.providers": "files",
        "spark.config.providers.files.class": "file",
        "spark.config.providers.files.param.allowed.paths": str(folder),
        **(CATALOG if request.param == "its catalog" else {}),
    }
    with running_session(conf, folder=folder) as spark:
        yield Lake(spark, folder)


def rows(lake: Lake, first: int, last: int) -> Any:
    return lake.spark.range(first, last).selectExpr("id", "id AS ts")


def writer(lake: Lake) -> Any:
    return rows(lake, 0, 1).write.format("hudi")


def options(name: str) -> dict[str, str]:
    return {
        "hoodie.table.name": name,
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.datasource.write.precombine.field": "ts",
        "hoodie.datasource.write.partitionpath.field": "",
    }


COMMANDS = {
    "properties": "CREATE TABLE {new} (id bigint) USING hudi TBLPROPERTIES (primaryKey 'id', '{key}' '{ref}')",
    "options": "CREATE TABLE {new} (id bigint) USING hudi OPTIONS (primaryKey 'id', '{key}' '{ref}')",
    "upper case": "CREATE TABLE {new} (id bigint) USING HUDI OPTIONS (primaryKey 'id', '{key}' '{ref}')",
    "by class": "CREATE TABLE {new} (id bigint) USING org.apache.hudi OPTIONS (primaryKey 'id', '{key}' '{ref}')",
    "part of a text": "CREATE TABLE {new} (id bigint) USING hudi OPTIONS (primaryKey 'id', '{key}' 'x={ref};')",
    "as select": "CREATE TABLE {new} USING hudi TBLPROPERTIES (primaryKey 'id', '{key}' '{ref}') AS SELECT 1L id",
    "as select, options": "CREATE TABLE {new} USING hudi OPTIONS (primaryKey 'id', '{key}' '{ref}') AS SELECT 1L id",
    "if not exists": "CREATE TABLE IF NOT EXISTS {new} (id bigint) USING hudi TBLPROPERTIES ('{key}' '{ref}')",
    "like": "CREATE TABLE {new} LIKE {old} USING hudi TBLPROPERTIES ('{key}' '{ref}')",
    "alter": "ALTER TABLE {old} SET TBLPROPERTIES ('{key}' = '{ref}')",
    "serde": "ALTER TABLE {old} SET SERDEPROPERTIES ('{key}' = '{ref}')",
    "a key of no reader": "CREATE TABLE {new} (id bigint) USING hudi OPTIONS (primaryKey 'id', shop '{ref}')",
    "connection": "CREATE TABLE {new} (id bigint) USING hudi OPTIONS (primaryKey 'id', sparkconfig.connection 'shop')",
}


@pytest.mark.parametrize("way", COMMANDS)
def test_a_table_that_would_keep_a_reference_is_refused(lake: Lake, way: str) -> None:
    new, old = lake.new(), lake.table()
    with pytest.raises(AnalysisException) as error:
        lake.spark.sql(COMMANDS[way].format(new=new, old=old, key=KEY, ref=lake.ref)).collect()
    said = str(error.value)
    key = {"a key of no reader": "shop", "connection": "sparkconfig.connection"}.get(way, KEY)
    assert f"'{key}'" in said
    assert "save()" in said or "CREATE TEMPORARY VIEW" in said
    assert not lake.spark.catalog.tableExists(new)


WRITERS = {
    "saveAsTable": lambda lake, name: (
        writer(lake).options(**options(name)).option(KEY, lake.ref).saveAsTable(name)
    ),
    "option": lambda lake, name: rows(lake, 0, 1).writeTo(name).using("hudi").option(KEY, lake.ref).create(),
    "property": lambda lake, name: (
        rows(lake, 0, 1).writeTo(name).using("hudi").tableProperty(KEY, lake.ref).create()
    ),
    "catalog": lambda lake, name: lake.spark.catalog.createTable(
        name, source="hudi", schema=rows(lake, 0, 1).schema, **{KEY: lake.ref}
    ),
}


@pytest.mark.parametrize("way", WRITERS)
def test_a_table_of_a_writer_is_refused(lake: Lake, way: str) -> None:
    name = lake.new()
    with pytest.raises(AnalysisException, match=KEY):
        WRITERS[way](lake, name)
    assert not lake.spark.catalog.tableExists(name)


def test_a_conf_of_the_session_is_refused(lake: Lake) -> None:
    for set_it in (
        lambda: lake.spark.sql(f"SET {KEY}={lake.ref}"),
        lambda: lake.spark.conf.set(KEY, lake.ref),
        lambda: lake.spark.conf.set("spark." + KEY, lake.ref),
    ):
        with pytest.raises(Exception, match="Hudi") as error:
            set_it()
        assert KEY in str(error.value)


@pytest.mark.parametrize(
    "call",
    [
        "CALL run_clustering(table => '{table}', options => '{key}={ref}')",
        "CALL run_compaction(op => 'run', table => '{table}', options => 'a=b,{key}={ref}')",
        "CALL show_commits('{ref}')",
        "CALL run_clean(table => '{table}', options => '{ref}')",
    ],
)
def test_an_argument_of_a_procedure_is_refused(lake: Lake, call: str) -> None:
    with pytest.raises(AnalysisException, match="An argument of CALL"):
        lake.spark.sql(call.format(table=lake.table(), key=KEY, ref=lake.ref)).collect()
    assert lake.spark.sql(f"CALL show_commits(table => '{lake.table()}', limit => 1)").collect() == []


def test_save_and_load_give_values(lake: Lake) -> None:
    path = lake.folder / lake.new()
    for first in (0, 2):
        writer = rows(lake, first, first + 2).write.format("hudi").options(**options(lake.ref))
        writer.mode("append").save(str(path))
    assert f"hoodie.table.name={VALUE}" in lake.properties(path)
    frame = lake.spark.read.format("hudi").option("hoodie.shop", lake.ref).load(str(path))
    assert sorted(row.id for row in frame.collect()) == [0, 1, 2, 3]


def test_a_stream_by_the_format_of_hudi_is_refused_and_the_wrapper_gives_values(lake: Lake) -> None:
    rows(lake, 0, 3).write.parquet(str(lake.folder / f"in-{lake.new()}"))
    source = lake.folder / f"in-t{lake.made}"

    def writer(name: str) -> Any:
        frame = lake.spark.readStream.schema("id bigint, ts bigint").parquet(str(source))
        return (
            frame.writeStream.format(name).options(**options(lake.ref))
            .option("checkpointLocation", str(lake.folder / f"checkpoint-{lake.new()}"))
            .option("path", str(lake.folder / f"stream-{lake.made}")).trigger(availableNow=True)
        )  # fmt: skip

    with pytest.raises(AnalysisException, match=r"hoodie\.table\.name.*sparkconfig\.format"):
        writer("hudi").start()
    assert writer("sparkconfig").option("sparkconfig.format", "hudi").start().awaitTermination(120)
    assert f"hoodie.table.name={VALUE}" in lake.properties(lake.folder / f"stream-{lake.made}")


def test_what_holds_no_reference_works_as_before(lake: Lake) -> None:
    """A merge reads a table of another source, which has its value."""
    spark, table, view, text = lake.spark, lake.table(), lake.new(), lake.folder / f"text-{lake.new()}"
    text.mkdir()
    (text / "rows").write_text(f"2{VALUE}20\n")
    spark.sql(
        f"CREATE TABLE {view} (id bigint, ts bigint) USING csv OPTIONS (sep '{lake.ref}', path '{text}')"
    )
    spark.sql(f"INSERT INTO {table} VALUES (1, 1), (2, 2), (3, 3)")
    spark.sql(f"UPDATE {table} SET ts = 10 WHERE id = 1")
    spark.sql(f"MERGE INTO {table} t USING {view} s ON t.id = s.id WHEN MATCHED THEN UPDATE SET t.ts = s.ts")
    spark.sql(f"DELETE FROM {table} WHERE id = 3")
    spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES (note = 'text')")
    spark.sql(f"INSERT INTO {table} VALUES (4, 4)")
    found = spark.table(table).select("id", "ts").collect()
    assert sorted(map(tuple, found)) == [(1, 10), (2, 20), (4, 4)]
