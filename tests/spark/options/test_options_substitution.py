"""`$[...]` (KIP-269) in option maps, beside `${...}` in the same value."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException

pytestmark = pytest.mark.spark


def test_csv(doors):
    folder = Path(doors.path("csv"))
    folder.mkdir()
    doors.put(middle="+~+")
    (folder / "a.csv").write_text("1|+~+|x\n2|+~+|y\n")
    options = {"sep": f"$[keyValue=my.edge]{doors.ref('middle')}$[keyValue=my.edge]", "my.edge": "|"}

    def read():
        frame = doors.spark.read.options(**options).csv(str(folder), schema="id int, name string")
        doors.assert_hidden(str(frame.columns))
        return sorted(map(tuple, frame.collect()))

    assert read() == [(1, "x"), (2, "y")]
    doors.put(middle="-~-")
    (folder / "a.csv").write_text("3|-~-|z\n")
    assert read() == [(3, "z")]
    out = doors.path("out")
    doors.spark.sql("SELECT 1 a, 'x' b").write.options(**options).csv(out)
    assert "".join(path.read_text() for path in Path(out).glob("part-*")) == "1|-~-|x\n"


def with_parts(doors) -> dict[str, str]:
    """The password in three pieces: of a reference, of a file, and of another option."""
    password = doors.passwords[-1]
    doors.put(first=password[:12])
    (doors.folder / "second").write_text(password[12:30])
    return {
        "password": f"{doors.ref('first')}$[file={doors.folder}/second]$[keyValue=my.rest]",
        "my.rest": password[30:],
    }


@pytest.mark.parametrize("source", ["storev1", "storev2"])
def test_a_source_and_a_sink(doors, source):
    doors.fill(1)
    for number in (2, 3):
        options = with_parts(doors)
        frame = doors.spark.read.format(source).options(**options).load()
        assert sorted(row[0] for row in frame.collect()) == list(range(1, number))
        written = doors.spark.range(number, number + 1)
        written.write.format(source).options(**options).mode("append").save()
        doors.rotate()
    assert doors.stored() == [1, 2, 3]
    assert doors.store.refusals() == ""


def test_a_table_keeps_the_text(doors):
    doors.fill(1)
    table = doors.table()
    texts = with_parts(doors)
    doors.spark.sql(f"CREATE TABLE {table} USING storev1 OPTIONS {doors.sql_options(texts)}")
    assert doors.ids(doors.spark.table(table)) == [1]
    doors.rotate()
    with_parts(doors)
    with pytest.raises(Exception, match="another password"):  # what is in the catalog is the old rest
        doors.spark.table(table).collect()
    for statement in (
        "DESCRIBE EXTENDED {}",
        "SHOW CREATE TABLE {}",
        "ALTER TABLE {} SET TBLPROPERTIES ('a' = 'b')",
        "DROP TABLE {}",
    ):
        doors.spark.sql(statement.format(table)).collect()  # they read nothing


def test_what_has_no_value_is_named(doors):
    with pytest.raises(AnalysisException, match=r"my\.nowhere") as error:
        doors.spark.read.format("storev2").option("password", "$[keyValue=my.nowhere]").load().collect()
    assert "storev2" in str(error.value)
    assert doors.store.refusals() == ""
