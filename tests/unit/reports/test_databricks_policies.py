"""Policies of Databricks: what its API exports, and secrets that only Databricks expands."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.rules import rulebook
from unit.policy.helpers import denied, engine, request

KEY = "spark.hadoop.javax.jdo.option.ConnectionPassword"
SECRET = "{{secrets/shopscope/metastorepass}}"
ELEMENTS = [
    {"type": "fixed", "value": SECRET},
    {"type": "fixed", "value": SECRET, "hidden": True},
    {"type": "fixed", "value": "{{ secrets/shopscope/metastorepass }}"},
    {"type": "unlimited", "defaultValue": SECRET},
    {"type": "allowlist", "values": [SECRET, "other"], "defaultValue": SECRET},
    {"type": "allowlist", "values": [SECRET], "isOptional": True},
    {"type": "regex", "pattern": r"\{\{secrets/shopscope/.*\}\}", "isOptional": True},
    {"type": "regex", "pattern": "[{]{2}secrets/[a-z/]+[}]{2}", "isOptional": True},
]


@pytest.mark.parametrize("element", ELEMENTS, ids=str)
def test_databricks_policy_secret_placeholder(
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


URL = f"jdbc:x://h/db?user=u&password={SECRET}"


@pytest.mark.parametrize(
    ("element", "good", "bad"),
    [
        (
            {"type": "fixed", "value": URL},
            ["jdbc:x://h/db?user=u&password=Hor/se=9+@", URL],
            ["jdbc:x://evil/db?user=u&password=a", "jdbc:x://h/db?user=u&password=a&host=evil", "anything", ""],
        ),
        (
            {"type": "fixed", "value": f"amqp://u:{SECRET}@h/x", "hidden": True},
            ["amqp://u:a9@h/x"], ["amqp://u:a9@evil/x", "amqp://u:a@evil/@h/x", "amqp://u:evil/@h/x", "amqp://u:@h/x"],
        ),
        (
            {"type": "fixed", "value": f'o.Login required username="u" password="{SECRET}";'},
            ['o.Login required username="u" password="a&9";'], ['o.Login required username="u" password="a" x="b";'],
        ),
        ({"type": "fixed", "value": f"{SECRET}:{SECRET}.x"}, ["a:b.x", f"{SECRET}:b.x"], ["a.x", "a:b.y"]),
        ({"type": "fixed", "value": f"prefix-{SECRET}"}, ["prefix-a(9)"], ["prefix-", "x-prefix-a", "pre"]),
        ({"type": "fixed", "value": f"{SECRET}-suffix"}, ["a-suffix"], ["-suffix", "a-suffix2"]),
        (
            {"type": "allowlist", "values": [URL, "jdbc:x://other/db"], "isOptional": True},
            ["jdbc:x://h/db?user=u&password=a", "jdbc:x://other/db"], ["jdbc:x://other/db2", "jdbcXx://other/db"],
        ),
        (
            {"type": "regex", "pattern": r"jdbc:x://h/.*password=\{\{secrets/shop/.*\}\}", "isOptional": True},
            ["jdbc:x://h/db?password=a"], ["jdbc:x://evil/db?password=a", "jdbc:x://h/db?password=a&b=c d"],
        ),
        (
            {"type": "regex", "pattern": "pre-[{]{2}secrets/[a-z/]+[}]{2}-post", "isOptional": True},
            ["pre-a-post"], ["pre-a", "a"],
        ),
        ({"type": "unlimited", "defaultValue": URL}, ["anything"], []),
    ],
    ids=str,
)  # fmt: skip
def test_databricks_policy_secret_placeholder_beside_other_text(
    tmp_path: Path, element: dict[str, object], good: list[str], bad: list[str]
) -> None:
    checker = engine(tmp_path, {f"spark_conf.{KEY}": element})
    unset = checker.check(request({}, complete=True))
    assert unset.allowed
    assert unset.defaults == {}
    assert {
        value: checker.check(request({KEY: value}, complete=True)).allowed for value in (*good, *bad)
    } == {
        **dict.fromkeys(good, True),
        **dict.fromkeys(bad, False),
    }


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
        {
            "policies": [{"policy_id": "A1", "name": "team", "definition": json.dumps(INNER)}],
            "total_count": 1,
        },
        {"policies": [{"definition": INNER}]},
        [{"policy_id": "A1", "name": "team", "definition": json.dumps(INNER)}],
    ],
    ids=[
        "api",
        "indented",
        "object",
        "family",
        "comment",
        "list of the api",
        "list of objects",
        "command line",
    ],
)
def test_the_export_of_databricks_api_is_read(tmp_path: Path, wrapper: object) -> None:
    checker = engine(tmp_path, wrapper)
    assert denied(checker.check(request({"spark.acme.pool": "large"}))) == ["spark.acme.pool"]


def test_a_mistake_in_an_export_is_found(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"definition.*not JSON"):
        engine(tmp_path, {"definition": "{"})


@pytest.mark.parametrize("wrapped", [True, False])
def test_several_policies_in_an_export_are_named(tmp_path: Path, wrapped: bool) -> None:
    policies = [{"name": name, "definition": json.dumps(INNER)} for name in ("team", "jobs")]
    with pytest.raises(ConfigurationError, match=r"2 policies of Databricks \(team, jobs\); keep the one"):
        engine(tmp_path, {"policies": policies} if wrapped else policies)
    with pytest.raises(ConfigurationError, match="0 policies"):
        engine(tmp_path, {"policies": []})


def test_the_line_of_a_mistake_in_a_list(tmp_path: Path) -> None:
    inner = {"spark_conf.spark.acme.pool": {"type": "fixd", "value": "small"}}
    with pytest.raises(ConfigurationError, match=r"line \d"):
        engine(tmp_path, {"policies": [{"definition": inner}]})
