"""Rules about the options of some data sources: ``formats``, and several keys in one rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sparkconfig.errors import ConfigurationError
from unit.policy.helpers import engine, request, rules

JDBC: list[dict[str, Any]] = [
    {"key": "*", "type": "forbidden", "formats": ["jdbc", "*.jdbc"]},
    {"key": ["dbtable", "fetchSize"], "type": "unlimited", "formats": ["jdbc", "*.jdbc"]},
    {"key": "header", "type": "unlimited", "scopes": ["source", "sink"]},
]


def _allows(
    tmp_path: Path, found: list[dict[str, Any]], key: str, *formats: str, scope: str = "source"
) -> bool:
    return engine(tmp_path, rules(*found)).check(request({key: "x"}, scope=scope, formats=formats)).allowed


@pytest.mark.parametrize(
    ("key", "formats", "ok"),
    [
        ("dbtable", ["jdbc"], True),
        ("FetchSize", ["JDBC "], True),
        ("sslKey", ["jdbc"], False),
        ("sslkey", ["org.apache.spark.sql.jdbc", "jdbc"], False),
        ("sslkey", ["com.acme.Own.jdbc"], False),
        ("sslkey", ["csv"], True),
        # Nobody knows whose option it is: it may be the rule's.
        ("sslkey", [], False),
        ("dbtable", [], True),
        ("header", [], True),
    ],
)
@pytest.mark.parametrize("scope", ["source", "sink"])
def test_options_of_one_source(tmp_path: Path, key: str, formats: list[str], ok: bool, scope: str) -> None:
    assert _allows(tmp_path, JDBC, key, *formats, scope=scope) is ok


@pytest.mark.parametrize("scope", ["application", "session", "catalog", "hadoop"])
def test_they_are_not_about_confs(tmp_path: Path, scope: str) -> None:
    assert _allows(tmp_path, JDBC, "spark.acme.x", scope=scope)


def test_one_that_names_formats_decides_before_one_that_does_not(tmp_path: Path) -> None:
    both = [
        {"key": "a", "type": "forbidden", "scopes": ["source"]},
        {"key": "a", "type": "unlimited", "formats": "jdbc"},
    ]
    assert _allows(tmp_path, both, "a", "jdbc")
    assert not _allows(tmp_path, both, "a", "csv")


def test_answers_are_kept_for_each_source(tmp_path: Path) -> None:
    kept = engine(tmp_path, rules(*JDBC))
    for name in ("csv", "jdbc", "csv"):
        asked = request({"sslkey": "x"}, scope="source", formats=(name,))
        assert kept.check(asked).allowed is (name == "csv")


def test_several_keys_are_as_many_rules(tmp_path: Path) -> None:
    both = [{"key": ["spark.acme.a", "spark.acme.b*"], "type": "range", "maxValue": 5}]
    for key in ("spark.acme.a", "spark.acme.b", "spark.acme.bc"):
        kept = engine(tmp_path, rules(*both))
        assert kept.check(request({key: "5"})).allowed
        assert not kept.check(request({key: "6"})).allowed


@pytest.mark.parametrize(
    ("element", "message"),
    [
        ({"key": "a", "formats": "jdbc", "scopes": ["session"]}, "scopes are source and sink"),
        ({"key": "a", "formats": []}, "formats"),
        ({"key": []}, "key"),
        ({"key": ["a", ""]}, "key"),
        ({"key": ["spark.acme.a", "b*"], "isOptional": False}, "a pattern of keys"),
    ],
)
def test_mistakes(tmp_path: Path, element: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        engine(tmp_path, rules({"type": "unlimited", **element}))


def test_databricks_has_no_formats(tmp_path: Path) -> None:
    document = {"spark_conf.spark.acme.x": {"type": "unlimited", "isOptional": True, "formats": "jdbc"}}
    with pytest.raises(ConfigurationError, match="scopes are source and sink"):
        engine(tmp_path, document)
