"""Policies of Databricks: what its API exports, and secrets that only Databricks expands."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from sparkconfig.policy.rules import rulebook
from unit.policy.helpers import denied, engine, request

KEY = "spark.hadoop.javax.jdo.option.ConnectionPassword"
SECRET = "{{secrets/shopscope/metastorepass}}"
ELEMENTS = [
    {"type": "fixed", "value": SECRET},
    {"type": "fixed", "value": SECRET, "hidden": True},
    {"type": "fixed", "value": "{{ secrets/shopscope/metastorepass }}"},
    {"type": "fixed", "value": f"jdbc:x://h/db?password={SECRET}"},
    {"type": "unlimited", "defaultValue": SECRET},
    {"type": "allowlist", "values": [SECRET, "other"], "defaultValue": SECRET},
    {"type": "allowlist", "values": [SECRET], "isOptional": True},
    {"type": "regex", "pattern": r"\{\{secrets/shopscope/.*\}\}", "isOptional": True},
    {"type": "regex", "pattern": "[{]{2}secrets/[a-z/]+[}]{2}", "isOptional": True},
]


@pytest.mark.parametrize("element", ELEMENTS, ids=str)
def test_a_secret_of_databricks_is_never_put_in_place_and_never_compared(
    tmp_path: Path, element: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    rulebook._say_secrets.cache_clear()
    with caplog.at_level(logging.WARNING):
        checker = engine(tmp_path, {f"spark_conf.{KEY}": element})
    # Once, though each of the two policies loads the document.
    assert caplog.text.count("only Databricks can compare") == 1
    unset = checker.check(request({}, complete=True))
    assert unset.allowed
    assert unset.defaults == {}
    for value in ("as-databricks-expanded-it-1", SECRET, "${databricks:shop:password}"):
        assert checker.check(request({KEY: value}, complete=True)).allowed


def test_what_is_beside_it_still_counts(tmp_path: Path) -> None:
    policy = {
        f"spark_conf.{KEY}": {"type": "fixed", "value": SECRET},
        "spark_conf.spark.acme.pool": {"type": "fixed", "value": "small"},
        "spark_conf.spark.acme.not": {"type": "blocklist", "values": [SECRET, "bad"], "isOptional": True},
    }
    checker = engine(tmp_path, policy)
    assert checker.check(request({}, complete=True)).defaults == {"spark.acme.pool": "small"}
    assert denied(checker.check(request({"spark.acme.pool": "x", "spark.acme.not": "bad"}))) == [
        "spark.acme.pool",
        "spark.acme.not",
    ]


INNER = {"spark_conf.spark.acme.pool": {"type": "fixed", "value": "small"}}


@pytest.mark.parametrize(
    "wrapper",
    [
        {"policy_id": "A1", "name": "team", "definition": json.dumps(INNER), "created_at_timestamp": 1},
        {"definition": json.dumps(INNER, indent=2)},
        {"definition": INNER},
        {"name": "x", "policy_family_definition_overrides": json.dumps(INNER)},
        {"definition": "// as a template\n" + json.dumps(INNER)},
    ],
    ids=["api", "indented", "object", "family", "comment"],
)
def test_the_export_of_databricks_api_is_read(tmp_path: Path, wrapper: dict[str, object]) -> None:
    checker = engine(tmp_path, wrapper)
    assert denied(checker.check(request({"spark.acme.pool": "large"}))) == ["spark.acme.pool"]


def test_a_mistake_in_an_export_is_found(tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"definition.*not JSON"):
        engine(tmp_path, {"definition": "{"})
