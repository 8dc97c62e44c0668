"""Batch reads: the source gets the password of the moment, and no plan shows it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException

from spark.options.conftest import EACH_FRONT

pytestmark = pytest.mark.spark


@EACH_FRONT
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


@EACH_FRONT
def test_a_frame_of_a_v1_source_keeps_the_values_of_its_load(doors):
    """And so does what is made of it."""
    doors.fill(3)
    load = doors.spark.read.format("storev1").option("password", doors.ref()).load
    frame = load()
    frame.createOrReplaceTempView("of_a_load")
    assert doors.ids(frame.filter("id > 0")) == [3]
    doors.rotate()
    for query in (lambda: frame.filter("id > 1"), lambda: doors.spark.sql("SELECT id FROM of_a_load")):
        with pytest.raises(Exception, match="another password") as error:
            query().collect()
        doors.assert_hidden(str(error.value))
    load().createOrReplaceTempView("of_a_load")
    assert doors.ids(doors.spark.sql("SELECT id FROM of_a_load")) == [3]


def test_a_frame_is_no_error_when_its_secret_is_gone(doors):
    doors.fill(3)
    doors.put(leaving=doors.passwords[-1])
    frame = doors.spark.read.format("storev1").option("password", doors.ref("leaving")).load()
    assert doors.ids(frame) == [3]
    doors.secrets.pop("leaving")
    doors.put(other="x")
    assert doors.ids(frame.filter("id > 0")) == [3]


@pytest.mark.parametrize("kind", ["TEMPORARY", "GLOBAL TEMPORARY"])
def test_a_view_by_using_follows_by_name_and_is_loaded_once_for_each_value(doors, kind):
    doors.fill(3)
    name = "global_temp.following" if kind.startswith("GLOBAL") else "following"
    options = doors.sql_options({"password": doors.ref()})
    doors.spark.sql(f"CREATE OR REPLACE {kind} VIEW following USING storev1 OPTIONS {options}").collect()
    doors.rotate()
    made = doors.store.entries("V1 createRelation")
    for condition in ("id > 0", "id > 1"):
        assert doors.ids(doors.spark.sql(f"SELECT id FROM {name} WHERE {condition}")) == [3]
        assert doors.ids(doors.spark.sql(f"SELECT id FROM {name} JOIN {name} USING (id)")) == [3]
    assert doors.store.entries("V1 createRelation") == made + 1
    assert doors.store.refusals() == ""


def test_views_by_using_of_a_source_that_gives_them_one_relation_keep_their_values(doors):
    """Of which view it is, nobody can say: the values of one must not come to another."""
    doors.fill(3)
    doors.put(other=doors.passwords[-1])
    for name, key in (("one_of_two", "pw"), ("two_of_two", "other")):
        options = doors.sql_options({"password": doors.ref(key)})
        doors.spark.sql(
            f"CREATE OR REPLACE TEMPORARY VIEW {name} USING sparkconfigtest.SharedV1Source OPTIONS {options}"
        ).collect()
    doors.put(pw=doors.passwords[-1] + "-changed", other=doors.passwords[-1] + "-changed-too")
    try:
        assert doors.ids(doors.spark.table("one_of_two")) == [3]
    finally:
        doors.rotate()
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
    assert doors.spark.table("two").columns == ["a", "b"]
    doors.spark.sql("INSERT INTO two (a, b) VALUES (1L, 2L)").collect()
    assert doors.stored() == [1]


def test_two_references_in_one_value_and_text_around(doors):
    doors.fill(4)
    first, second = doors.passwords[-1][:9], doors.passwords[-1][10:]
    doors.put(first=first, second=second)
    text = doors.ref("first") + doors.passwords[-1][9] + doors.ref("second")
    assert doors.ids(doors.spark.read.format("storev1").option("password", text).load()) == [4]


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


def test_jdbc_password_in_the_url(numbers):
    # PostgreSQL's driver decodes %, so this password has none of the characters that a URL would need escaped.
    numbers.postgres.set_password("keeper", "plainEnough77Password")
    numbers.put(plain="plainEnough77Password")
    url = f"{numbers.postgres.jdbc_url('keeper')}?user=keeper&password={numbers.ref('plain')}"
    frame = numbers.spark.read.format("jdbc").options(url=url, dbtable="numbers").load()
    assert numbers.ids(frame) == [1, 2, 3]


@EACH_FRONT
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


@EACH_FRONT
@pytest.mark.parametrize("v1_sources", [None, ""], ids=["v1", "v2"])
def test_csv_option(doors, v1_sources):
    """A frame that is held follows, too."""
    folder, held = Path(doors.path("csv")), None
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
            held = held or frame
            assert [row.name for row in held.filter("id = 1").collect()] == ["x"]
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


@EACH_FRONT
def test_path(doors):
    doors.spark.range(3).write.mode("overwrite").parquet(doors.secrets["path"])
    assert doors.spark.read.parquet(doors.ref("path")).count() == 3
    assert doors.spark.read.format("parquet").load(doors.ref("path")).count() == 3


@EACH_FRONT
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


@EACH_FRONT
def test_a_refused_password_is_the_sources_own_error(doors):
    doors.store.setPassword("something else")
    with pytest.raises(Exception, match="another password") as error:
        doors.spark.read.format("storev1").option("password", doors.ref()).load().collect()
    doors.assert_hidden(str(error.value))
    assert "io.sparkconfig" not in str(error.value).splitlines()[0], "what was called is the reader's method"


@pytest.mark.sparks(before="4.0")
def test_a_v1_source_that_a_reader_of_the_jvm_gave_the_text_sends_it_nowhere(doors):
    """Scala's own way, and that of a Python without this package; before 4.0 nothing comes between."""
    doors.fill(1)
    reader = doors.spark._jsparkSession.read().format("sparkconfigtest.LazyV1Source")
    with pytest.raises(Exception, match="CREATE TEMPORARY VIEW") as error:
        reader.option("password", doors.ref()).load()
    assert "'password'" in str(error.value)
    assert doors.store.refusals() == ""
    doors.store.setPassword("${nothing}")
    assert reader.option("password", "${nothing}").load().count() == 1


@EACH_FRONT
def test_texts_that_are_not_references_reach_the_source_as_they_are(doors):
    doors.store.setPassword("${nothing}")
    doors.fill(6)
    frame = doors.spark.read.format("storev1").option("password", "${nothing}").load()
    assert sorted(row[0] for row in frame.collect()) == [6]
