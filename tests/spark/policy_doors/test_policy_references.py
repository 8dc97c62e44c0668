"""References that somebody asks for by name: in the driver, in its JVM, in SQL's reflect and in Python workers."""

from __future__ import annotations

import contextlib
import json
import socket
import struct
import sys

import pytest
from pyspark import cloudpickle
from pyspark.errors import AnalysisException

from spark.options.conftest import has_connect
from spark.policy_doors.policy import SECRET, TURN, refused
from sparkconfig._spark import driver
from sparkconfig.policy import PolicyViolation
from support.scala_objects import scala_object

pytestmark = pytest.mark.spark
LOOK = "OPTIONS (`sparkconfig.connection` 'look')"


class TestReferences:
    """Values that somebody asks for by name, in the driver, in its JVM and in Python workers."""

    @pytest.fixture
    def store(self, application):
        return f"${{files:{application['folder']}/shop.properties:%s}}"

    def test_the_drivers_python(self, classic, store):
        assert driver.current(store % "password").reveal() == SECRET
        assert driver.configs({"a": store % "region"})["a"].reveal() == "a"
        for ask in (driver.current, lambda text: driver.configs({"a": text, "b": store % "region"})):
            with pytest.raises(PolicyViolation, match="admin") as error:
                ask(store % "admin")
            assert SECRET not in str(error.value)

    @pytest.mark.parametrize("door", ["driver", "several", "jvm", "option", "conf"])
    def test_what_is_refused_says_nothing_of_the_store(self, classic, application, door):
        """There, absent, or in a file that is absent: the policy decides before anybody asks, so one text for all."""
        jvm, folder = classic._jvm, application["folder"]
        values, expression = (
            scala_object(jvm, f"io.sparkconfig.core.{name}") for name in ("Values", "Expression")
        )
        ask = {
            "driver": driver.current,
            "several": lambda text: driver.configs({"a": text}),
            "jvm": lambda text: values.resolve(expression.apply(text)),
            "option": lambda text: classic.read.option("nullValue", text).csv(str(folder)).count(),
            "conf": lambda text: classic.conf.set("spark.shop.zone", text),
        }[door]
        said = set()
        for place in ("shop.properties:admin", "shop.properties:admin9", "absent.properties:admin"):
            with pytest.raises(Exception, match="admin") as error:
                ask(f"${{files:{folder}/{place}}}")
            text = str(error.value).partition("\n\tat ")[0]
            said.add(text.replace(place, "PLACE").replace(place.partition(":")[2], "KEY"))
        assert len(said) == 1, said

    def test_the_jvm(self, classic, store):
        jvm = classic._jvm
        values, expression = (
            scala_object(jvm, f"io.sparkconfig.core.{name}") for name in ("Values", "Expression")
        )
        assert values.resolve(expression.apply(store % "password")) == SECRET
        with pytest.raises(Exception, match="may not use this reference") as error:
            values.resolve(expression.apply(store % "admin"))
        assert SECRET not in str(error.value)

    @pytest.mark.parametrize(
        "function",
        ["reflect", "java_method", pytest.param("try_reflect", marks=pytest.mark.sparks(since="4.0"))],
    )
    def test_sql_calls_nothing_of_ours(self, spark, store, function):
        """Break 1 of the threat model: each of these once answered, or changed something."""
        for call in (
            "'io.sparkconfig.driver.DriverApi', 'places', '\"guess\"', true, false",
            f"'io.sparkconfig.driver.DriverApi', 'current', r'{store % 'password'}'",
            f"'io.sparkconfig.redaction.engine.Redactor', 'contains', '{SECRET}'",
            "'io.sparkconfig.policy.PolicyDoors', 'close'",
            "'io.sparkconfig.core.Values', 'refresh'",
            "'org.apache.spark.sql.sparkconfig.InPlaceConfs', 'release'",
            "concat('io.spark', 'config.core.BuildInfo'), 'version'",
            "'io.sparkconfig.core.BuildInfo$', 'version'",
        ):
            for statement in (
                f"SELECT {function}({call})",
                f"SELECT {function}({call}) FROM range(0, 2, 1, 2)",
                # Spark evaluates these while it analyses.
                f"SELECT * FROM VALUES ({function}({call}))",
                f"SELECT * FROM range(length({function}({call})))",
            ):
                with pytest.raises(AnalysisException, match="may not call sparkconfig's classes") as error:
                    spark.sql(statement).collect()
                # The statement's own text is shown to who wrote it; nothing else is.
                assert "password=" not in str(error.value)
        # The application is a connect job, whose policy has no rule about what else may be called.
        if has_connect():
            refused(
                lambda: spark.sql(f"SELECT {function}('java.lang.Math', 'abs', -1)"), "sparkconfig.reflect"
            )

    def test_python_workers(self, classic, store):
        """`region` is in use in the driver, and so in what the workers' service holds; they may not have it."""
        assert driver.current(store % "region").reveal() == "a"
        texts = {key: store % key for key in ("password", "admin", "region")}

        def ask(_rows):
            from sparkconfig.worker import _newest, current

            for key, text in texts.items():
                try:
                    yield key, hash(current(text).reveal()) != 0
                except Exception as error:
                    yield key, type(error).__name__
            yield "held", sorted(text.rpartition(":")[2] for text in _newest().values)

        cloudpickle.register_pickle_by_value(sys.modules[__name__])
        found = dict(classic.sparkContext.parallelize(range(1), 1).mapPartitions(ask).collect())
        assert found == {
            "password": True,
            "admin": "PolicyViolation",
            "region": "PolicyViolation",
            "held": ["password}"],
        }

    def test_a_workers_socket_opens_with_the_token_alone(self, classic, store):
        """Another process of this user, which has guessed the path, gets not a byte."""
        assert driver.current(store % "region").reveal() == "a"

        def told(_rows):
            import os

            yield os.environ["SPARKCONFIG_WORKER"]

        cloudpickle.register_pickle_by_value(sys.modules[__name__])
        (text,) = classic.sparkContext.parallelize(range(1), 1).mapPartitions(told).collect()
        where = json.loads(text)

        def answer(*requests: object) -> bytes:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as guess:
                guess.settimeout(30)
                guess.connect(f"{where['folder']}/s")
                for request in requests:
                    body = json.dumps(request).encode()
                    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                        guess.sendall(struct.pack(">i", len(body)) + body)
                try:
                    return guess.recv(4096)
                except ConnectionResetError:
                    return b""

        snapshot = {"op": "snapshot"}
        wrong = where["token"][:-1] + ("a" if where["token"][-1] != "a" else "b")
        for first in (
            {},
            snapshot,
            {"token": ""},
            {"token": None},
            {"token": wrong},
            {"token": [where["token"]]},
        ):
            assert answer(first, snapshot) == b"", first.keys()
        assert b'"ok":true' in answer({"token": where["token"]})


def test_an_insert_into_a_view_of_a_load_writes_by_its_connection(spark, application):
    """The view does not show where its rows come from, and the connection may only be read."""
    frame = spark.read.format("sparkconfigtest.V1Source").option("sparkconfig.connection", "look").load()
    frame.createOrReplaceTempView("looked_at")
    rows = spark.table("looked_at").count()
    refused(lambda: spark.sql("INSERT INTO looked_at VALUES (1L)").collect(), "connection")
    assert spark.table("looked_at").count() == rows


def test_no_insert_passes_through_a_view_of_a_view_by_using(spark, application):
    """Made before a rotation and after it: the view's relation is another one then."""
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW using_look USING sparkconfigtest.V1Source {LOOK}").collect()
    rows = spark.table("using_look").count()
    for turn in ("first", "second"):
        (application["folder"] / "look.properties").write_text(f"{TURN}={turn}\n")
        spark.table("using_look").createOrReplaceTempView("over_using")
        refused(lambda: spark.sql("INSERT INTO using_look VALUES (1L)").collect(), "connection")
        refused(lambda: spark.sql("INSERT INTO over_using VALUES (1L)").collect(), "view", "using_look")
    assert spark.table("using_look").count() == rows


@pytest.mark.sparks(since="4.0")  # on 3.5 a reader's options reach a V1 table's source as they are written
def test_a_connection_that_a_reader_names_is_nobody_elses(spark):
    spark.sql("CREATE TABLE IF NOT EXISTS lazily (id BIGINT) USING sparkconfigtest.LazyV1Source").collect()
    frame = spark.read.option("sparkconfig.connection", "peek").table("lazily")
    rows = frame.count()
    with pytest.raises(Exception, match="given nothing"):
        spark.sql("INSERT INTO lazily VALUES (1L)").collect()
    frame.createOrReplaceTempView("looked_at_lazily")
    refused(lambda: spark.sql("INSERT INTO looked_at_lazily VALUES (1L)").collect(), "connection")
    assert frame.count() == rows


def test_an_insert_into_a_view_by_using_without_a_connection_is_nobodys_business(spark):
    options = f"OPTIONS (password '{SECRET}')"
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW own USING sparkconfigtest.V1Source {options}").collect()
    rows = spark.table("own").count()
    spark.sql("INSERT INTO own VALUES (1L)").collect()
    assert spark.table("own").count() == rows + 1


@pytest.mark.sparks(since="4.0")
def test_an_insert_into_a_view_by_using_of_a_v2_source_writes_by_its_connection(spark):
    from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceWriter

    class Logbook(DataSource):
        @classmethod
        def name(cls):
            return "logbook"

        def schema(self):
            return "id bigint"

        def reader(self, schema):
            class Reader(DataSourceReader):
                def read(self, partition):
                    yield (1,)

            return Reader()

        def writer(self, schema, overwrite):
            class Writer(DataSourceWriter):
                def write(self, rows):
                    raise ValueError("it was written")

            return Writer()

    spark.dataSource.register(Logbook)
    options = "OPTIONS (`sparkconfig.connection` 'log')"
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW logged USING logbook {options}").collect()
    assert spark.table("logged").count() == 1
    refused(lambda: spark.sql("INSERT INTO logged VALUES (1L)").collect(), "connection")
    refused(lambda: spark.range(1).write.insertInto("logged"), "connection")
