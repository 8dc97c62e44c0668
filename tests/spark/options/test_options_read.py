"""Batch reads: the source gets the password of the moment, and no plan shows it."""

from __future__ import annotations

import json
from pathlib import Path

import pyspark
import pytest
from pyspark.errors import AnalysisException

pytestmark = pytest.mark.spark
# docs/data-sources.md says so too: on 3.5 such a frame keeps the values of its load.
follows_when_held = pytest.mark.skipif(
    pyspark.__version__.startswith("3."),
    reason="3.5 loads V1 sources, and reads dbtable, before there is a plan, once and for all",
)


@pytest.mark.parametrize("source", ["storev1", "storev2"])
def test_load(doors, source):
    doors.fill(1, 2)

    def read():
        return doors.ids(doors.spark.read.format(source).option("password", doors.ref()).load())

    assert read() == [1, 2]
    doors.rotate()
    assert read() == [1, 2]
    assert doors.store.refusals() == ""


def test_a_v2_relation_follows_a_rotation_by_itself(doors):
    doors.fill(3)
    frame = doors.spark.read.format("storev2").option("password", doors.ref()).load()
    assert doors.ids(frame) == [3]
    doors.rotate()
    assert doors.ids(frame.filter("id > 0")) == [3]


@follows_when_held
def test_a_v1_relation_is_loaded_again_after_a_rotation(doors):
    """In a frame that is held: joined with itself, in a view, and with another table by reference."""
    doors.fill(3)
    frame = doors.spark.read.format("storev1").option("password", doors.ref()).load()
    frame.createOrReplaceTempView("held_v1")
    assert doors.ids(frame) == [3]
    doors.rotate()
    assert doors.ids(frame.filter("id > 0")) == [3]
    doors.rotate()
    assert doors.ids(frame.join(frame.select("id"), "id")) == [3]
    assert doors.ids(doors.spark.sql("SELECT id FROM held_v1 WHERE id IN (SELECT id FROM held_v1)")) == [3]
    assert doors.store.refusals() == ""


@follows_when_held
def test_a_held_v1_relation_is_loaded_once_for_each_value(doors):
    doors.fill(3)
    frame = doors.classic.read.format("storev1").option("password", doors.ref()).load()
    doors.rotate()
    # Spark plans what it caches in a session of its own, which must not be that of later queries.
    kept = frame.cache()
    assert doors.ids(kept) == [3]
    kept.unpersist()
    for condition in ("id > 0", "id > 1", "id > 2"):
        assert doors.ids(frame.filter(condition)) == [3]
        kept = frame.filter(condition).cache()
        assert doors.ids(kept) == [3]
        kept.unpersist()
    assert doors.store.entries("V1 createRelation") == 3
    assert doors.store.refusals() == ""


@follows_when_held
def test_an_insert_into_a_view_of_a_held_v1_relation_takes_the_newest_value(doors):
    doors.fill(3)
    frame = doors.spark.read.format("storev1").option("password", doors.ref()).load()
    frame.createOrReplaceTempView("held_for_inserts")
    doors.rotate()
    doors.spark.sql(
        "INSERT INTO held_for_inserts SELECT 4L UNION SELECT id + 2 FROM held_for_inserts"
    ).collect()
    assert doors.stored() == [3, 4, 5]
    assert doors.store.refusals() == ""


def test_an_insert_into_a_view_by_using_takes_the_newest_value(doors):
    doors.fill(3)
    options = doors.sql_options({"password": doors.ref()})
    doors.spark.sql(
        f"CREATE OR REPLACE TEMPORARY VIEW made_for_inserts USING storev1 OPTIONS {options}"
    ).collect()
    doors.rotate()
    doors.spark.sql("INSERT INTO made_for_inserts SELECT 4L").collect()
    assert doors.stored() == [3, 4]
    assert doors.store.refusals() == ""


def test_an_insert_into_a_view_by_using_keeps_the_columns_that_it_was_matched_with(doors):
    """The source has them in another order by now: a value must not come into another column."""
    doors.put(columns="a-b")
    options = doors.sql_options({"password": doors.ref(), "columns": doors.ref("columns")})
    doors.spark.sql(
        f"CREATE OR REPLACE TEMPORARY VIEW two USING sparkconfigtest.LazyV1Source OPTIONS {options}"
    ).collect()
    doors.put(columns="b-a")
    if not doors.spark.version.startswith("3."):
        assert doors.spark.table("two").columns == ["b", "a"]
    doors.spark.sql("INSERT INTO two (a, b) VALUES (1L, 2L)").collect()
    assert doors.stored() == [1]


@follows_when_held
def test_sessions_that_share_a_view_keep_relations_of_their_own(doors):
    """A source may have read confs of the session that it was loaded in, a user's credentials say."""
    doors.fill(3)
    frame = doors.classic.read.format("storev1").option("password", doors.ref()).load()
    frame.createOrReplaceGlobalTempView("shared_view")
    doors.rotate()
    for session in (doors.classic, doors.classic.newSession()):
        for _ in range(2):
            assert doors.ids(session.sql("SELECT id FROM global_temp.shared_view")) == [3]
    assert doors.store.entries("V1 createRelation") == 3
    assert doors.store.refusals() == ""


@follows_when_held
def test_a_relation_that_a_source_gives_to_several_loads_keeps_its_values(doors):
    """Whose frame it is, nobody can say: the values of one load must not come to another's."""
    doors.fill(3)
    doors.put(other=doors.passwords[-1])
    load = doors.classic.read.format("sparkconfigtest.SharedV1Source").option
    frame, _ = load("password", doors.ref()).load(), load("password", doors.ref("other")).load()
    doors.put(pw=doors.passwords[-1] + "-changed", other=doors.passwords[-1] + "-changed-too")
    try:
        assert doors.ids(frame) == [3]
    finally:
        doors.rotate()
    assert doors.store.entries("V1 shared") == 2
    assert doors.store.refusals() == ""


@pytest.mark.parametrize("v1_sources", [None, ""], ids=["v1", "v2"])
def test_files_follow_a_rotation_in_a_held_frame(doors, v1_sources):
    file = Path(doors.path("held.csv"))
    file.write_text("1|+|x\n")
    doors.put(separator="|+|")
    if v1_sources is not None:
        doors.spark.conf.set("spark.sql.sources.useV1SourceList", v1_sources)
    try:
        frame = (
            doors.spark.read.schema("id int, name string")
            .option("sep", doors.ref("separator"))
            .csv(str(file))
        )
        assert [row.name for row in frame.collect()] == ["x"]
        doors.put(separator="~#~")
        file.write_text("1~#~y\n")
        assert [row.name for row in frame.filter("id = 1").collect()] == ["y"]
    finally:
        doors.spark.conf.unset("spark.sql.sources.useV1SourceList")


def test_two_references_in_one_value_and_text_around(doors):
    doors.fill(4)
    first, second = doors.passwords[-1][:9], doors.passwords[-1][10:]
    doors.put(first=first, second=second)
    text = doors.ref("first") + doors.passwords[-1][9] + doors.ref("second")
    assert doors.ids(doors.spark.read.format("storev1").option("password", text).load()) == [4]


@pytest.fixture
def numbers(doors):
    """A table in PostgreSQL."""
    doors.postgres.sql(
        "drop table if exists numbers; create table numbers(id int); insert into numbers values (1), (2), (3);"
        'alter table numbers owner to "keeper"',
        database="keeper",
    )
    return doors


@pytest.mark.parametrize(
    "change",
    [
        lambda doors: {},
        lambda doors: {"url": doors.ref("url")},
        lambda doors: {"dbtable": doors.ref("table")},
        lambda doors: {"dbtable": "", "query": f"select id from {doors.ref('table')}"},
        lambda doors: {"url": f"{doors.ref('url')}?user=keeper", "user": ""},
        lambda doors: {"partitionColumn": "id", "lowerBound": "1", "upperBound": "3", "numPartitions": "2"},
    ],
    ids=["password", "url", "dbtable", "query", "url-with-text", "partitioned"],
)
def test_jdbc(numbers, change):
    options = {key: text for key, text in numbers.jdbc("numbers", **change(numbers)).items() if text}

    def read():
        return numbers.ids(numbers.spark.read.format("jdbc").options(**options).load())

    assert read() == [1, 2, 3]
    numbers.rotate()
    assert read() == [1, 2, 3]


def test_jdbc_relation_follows_a_rotation_by_itself(numbers):
    frame = numbers.spark.read.format("jdbc").options(**numbers.jdbc("numbers")).load()
    assert numbers.ids(frame) == [1, 2, 3]
    numbers.rotate()
    assert numbers.ids(frame) == [1, 2, 3]


@follows_when_held
def test_a_jdbc_table_by_reference_follows_in_a_held_frame(numbers):
    numbers.put(held_table="numbers")
    options = numbers.jdbc("numbers", dbtable=numbers.ref("held_table"))
    frame = numbers.spark.read.format("jdbc").options(**options).load()
    assert numbers.ids(frame) == [1, 2, 3]
    numbers.put(held_table="(select 9 as id) as held_subquery")
    assert numbers.ids(frame.filter("id > 0")) == [9]


@follows_when_held
def test_columns_that_spark_pads_follow_in_a_held_frame(numbers):
    numbers.put(held_table="(select 1 as id, cast('a' as char(3)) as padded) as before")
    options = numbers.jdbc("numbers", dbtable=numbers.ref("held_table"))
    frame = numbers.spark.read.format("jdbc").options(**options).load()
    assert numbers.ids(frame) == [1]
    numbers.put(held_table="(select 9 as id, cast('b' as char(3)) as padded) as after")
    assert frame.filter("id > 0").collect() == [(9, "b  ")]


def test_jdbc_password_in_the_url(numbers):
    # PostgreSQL's driver decodes %, so this password has none of the characters that a URL would need escaped.
    numbers.postgres.set_password("keeper", "plainEnough77Password")
    numbers.put(plain="plainEnough77Password")
    url = f"{numbers.postgres.jdbc_url('keeper')}?user=keeper&password={numbers.ref('plain')}"
    frame = numbers.spark.read.format("jdbc").options(url=url, dbtable="numbers").load()
    assert numbers.ids(frame) == [1, 2, 3]


@pytest.mark.parametrize("predicates", [None, ["id < 2", "id >= 2"]], ids=["plain", "predicates"])
def test_jdbc_method(numbers, predicates):
    options = numbers.jdbc("numbers")
    properties = {key: options[key] for key in ("driver", "user", "password")}

    def read():
        return numbers.ids(
            numbers.spark.read.jdbc(options["url"], "numbers", predicates=predicates, properties=properties)
        )

    assert read() == [1, 2, 3]
    numbers.rotate()
    assert read() == [1, 2, 3]


@pytest.mark.parametrize("v1_sources", [None, ""], ids=["v1", "v2"])
def test_csv_option(doors, v1_sources):
    folder = Path(doors.path("csv"))
    folder.mkdir()
    if v1_sources is not None:
        doors.spark.conf.set("spark.sql.sources.useV1SourceList", v1_sources)
    try:
        for separator in ("|+|", "~#~"):
            doors.put(separator=separator)
            (folder / "a.csv").write_text(f"1{separator}x\n2{separator}y\n")
            frame = doors.spark.read.option("sep", doors.ref("separator")).csv(
                str(folder), schema="id int, name string"
            )
            assert sorted(map(tuple, frame.collect())) == [(1, "x"), (2, "y")]
            inferred = doors.spark.read.format("csv").option("sep", doors.ref("separator")).load(str(folder))
            assert len(inferred.columns) == 2
    finally:
        doors.spark.conf.unset("spark.sql.sources.useV1SourceList")


def test_json_option(doors):
    folder = Path(doors.path("json"))
    folder.mkdir()
    doors.put(separator="|+|")
    (folder / "a.json").write_text("|+|".join(json.dumps({"id": i}) for i in (1, 2)))
    frame = doors.spark.read.format("json").option("lineSep", doors.ref("separator")).load(str(folder))
    assert doors.ids(frame) == [1, 2]


def test_parquet_option(doors):
    folder = doors.path("parquet")
    doors.spark.range(1).write.parquet(f"{folder}/a=1")
    doors.spark.range(1).selectExpr("id", "id x").write.parquet(f"{folder}/a=2")
    frame = doors.spark.read.option("mergeSchema", doors.ref("true")).parquet(folder)
    assert set(frame.columns) == {"id", "x", "a"}


def test_path(doors):
    doors.spark.range(3).write.mode("overwrite").parquet(doors.secrets["path"])
    assert doors.spark.read.parquet(doors.ref("path")).count() == 3
    assert doors.spark.read.format("parquet").load(doors.ref("path")).count() == 3


def test_the_option_is_named_when_its_reference_has_no_value(doors):
    for reference in (doors.ref("nobody"), "${valut:db:password}"):
        with pytest.raises(AnalysisException) as error:
            doors.spark.read.format("storev1").option("Password", reference).load().collect()
        message = str(error.value)
        assert "option 'password'" in message.lower()
        assert "storev1" in message
        assert reference in message
        doors.assert_hidden(message)
    assert doors.store.refusals() == ""
    doors.fill(1)
    assert doors.ids(doors.spark.read.format("storev1").option("password", doors.ref()).load()) == [1]


def test_the_option_of_a_jdbc_connection_is_named_when_its_reference_has_no_value(doors):
    options = doors.jdbc("(select 1 as id) numbers", password=doors.ref("nobody"))
    with pytest.raises(AnalysisException) as error:
        doors.spark.read.format("jdbc").options(**options).load().collect()
    for part in ("'password'", "'jdbc'", doors.ref("nobody")):
        assert part in str(error.value)
    doors.assert_hidden(str(error.value))


def test_a_refused_password_is_the_sources_own_error(doors):
    doors.store.setPassword("something else")
    with pytest.raises(Exception, match="another password") as error:
        doors.spark.read.format("storev1").option("password", doors.ref()).load().collect()
    doors.assert_hidden(str(error.value))


def test_texts_that_are_not_references_reach_the_source_as_they_are(doors):
    doors.store.setPassword("${nothing}")
    doors.fill(6)
    frame = doors.spark.read.format("storev1").option("password", "${nothing}").load()
    assert sorted(row[0] for row in frame.collect()) == [6]
