"""The table of key spellings and units against the Spark that is installed: a new alias would open a door."""

from __future__ import annotations

import json
import subprocess

import pytest

from leaks.support import jvm_classes
from sparkconfig.policy.keys.keys import canonical
from sparkconfig.policy.keys.units import Unit, unit_of
from support.spark_home import java, spark_home

pytestmark = pytest.mark.spark

UNITS = {
    "1b": Unit("size", "b"),
    "1024b": Unit("size", "kib"),
    "1048576b": Unit("size", "mib"),
    "1ms": Unit("time", "ms"),
    "1000ms": Unit("time", "s"),
    "60000ms": Unit("time", "min"),
}


@pytest.fixture(scope="module")
def entries():
    """What Spark's registries say; compiled with the compiler in the pyspark wheel."""
    path = f"{jvm_classes()}:{spark_home()}/jars/*"
    dump = ["org.apache.spark.sql.internal.policykeys.DumpKeys"]
    done = subprocess.run(
        [java(), "-Xmx512m", "-cp", path, *dump],
        check=True,
        timeout=120,
        capture_output=True,
        text=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def test_every_other_name_of_a_key_is_known(entries):
    missing = {
        name: entry["key"]
        for entry in entries
        for name in entry["names"]
        if canonical(name) != canonical(entry["key"])
    }
    assert missing == {}
    assert any(entry["names"] for entry in entries)


def test_every_unit_of_a_key_is_known(entries):
    wrong = {
        entry["key"]: entry["unit"]
        for entry in entries
        if entry["unit"] and unit_of(entry["key"]) != UNITS[entry["unit"]]
    }
    assert wrong == {}
    assert sum(1 for entry in entries if entry["unit"]) > 100
