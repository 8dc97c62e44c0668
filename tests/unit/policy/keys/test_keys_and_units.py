"""One name for each property; quantities as Spark reads them."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkconfig.policy.keys.keys import canonical, fold
from sparkconfig.policy.keys.units import Unit, parse_number, unit_named, unit_of
from sparkconfig.policy.patterns import Pattern


@pytest.mark.parametrize(
    ("name", "scope", "expected"),
    [
        ("spark.executor.memory", "application", "spark.executor.memory"),
        ("SPARK.Executor.Memory", "application", "spark.executor.memory"),
        (" spark.executor.memory ", "application", "spark.executor.memory"),
        ("spark.yarn.executor.memoryOverhead", "application", "spark.executor.memoryOverhead"),
        ("spark.yarn.max.worker.failures", "application", "spark.executor.maxNumFailures"),
        ("spark.blacklist.enabled", "application", "spark.excludeOnFailure.enabled"),
        ("spark.sql.execution.arrow.enabled", "session", "spark.sql.execution.arrow.pyspark.enabled"),
        ("spark.buffer.size", "application", "spark.hadoop.io.file.buffer.size"),
        ("fs.s3a.access.key", "session", "spark.hadoop.fs.s3a.access.key"),
        ("fs.s3a.access.key", "source", "spark.hadoop.fs.s3a.access.key"),
        ("Spark.Hadoop.fs.default.name", "application", "spark.hadoop.fs.defaultFS"),
        ("spark.hive.metastore.uris", "application", "spark.hadoop.hive.metastore.uris"),
        ("hive.metastore.uris", "session", "spark.hadoop.hive.metastore.uris"),
        ("net.topology.script", "hadoop", "spark.hadoop.net.topology.script"),
        ("set:hiveconf:spark.executor.memory", "session", "spark.executor.memory"),
        ("view.sqlConfig.spark.sql.session.timeZone", "catalog", "spark.sql.session.timeZone"),
        ("header", "source", "header"),
        ("acks", "connector", "acks"),
        (" SASL.Mechanism", "connector", " SASL.Mechanism"),
        ("", "application", ""),
        ("\u212a", "application", "\u212a"),
    ],
)
def test_canonical(name, scope, expected):
    assert canonical(name, scope) == expected


@given(st.text(max_size=60), st.sampled_from(["application", "session", "source", "hadoop"]))
def test_canonical_is_stable(name, scope):
    once = canonical(name, scope)
    assert fold(canonical(once, scope)) == fold(once)


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        ("spark.executor.memory", "4096", 4096 << 20),
        ("spark.executor.memory", "4g", 4 << 30),
        ("spark.executor.memory", "4GB", 4 << 30),
        ("spark.executor.memoryOverhead", "1024", 1 << 30),
        ("spark.yarn.executor.memoryOverhead", "1024", 1 << 30),
        ("spark.driver.maxResultSize", "1024", 1024),
        ("spark.kryoserializer.buffer.mb", "1", 1 << 20),
        ("spark.network.timeout", "120", 120_000_000),
        ("spark.network.timeout", "120ms", 120_000),
        ("spark.executor.heartbeatInterval", "10", 10_000),
        ("spark.network.timeout", "2m", 120_000_000),
    ],
)
def test_units_of_known_keys(key, text, expected):
    unit = unit_of(key)
    assert unit is not None
    assert unit.parse(text) == expected


@pytest.mark.parametrize(
    "text", ["", "g", "1x", "NaN", "Infinity", "1e400g", "9" * 40, "1 2", "--1", "0x10", "1g1"]
)
def test_no_quantity(text):
    assert Unit("size", "b").parse(text) is None


@pytest.mark.parametrize("text", ["NaN", "inf", "1e999", "1_000", "\u0661", ""])
def test_no_number(text):
    assert parse_number(text) is None


def test_numbers():
    assert parse_number(" -1.50 ") == Decimal("-1.5")
    assert unit_named("MiB") == Unit("size", "mib")
    assert unit_named("m") is None
    assert unit_of("spark.acme.limit") is None


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("*", "", True),
        ("*", "anything", True),
        ("a*", "a", True),
        ("a*a", "a", False),
        ("a*a", "aa", True),
        ("*.key", "fs.key", True),
        ("a*b*c", "a-b-c", True),
        ("a*b*c", "acb", False),
        ("a**c", "abc", True),
        ("ab*bc", "abc", False),
        ("spark.sql.*", "spark.sqlx.y", False),
        ("a.c", "abc", False),
        ("[a]", "a", False),
    ],
)
def test_patterns(pattern, name, fits):
    assert Pattern(pattern).matches(name) is fits


def test_a_hostile_pattern_and_name_take_no_time():
    assert not Pattern("*a" * 200 + "*b").matches("a" * 20_000)
