"""Data sources written in Python (Spark 4)."""

from __future__ import annotations

import pytest

from spark.options.conftest import EACH_FRONT

pytestmark = [
    pytest.mark.spark,
    pytest.mark.sparks(since="4.0"),
]


@EACH_FRONT
def test_python_data_source(doors):
    from pyspark.sql.datasource import DataSource, DataSourceReader

    class Lengths(DataSource):
        """Gives the length of the password that it was given."""

        @classmethod
        def name(cls):
            return "lengths"

        def schema(self):
            return "id int"

        def reader(self, schema):
            length = len(self.options["password"])

            class Reader(DataSourceReader):
                def read(self, partition):
                    yield (length,)

            return Reader()

    doors.spark.dataSource.register(Lengths)

    def read():
        return doors.ids(doors.spark.read.format("lengths").option("password", doors.ref("long")).load())

    doors.put(long="x" * 20)
    assert read() == [20]
    doors.put(long="x" * 30)
    assert read() == [30]
    held = doors.spark.read.format("lengths").option("password", doors.ref("long")).load()
    assert doors.ids(held) == [30]
    options = doors.sql_options({"password": doors.ref("long")})
    views = {"lengths_here": "TEMPORARY", "global_temp.lengths_there": "GLOBAL TEMPORARY"}
    for name, kind in views.items():
        made = name.rpartition(".")[2]
        doors.spark.sql(f"CREATE OR REPLACE {kind} VIEW {made} USING lengths OPTIONS {options}").collect()
    doors.put(long="x" * 40)
    assert doors.ids(held.filter("id > 0")) == [30], "the value of its load"
    for name in views:
        assert doors.ids(doors.spark.table(name)) == [40]
