"""Named connections: the user writes a name, and neither reads nor overrides what it sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from spark.options.conftest import EACH_FRONT
from spark.options.doors import explained
from spark.options.test_options_stream import run
from spark.options.test_options_tables import shown

pytestmark = pytest.mark.spark

KEY = "sparkconfig.connection"


def assert_name_alone(doors, *texts: str) -> None:
    """None of what the connections set is shown: neither values, nor references, nor the server."""
    doors.assert_hidden(*texts)
    for text in texts:
        for part in ("jdbc:postgresql", str(doors.secrets_file), "org.postgresql", "Region"):
            assert part not in text, part


def jdbc(doors, name: str = "shop", **options: str):
    return doors.spark.read.format("jdbc").options(**{KEY: name, "dbtable": "numbers", **options})


@EACH_FRONT
@pytest.mark.parametrize("name", ["shop", "late"])
def test_jdbc(numbers, name):
    frame = jdbc(
        numbers, name, partitionColumn="id", lowerBound="1", upperBound="3", numPartitions="2"
    ).load()
    assert numbers.ids(frame) == [1, 2, 3]
    assert_name_alone(numbers, explained(frame))
    numbers.rotate()
    assert numbers.ids(frame) == [1, 2, 3]
    more = numbers.spark.range(4, 5).selectExpr("int(id) id")
    more.write.format("jdbc").options(**{KEY.upper(): name, "dbtable": "numbers"}).mode("append").save()
    assert numbers.ids(jdbc(numbers, name).load()) == [1, 2, 3, 4]
    asked = numbers.spark.read.format("jdbc").option(KEY, name).option("query", "select 9 id")
    assert numbers.ids(asked.load()) == [9]


def test_sql(numbers):
    table, view = numbers.table(), numbers.table("v")
    options = f"({KEY} 'shop', dbtable 'numbers')"
    numbers.spark.sql(f"CREATE TABLE {table} USING jdbc OPTIONS {options}")
    numbers.spark.sql(f"CREATE TEMPORARY VIEW {view} USING JDBC OPTIONS {options}")
    numbers.rotate()
    numbers.spark.sql(f"INSERT INTO {table} SELECT 4")
    numbers.spark.sql(f"INSERT INTO {view} SELECT 5")
    assert numbers.ids(numbers.spark.table(table)) == [1, 2, 3, 4, 5]
    assert numbers.ids(numbers.spark.table(view)) == [1, 2, 3, 4, 5]
    told = [
        shown(numbers, table),
        explained(numbers.spark.table(table)),
        explained(numbers.spark.table(view)),
    ]
    assert_name_alone(numbers, *told)
    assert "shop" in told[0]
    created = numbers.table()
    numbers.spark.sql(
        f"CREATE TABLE {created} USING jdbc OPTIONS ({KEY} 'shop', dbtable '{created}') AS SELECT 7 AS id"
    )
    assert numbers.ids(numbers.spark.table(created)) == [7]
    for name in (table, created):
        numbers.spark.sql(f"DROP TABLE {name}")


def test_a_catalog(numbers):
    assert numbers.ids(numbers.spark.table("named.public.numbers")) == [1, 2, 3]
    numbers.rotate()
    frame = numbers.spark.sql("SELECT * FROM named.public.numbers WHERE id > 1")
    assert numbers.ids(frame) == [2, 3]
    assert_name_alone(numbers, explained(frame))


@EACH_FRONT
def test_sources_in_memory(doors):
    doors.fill(1, 2)
    for name, source in (("memory1", "storev1"), ("memory2", "storev2")):
        frame = doors.spark.read.format(source).option(KEY, name).load()
        assert doors.ids(frame) == [1, 2]
        assert_name_alone(doors, explained(frame))
        doors.rotate()
        writer = doors.spark.range(3, 4).write.format(source).option(KEY, name)
        writer.mode("append").save()
        assert 3 in doors.stored()
        doors.fill(1, 2)
    assert doors.store.refusals() == ""


def test_a_stream(doors):
    out, checkpoint = doors.path("out"), doors.path("checkpoint")
    frame = doors.spark.readStream.format("storev2").option(KEY, "memory2").load()
    doors.store.put(1)
    run(frame.writeStream.format("parquet").option("path", out), doors, checkpoint)
    doors.rotate()
    doors.store.put(2)
    run(frame.writeStream.format("parquet").option("path", out), doors, checkpoint)
    assert doors.ids(doors.spark.read.parquet(out)) == [1, 2]
    source = Path(doors.path("source"))
    source.mkdir()
    (source / "3.json").write_text('{"id": 3}\n')
    lines = doors.spark.readStream.schema("id bigint").json(str(source))
    run(lines.writeStream.format("storev2").option(KEY, "memory2"), doors, doors.path("checkpoint"))
    assert doors.stored() == [1, 2, 3]
    assert doors.store.refusals() == ""


REFUSED = {
    "override": ({"url": "jdbc:postgresql://evil/x"}, "sets the option 'url', which cannot be overridden"),
    "in another case": ({"PassWord": "mine"}, "which cannot be overridden"),
    "redirected": ({"socketFactory": "com.acme.Own"}, "may not stand beside the connection 'shop'"),
    "another driver": ({"connectionProvider": "basic"}, "may not stand beside the connection 'shop'"),
    "unknown": ({KEY: "shpo"}, "The connection 'shpo' does not exist"),
    "a reference": ({KEY: "${files:a:b}"}, "takes the name of a connection"),
    "of another source": (
        {KEY: "memory1"},
        "is for the data source 'storev1', not for the data source 'jdbc'",
    ),
}


@EACH_FRONT
@pytest.mark.parametrize("case", REFUSED)
def test_refusals(numbers, case):
    options, problem = REFUSED[case]
    with pytest.raises(Exception, match=problem) as read:
        jdbc(numbers, **options).load().collect()
    all_options = {KEY: "shop", "dbtable": "numbers", **options}
    writer = numbers.spark.range(1).write.format("jdbc").options(**all_options).mode("append")
    with pytest.raises(Exception, match=problem) as written:
        writer.save()
    given = numbers.sql_options(all_options)
    with pytest.raises(Exception, match=problem) as made:
        numbers.spark.sql(f"CREATE TABLE {numbers.table()} USING jdbc OPTIONS {given}")
    assert_name_alone(
        numbers, *(str(each.value).replace("jdbc:postgresql://evil", "") for each in (read, written, made))
    )


@EACH_FRONT
@pytest.mark.parametrize("name", ["shop", "late"])
def test_a_connection_that_fails_is_named_and_no_reference_behind_it(numbers, name):
    good = numbers.secrets["pw"]
    numbers.put(pw="of-nobody-4711")
    numbers.refresh()
    try:
        with pytest.raises(Exception, match=f"the connection '{name}'") as error:
            jdbc(numbers, name).load().collect()
    finally:
        numbers.put(pw=good)
        numbers.refresh()
    assert "authentication failed" in str(error.value)
    assert [part for part in ("${", str(numbers.secrets_file), "4711") if part in str(error.value)] == []
    numbers.assert_hidden(str(error.value))


def test_another_source_does_not_get_the_options(doors):
    for source in ("storev2", "csv", "eagerv2"):
        with pytest.raises(
            Exception, match=r"is for the data source 'storev1'|may not stand beside|password"
        ):
            doors.spark.read.format(source).option(KEY, "memory1").load(doors.path()).collect()
    with pytest.raises(Exception, match="is for the data source"):
        doors.spark.range(1).write.format("csv").option(KEY, "memory1").save(doors.path())
    with pytest.raises(Exception, match="is for the data source"):
        doors.spark.range(1).write.format("storev2").option(KEY, "memory1").mode("append").save()
    assert doors.stored() == []


EVIL = "jdbc:postgresql://evil/x"


@pytest.mark.parametrize("name", ["shop", "late"])
def test_a_users_option_does_not_lead_to_those_of_the_connection(numbers, name):
    """By substitution, one option may name others of its map."""
    for text in (
        "$[keyValue=password]", "$[keyValue=URL]", "$[keyValue/defaultKey=user/=none]", "$[keyValue/fromValueOfKey/=a]",
    ):  # fmt: skip
        with pytest.raises(Exception, match=r"'dbtable' may not name what the connection") as error:
            jdbc(numbers, name, dbtable=f"(select '{text}' id) t").load().collect()
        assert_name_alone(numbers, str(error.value))
    asked = f"(select $[sysProp/defaultValue=7/=none.{name}] id) t"
    assert numbers.ids(jdbc(numbers, name, dbtable=asked).load()) == [7]


@pytest.mark.parametrize(
    "option",
    [("url", EVIL), ("PassWord", "mine"), ("socketFactory", "com.acme.Own"), ("connectionProvider", "basic"),
     ("sessionInitStatement", "drop table numbers"), (KEY, "late")],
)  # fmt: skip
def test_a_table_of_a_catalog_goes_where_its_connection_says(numbers, option):
    """Spark joins the options of one read or write with those of the catalog."""
    key, text = option
    refused = r"cannot be overridden|may not stand beside|has its connection"
    with pytest.raises(Exception, match=refused) as read:
        numbers.spark.read.option(key, text).table("named.public.numbers").collect()
    more = numbers.spark.range(4, 5).selectExpr("int(id) id")
    with pytest.raises(Exception, match=refused) as written:
        more.writeTo("named.public.numbers").option(key, text).append()
    with pytest.raises(Exception, match=refused):
        more.writeTo("named.public.fresh").option(key, text).create()
    assert_name_alone(numbers, *(str(each.value).replace(EVIL, "") for each in (read, written)))
    numbers.spark.sql("DROP TABLE IF EXISTS named.public.fresh")


def test_a_table_of_a_catalog_takes_options_of_reading(numbers):
    read = numbers.spark.read.option("fetchsize", "1").table("named.public.numbers")
    assert numbers.ids(read) == [1, 2, 3]
    more = numbers.spark.range(4, 5).selectExpr("int(id) id")
    more.writeTo("named.public.numbers").option("batchsize", "1").append()
    assert numbers.ids(numbers.spark.table("named.public.numbers")) == [1, 2, 3, 4]


def test_jdbc_with_a_url_of_its_own(numbers):
    """Spark 3.5 reads such a frame itself: there the connection is compared when it is made."""
    refused = r"sets the option 'url'|does not go with jdbc"
    url = f"{numbers.postgres.jdbc_url('keeper')}?user=keeper"
    with pytest.raises(Exception, match=refused) as error:
        numbers.spark.read.option(KEY, "shop").jdbc(url, "numbers").collect()
    numbers.assert_hidden(str(error.value))
    with pytest.raises(Exception, match=refused):
        numbers.spark.read.option(KEY, "shop").jdbc(url, "numbers", predicates=["id > 0", "id < 1"]).collect()
