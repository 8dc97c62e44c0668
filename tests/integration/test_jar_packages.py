"""The packages of the shim: who uses whom, read from the jar that the tests run."""

from pathlib import Path

import pytest

from support.class_files import circle, package_arrows
from support.shim import shim_jar

ROOT = Path(__file__).resolve().parents[2]
OURS = ("io.sparkconfig", "org.apache.spark")


@pytest.fixture(scope="module")
def arrows():
    return package_arrows([shim_jar()], OURS)


def test_no_packages_use_each_other(arrows) -> None:
    found = circle(arrows)
    why = [
        f"{here} -> {there}: {sorted(arrows[here][there])[:3]}"
        for here in found
        for there in found
        if there in arrows[here]
    ]
    assert not found, "\n".join(why)


def test_what_everything_uses_uses_none_of_us(arrows) -> None:
    assert not [there for there in arrows["io.sparkconfig.core"] if there.startswith("io.sparkconfig")]
    assert set(arrows["io.sparkconfig.redaction.engine"]) <= {"io.sparkconfig.core"}


def test_the_access_to_spark_knows_no_more_of_us_than_the_page(arrows) -> None:
    used = {
        there
        for here, others in arrows.items()
        if here.startswith("org.apache.spark")
        for there in others
        if there.startswith("io.sparkconfig")
    }
    assert used <= {"io.sparkconfig.ui"}  # a tab and a plugin of the history server are Spark's classes


def test_an_arrow_back_would_be_found() -> None:
    assert circle({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a"]}) == ["a", "b", "c"]


def test_only_names_that_people_write_into_confs_stand_at_the_top() -> None:
    for source in (ROOT / "jvm-shim" / "src" / "main" / "scala" / "io" / "sparkconfig").glob("*.scala"):
        assert source.stem in {"ConfigExtensions", "ConfigPlugin"}
