"""Tables and views in SQL: the catalog keeps the reference, the source gets the value."""

from __future__ import annotations

from pathlib import Path

import pyspark
import pytest
from pyspark.errors import AnalysisException, IllegalArgumentException

from spark.options.conftest import EACH_FRONT

pytestmark = pytest.mark.spark


def shown(doors, table: str) -> str:
    """Everything that the catalog says about a table."""
    parts = [
        *doors.spark.sql(f"SHOW CREATE TABLE {table}").collect(),
        *doors.spark.sql(f"DESCRIBE EXTENDED {table}").collect(),
        *doors.spark.sql(f"SHOW TBLPROPERTIES {table}").collect(),
    ]
    return "\n".join(str(row) for row in parts)


@EACH_FRONT
@pytest.mark.parametrize("schema", ["", "(id bigint)"], ids=["inferred", "given"])
def test_v1_table(doors, schema):
    doors.fill(1)
    table = doors.table()
    doors.spark.sql(f"CREATE TABLE {table} {schema} USING storev1 OPTIONS (password '{doors.ref()}')")
    assert doors.ids(doors.spark.table(table)) == [1]
    doors.rotate()
    assert doors.ids(doors.spark.sql(f"SELECT * FROM {table} a JOIN {table} b USING (id)")) == [1]
    doors.spark.sql(f"INSERT INTO {table} SELECT 2L")
    doors.spark.range(3, 4).write.insertInto(table)
    doors.rotate()
    doors.spark.sql(f"REFRESH TABLE {table}")
    doors.spark.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('note' = '{doors.ref()}')")
    assert doors.ids(doors.spark.table(table)) == [1, 2, 3]
    text = shown(doors, table)
    doors.assert_hidden(text)
    assert doors.store.refusals() == ""
    doors.spark.sql(f"CREATE TABLE IF NOT EXISTS {table} USING storev1 OPTIONS (password '{doors.ref()}')")
    with pytest.raises(AnalysisException, match="ALREADY_EXISTS"):
        doors.spark.sql(f"CREATE TABLE {table} USING storev1 OPTIONS (password '{doors.ref()}')")
    doors.spark.sql(f"DROP TABLE {table}")


def test_names_in_a_permanent_view_mean_what_they_meant_when_it_was_made(doors):
    """A temporary view that has a table's name by now, and another current database, do not count."""
    doors.fill(1)
    table, view = doors.table(), doors.table("v")
    doors.put(columns="a-b")
    doors.spark.sql(f"CREATE TABLE {table} USING storev1 OPTIONS (password '{doors.ref()}')")
    doors.spark.sql(f"CREATE VIEW {view} AS SELECT * FROM {table}")
    other = "CREATE TEMPORARY VIEW {} USING sparkconfigtest.LazyV1Source OPTIONS (columns '{}')"
    doors.spark.sql(other.format(table, doors.ref("columns"))).collect()
    doors.spark.sql("CREATE DATABASE IF NOT EXISTS elsewhere")
    try:
        assert doors.ids(doors.spark.table(view)) == [1]
        doors.put(columns="b-a")
        doors.rotate()
        assert doors.ids(doors.spark.table(view)) == [1]
        doors.spark.sql("USE elsewhere")
        assert doors.ids(doors.spark.table(f"default.{view}")) == [1]
    finally:
        doors.spark.sql("USE default")
        doors.spark.catalog.dropTempView(table)
    assert doors.store.refusals() == ""
    doors.spark.sql(f"DROP VIEW {view}")
    doors.spark.sql(f"DROP TABLE {table}")


@pytest.mark.sparks(since="4.0")  # on 3.5 a reader's options reach a V1 table's source as they are written
@EACH_FRONT
def test_what_a_reader_adds_to_a_v1_table_is_nobody_elses(doors):
    doors.fill(1)
    table = doors.table()
    doors.spark.sql(f"CREATE TABLE {table} (id bigint) USING sparkconfigtest.LazyV1Source")
    assert doors.ids(doors.spark.read.option("password", doors.ref()).table(table)) == [1]
    with pytest.raises(Exception, match="given nothing"):
        doors.ids(doors.spark.table(table))
    with pytest.raises(Exception, match="given nothing"):
        doors.spark.sql(f"INSERT INTO {table} SELECT 2L").collect()
    assert doors.stored() == [1]
    doors.spark.sql(f"DROP TABLE {table}")


def test_v1_table_in_a_view_a_subquery_and_a_cte(doors):
    doors.fill(1, 2)
    table, view = doors.table(), doors.table("v")
    doors.spark.sql(f"CREATE TABLE {table} USING storev1 OPTIONS (password '{doors.ref()}')")
    doors.spark.sql(f"CREATE VIEW {view} AS SELECT id FROM {table} WHERE id > 1")
    doors.rotate()
    assert doors.ids(doors.spark.table(view)) == [2]
    assert doors.ids(doors.spark.sql(f"SELECT id FROM range(5) WHERE id IN (SELECT id FROM {table})")) == [
        1,
        2,
    ]
    assert doors.ids(doors.spark.sql(f"WITH x AS (SELECT * FROM {table}) SELECT id FROM x")) == [1, 2]
    assert doors.store.refusals() == ""
    doors.spark.sql(f"DROP VIEW {view}")
    doors.spark.sql(f"DROP TABLE {table}")


def test_cached_table_is_read_from_the_cache(doors):
    doors.fill(1)
    table = doors.table()
    doors.spark.sql(f"CREATE TABLE {table} USING storev1 OPTIONS (password '{doors.ref()}')")
    doors.spark.sql(f"CACHE TABLE {table}")
    doors.fill(1, 2)
    frame = doors.spark.table(table)
    assert doors.ids(frame) == [1], "the cached rows, not the store's"
    doors.spark.sql(f"UNCACHE TABLE {table}")
    assert doors.ids(doors.spark.table(table)) == [1, 2]
    doors.spark.sql(f"DROP TABLE {table}")


@pytest.mark.parametrize("dbtable", ["numbers", "reference"])
def test_jdbc_table(numbers, dbtable):
    doors, table = numbers, numbers.table()
    options = doors.jdbc(doors.ref("table") if dbtable == "reference" else "numbers")
    doors.spark.sql(f"CREATE TABLE {table} USING jdbc OPTIONS {doors.sql_options(options)}")
    assert doors.ids(doors.spark.table(table)) == [1, 2, 3]
    doors.rotate()
    doors.spark.sql(f"INSERT INTO {table} SELECT 4")
    assert doors.ids(doors.spark.table(table)) == [1, 2, 3, 4]
    text = shown(doors, table)
    doors.assert_hidden(text)
    assert (
        doors.secrets_file.name
        in "\n".join(str(row) for row in doors.spark.sql(f"DESCRIBE EXTENDED {table}").collect())
        or "redacted" in text
    )
    doors.spark.sql(f"DROP TABLE {table}")


@pytest.mark.parametrize("kind", ["inferred", "given", "partitioned"])
def test_csv_table(doors, kind):
    folder, table = Path(doors.path("csv")), doors.table()
    doors.put(separator="|+|")
    folder.mkdir()
    (folder / "a.csv").write_text("1|+|x\n")
    schema = {"inferred": "", "given": "(a int, b string)", "partitioned": "(a int, b string, p int)"}[kind]
    partitions = "PARTITIONED BY (p)" if kind == "partitioned" else ""
    if kind == "partitioned":
        (folder / "p=1").mkdir()
        (folder / "a.csv").rename(folder / "p=1" / "a.csv")
    doors.spark.sql(
        f"CREATE TABLE {table} {schema} USING csv OPTIONS (sep '{doors.ref('separator')}') {partitions}"
        f" LOCATION '{folder}'"
    )
    if partitions:
        doors.spark.sql(f"MSCK REPAIR TABLE {table}")
        doors.spark.sql(f"INSERT INTO {table} VALUES (2, 'y', 2)")
    else:
        doors.spark.sql(f"INSERT INTO {table} VALUES (2, 'y')")
    rows = sorted((str(row[0]), row[1]) for row in doors.spark.table(table).collect())
    assert rows == [("1", "x"), ("2", "y")]
    written = [path.read_text() for path in folder.rglob("part-*.csv")]
    assert "2|+|y\n" in written
    assert "|+|" not in shown(doors, table)
    doors.spark.sql(f"DROP TABLE {table}")


def test_files_are_listed_as_spark_lists_those_of_a_table_without_references(doors):
    """Once, until REFRESH, a write or another definition of the table; another value counts at once, too."""
    spark = doors.spark
    doors.put(separator="|+|")
    tables = {"plain": doors.table(), "held": doors.table()}
    folders = {kind: Path(doors.path("csv")) for kind in tables}
    for kind, table in tables.items():
        folders[kind].mkdir()
        (folders[kind] / "a.csv").write_text("1|+|x\n")
        separator = doors.ref("separator") if kind == "held" else "|+|"
        spark.sql(
            f"CREATE TABLE {table} (a int, b string) USING csv OPTIONS (sep '{separator}')"
            f" LOCATION '{folders[kind]}'"
        )

    def rows(select: str = "SELECT a, b FROM {}") -> list[tuple[int, str]]:
        found = {
            kind: sorted(map(tuple, spark.sql(select.format(table)).collect()))
            for kind, table in tables.items()
        }
        assert found["plain"] == found["held"]
        return found["held"]

    def written(name: str, text: str) -> None:
        for folder in folders.values():
            (folder / name).write_text(text)

    def each(statement: str) -> None:
        for kind, table in tables.items():
            spark.sql(statement.format(table, folders[kind]))

    assert rows() == [(1, "x")]
    frames = [spark.table(table) for table in tables.values()]
    written("b.csv", "2|+|y\n")
    rows()
    each("REFRESH TABLE {}")
    assert rows() == [(1, "x"), (2, "y")]
    assert rows("SELECT l.a, r.b FROM {0} l JOIN {0} r ON l.a = r.a") == [(1, "x"), (2, "y")]
    each("INSERT INTO {} VALUES (3, 'z')")
    assert rows() == [(1, "x"), (2, "y"), (3, "z")]
    plain, held = (sorted(map(tuple, frame.collect())) for frame in frames)
    assert plain == held
    plan = spark.sql(f"EXPLAIN EXTENDED INSERT INTO {tables['held']} VALUES (4, 'v')").first()[0]
    assert "separator" in plan
    assert "|+|" not in plan
    assert "|+|" not in shown(doors, tables["held"])
    if not pyspark.__version__.startswith("3."):
        assert rows("SELECT a, b FROM {} WITH (nullValue 'x')")[0] == (1, None)
    assert rows() == [(1, "x"), (2, "y"), (3, "z")], "what one reader added is not another's"

    doors.put(separator="!")
    spark.sql(f"ALTER TABLE {tables['plain']} SET SERDEPROPERTIES ('sep' = '!')")
    written("c.csv", "5!w\n")
    for folder in folders.values():
        for name in [path for path in folder.iterdir() if path.suffix == ".csv" and path.name != "c.csv"]:
            name.unlink()
    each("REFRESH TABLE {}")
    assert rows() == [(5, "w")]
    doors.put(separator="w")
    assert [tuple(row) for row in spark.table(tables["held"]).select("b").collect()] == [(None,)], (
        "the newest value"
    )
    doors.put(separator="!")
    folders = {kind: Path(doors.path("csv")) for kind in tables}
    for folder in folders.values():
        folder.mkdir()
    written("d.csv", "6!u\n")
    each("ALTER TABLE {} SET LOCATION '{}'")
    assert rows() == [(6, "u")]
    each("DROP TABLE {}")


@EACH_FRONT
def test_a_reader_adds_a_reference_to_a_table_without_one(doors):
    doors.fill(1)
    table = doors.table()
    doors.spark.sql(f"CREATE TABLE {table} (a int, b string) USING csv")
    doors.spark.sql(f"INSERT INTO {table} VALUES (1, 'x')")
    assert doors.spark.table(table).count() == 1
    doors.put(separator="|+|")
    if pyspark.__version__.startswith("3."):
        return
    frame = doors.spark.sql(f"SELECT a, b FROM {table} WITH (sep '{doors.ref('separator')}')")
    assert [row[1] for row in frame.collect()] == [None]
    doors.spark.sql(f"DROP TABLE {table}")


def test_create_table_as_select(doors):
    table = doors.table()
    options = f"OPTIONS (password '{doors.ref()}')"
    doors.spark.sql(f"CREATE TABLE {table} USING storev1 {options} AS SELECT 7L AS id")
    assert doors.stored() == [7]
    doors.rotate()
    assert doors.ids(doors.spark.table(table)) == [7]
    doors.assert_hidden(shown(doors, table))
    doors.spark.sql(f"CREATE TABLE IF NOT EXISTS {table} USING storev1 {options} AS SELECT 8L AS id")
    assert doors.stored() == [7]
    doors.spark.sql(f"DROP TABLE {table}")

    files = doors.table()
    doors.put(separator="|+|")
    doors.spark.sql(
        f"CREATE TABLE {files} USING csv OPTIONS (sep '{doors.ref('separator')}') AS SELECT 1 AS a, 'x' AS b"
    )
    assert [tuple(row) for row in doors.spark.table(files).collect()] == [(1, "x")]
    doors.spark.sql(f"DROP TABLE {files}")


def test_temporary_view(numbers):
    doors = numbers
    doors.fill(5)
    views = [doors.table("v"), doors.table("v")]
    doors.spark.sql(f"CREATE TEMPORARY VIEW {views[0]} USING storev1 OPTIONS (password '{doors.ref()}')")
    doors.spark.sql(
        f"CREATE TEMPORARY VIEW {views[1]} USING jdbc OPTIONS {doors.sql_options(doors.jdbc('numbers'))}"
    )
    assert doors.ids(doors.spark.table(views[0])) == [5]
    assert doors.ids(doors.spark.table(views[1])) == [1, 2, 3]
    doors.rotate()
    assert doors.ids(doors.spark.table(views[1])) == [1, 2, 3]
    assert doors.ids(doors.spark.table(views[0])) == [5]


def told(frame) -> list[tuple[str, str]]:
    return sorted(map(tuple, frame.collect()))


KINDS = ["frame", "view", "table", "table with columns", "as select", "moved table"]


@pytest.mark.parametrize(
    ("kind", "path"), [*((kind, "PaTh") for kind in KINDS), ("frame", ""), ("table", "")]
)
def test_a_v1_source_gets_what_spark_gives_it(doors, kind, path):
    """Beside a table whose options are values: keys and their case, the location as path, and nothing more."""
    spark, source = doors.spark, "sparkconfigtest.TellingV1Source"
    doors.put(answer="forty-two")

    def given(answer: str) -> list[tuple[str, str]]:
        name, options = doors.table("told"), {"someAnswer": answer, "Plain": "p"}
        options |= {path: f"{doors.folder}/some where/told.xlsx"} if path else {}
        if kind == "frame":
            return told(spark.read.format(source).options(**options).load())
        if kind == "view":
            spark.sql(
                f"CREATE TEMPORARY VIEW {name} USING {source} OPTIONS {doors.sql_options(options)}"
            ).collect()
        else:
            columns = "(option string, text string)" if kind == "table with columns" else ""
            select = "AS SELECT 'a' option, 'b' text" if kind == "as select" else ""
            spark.sql(
                f"CREATE TABLE {name} {columns} USING {source} OPTIONS {doors.sql_options(options)} {select}"
            )
        if kind == "moved table":
            told(spark.table(name))
            spark.sql(f"ALTER TABLE {name} SET LOCATION '{doors.folder}/moved'")
        found = told(spark.table(name))
        assert told(spark.sql(f"SELECT * FROM {name}")) == found
        spark.sql(f"DROP {'VIEW' if kind == 'view' else 'TABLE'} {name}")
        return [(key, text.replace(name, "NAME")) for key, text in found]

    by_value, by_reference = given("forty-two"), given(doors.ref("answer"))
    assert ("someAnswer".lower(), "forty-two") in [(key.lower(), text) for key, text in by_value]
    assert by_reference == by_value


@pytest.mark.parametrize("way", ["options", "properties", "as select", "saveAsTable"])
def test_a_command_of_another_extension_gets_no_text(doors, way):
    """It reads options and properties at a moment of its own, of which no rule of ours knows."""
    doors.fill(1)
    spark, table = doors.spark, doors.table("taken")

    def make(password: str) -> None:
        quoted = password.replace("'", "\\'")
        given = f"(taken 'yes', password '{quoted}')"
        if way == "saveAsTable":
            writer = spark.range(1).write.format("storev1").option("taken", "yes")
            writer.option("password", password).saveAsTable(table)
        elif way == "properties":
            spark.sql(f"CREATE TABLE {table} (id bigint) USING storev1 TBLPROPERTIES {given}").collect()
        else:
            schema, select = ("", "AS SELECT 2L id") if way == "as select" else ("(id bigint)", "")
            spark.sql(f"CREATE TABLE {table} {schema} USING storev1 OPTIONS {given} {select}").collect()

    make(doors.passwords[-1])
    with pytest.raises(AnalysisException, match="by themselves") as error:
        make(doors.ref())
    assert "'password'" in str(error.value)
    assert doors.ref() in str(error.value)
    assert doors.store.refusals() == ""


def test_a_table_of_a_v2_provider_in_the_session_catalog_is_refused(doors):
    table = doors.table()
    with pytest.raises(AnalysisException, match="storev2") as error:
        doors.spark.sql(f"CREATE TABLE {table} USING storev2 OPTIONS (password '{doors.ref()}')")
    assert "password" in str(error.value)
    assert "${files:" in str(error.value)
    assert doors.store.refusals() == ""


def test_a_reference_as_location_is_refused(doors):
    # 3.5 makes a URI of it before any rule: its own error names the text too.
    with pytest.raises((AnalysisException, IllegalArgumentException), match="files:"):
        doors.spark.sql(
            f"CREATE TABLE {doors.table()} (id int) USING csv OPTIONS (path '{doors.ref('path')}')"
        )


def test_a_missing_secret_fails_the_query_and_no_other(doors):
    table = doors.table()
    doors.spark.sql(f"CREATE TABLE {table} USING storev1 OPTIONS (password '{doors.ref()}')")
    secret = doors.secrets.pop("pw")
    doors.put(other="x")
    with pytest.raises(AnalysisException, match="password") as error:
        doors.spark.table(table).collect()
    assert "storev1" in str(error.value)
    assert doors.spark.range(3).count() == 3
    doors.put(pw=secret)
    assert doors.ids(doors.spark.table(table)) == []
    doors.spark.sql(f"DROP TABLE {table}")


@EACH_FRONT
def test_create_table_of_the_catalog_api(doors):
    table = doors.table()
    doors.fill(9)
    doors.spark.catalog.createTable(table, source="storev1", password=doors.ref())
    assert doors.ids(doors.spark.table(table)) == [9]
    assert doors.ids(doors.spark.read.table(table)) == [9]
    doors.spark.sql(f"DROP TABLE {table}")
