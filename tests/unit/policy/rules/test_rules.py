"""The policy Rules: elements, and which of them counts."""

import json

import pytest

from sparkconfig.secret import Secret
from unit.policy.helpers import CANARY, denied, engine, request, rules


def allowed(tmp_path, element, value, **fields):
    scope = fields.pop("scope", "application")
    key = fields.pop("key", element.get("key"))
    with_engine = engine(tmp_path, rules(element))
    decision = with_engine.check(request({key: value}, scope=scope, **fields))
    assert CANARY not in str(decision.violations)
    return decision.allowed


@pytest.mark.parametrize(
    ("element", "good", "bad"),
    [
        ({"type": "fixed", "value": "a"}, ["a", " a "], ["b", "A", "", None]),
        ({"type": "fixed", "value": True}, ["true", "TRUE", True], ["false", "1", False]),
        ({"type": "fixed", "value": 10}, ["10", 10, "10.0", "010"], ["11", "ten"]),
        ({"type": "forbidden"}, [None], ["", "a", 1]),
        ({"type": "unlimited"}, ["", "x", None, 7, "${env:X}"], []),
        ({"type": "allowlist", "values": ["a", 2, True]}, ["a", "2", "TRUE", 2, True], ["b", "A", "", "3"]),
        (
            {"type": "blocklist", "values": ["Bad", 0]},
            ["good", "1", ""],
            ["Bad", " bad ", "BAD", "0", "00", "0.0"],
        ),
        ({"type": "regex", "pattern": "a+|b"}, ["a", "aaa", "b"], ["", "ab", "xa", "a\n", "a b"]),
        (
            {"type": "range", "minValue": 1, "maxValue": 5},
            ["1", "5", 3, "2.5", 2.5],
            ["0", "6", "x", "", "NaN", "1e9", True],
        ),
        ({"type": "range", "maxValue": 5}, ["-100", "5"], ["5.1"]),
        ({"type": "range", "minValue": "unlimited", "maxValue": 5}, ["-1"], ["6"]),
        ({"type": "range", "minValue": 5, "maxValue": "unlimited"}, ["5", "99999999999999999999"], ["4"]),
        (
            {"type": "range", "maxValue": "2g"},
            ["2g", "2048m", "1000", "2147483648"],
            ["2049m", "3g", "2147483649", "1x"],
        ),
        ({"type": "range", "maxValue": "30s"}, ["30s", "30000", "0min"], ["31s", "1h", "30001"]),
        ({"type": "range", "maxValue": 10, "unit": "min"}, ["10", "600s", "10m"], ["11", "1h"]),
        ({"type": "range", "maxValue": 10, "unit": "gib"}, ["10", "10g", "10240m"], ["11", "1t"]),
    ],
)
def test_elements(tmp_path, element, good, bad):
    element = {"key": "spark.acme.x", **element}
    for value in good:
        assert allowed(tmp_path, element, value), value
    for value in bad:
        assert not allowed(tmp_path, element, value), value


@pytest.mark.parametrize("value", [[], {}, ["a"], {"a": 1}, object()])
def test_values_that_are_not_text_are_refused(tmp_path, value):
    element = {"key": "spark.acme.x", "type": "regex", "pattern": ".*"}
    assert not allowed(tmp_path, element, value)


def test_a_secret_is_evaluated_by_its_value(tmp_path):
    element = {"key": "spark.acme.x", "type": "regex", "pattern": "s3cret.*"}
    assert allowed(tmp_path, element, Secret(CANARY))
    assert not allowed(tmp_path, element, Secret("other"))


def test_a_deprecated_key_counts_in_its_own_unit(tmp_path):
    element = {"key": "spark.kryoserializer.buffer", "type": "range", "maxValue": "1m"}
    assert allowed(tmp_path, element, "1024")
    assert allowed(tmp_path, element, "1", key="spark.kryoserializer.buffer.mb")
    assert not allowed(tmp_path, element, "2", key="spark.kryoserializer.buffer.mb")


@pytest.mark.parametrize(
    ("scope", "name"),
    [
        ("application", "spark.hadoop.fs.s3a.endpoint"),
        ("session", "fs.s3a.endpoint"),
        ("session", "spark.hadoop.fs.s3a.endpoint"),
        ("source", "fs.s3a.endpoint"),
        ("source", "FS.S3A.ENDPOINT"),
        ("hadoop", "fs.s3a.endpoint"),
    ],
)
@pytest.mark.parametrize(
    "key", ["fs.s3a.endpoint", "spark.hadoop.fs.s3a.endpoint", "fs.s3a.*", "spark.hadoop.*"]
)
def test_hadoop_keys_in_every_form(tmp_path, scope, name, key):
    assert not allowed(tmp_path, {"key": key, "type": "forbidden"}, "x", key=name, scope=scope)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("fs.s3a.endpoint", "spark.hadoop.fs.s3a.bucket.b1.endpoint"),
        ("fs.s3a.endpoint", "fs.s3a.bucket.dotted.name.endpoint"),
        ("fs.azure.account.auth.type", "fs.azure.account.auth.type.acme.dfs.core.windows.net"),
    ],
)
def test_the_key_of_one_bucket_or_account_obeys_the_general_rule(tmp_path, key, name):
    assert not allowed(tmp_path, {"key": key, "type": "forbidden"}, "x", key=name, scope="session")
    assert (
        not engine(tmp_path, defaults={f"spark.hadoop.{key}": "y"})
        .check(request({name: "x"}, scope="session"))
        .allowed
    )
    both = rules({"key": key, "type": "forbidden"}, {"key": name, "type": "unlimited"})
    assert engine(tmp_path, both).check(request({name: "x"}, scope="session")).allowed


def test_two_spellings_in_one_request_are_both_evaluated(tmp_path):
    element = {"key": "spark.executor.memoryOverhead", "type": "range", "maxValue": "1g"}
    props = {"spark.executor.memoryOverhead": "1g", "spark.yarn.executor.memoryOverhead": "9g"}
    assert denied(engine(tmp_path, rules(element)).check(request(props))) == [
        "spark.yarn.executor.memoryOverhead"
    ]


EXACT, PATTERN = "spark.sql.x", "spark.sql.*"


@pytest.mark.parametrize(
    ("first", "second", "job_type", "ok"),
    [
        # An exact key before a pattern, whatever the order, also if the pattern names the job type.
        ((PATTERN, "forbidden"), (EXACT, "unlimited"), "batch", True),
        ((EXACT, "forbidden"), (PATTERN, "unlimited"), "batch", False),
        ((PATTERN, "forbidden", {"jobTypes": ["sql"]}), (EXACT, "unlimited"), "sql", True),
        # The longer pattern before the shorter.
        (("spark.*", "unlimited"), (PATTERN, "forbidden"), "batch", False),
        # The rule that names the job type or the scope before the one for all.
        ((EXACT, "forbidden"), (EXACT, "unlimited", {"jobTypes": ["sql"]}), "sql", True),
        ((EXACT, "forbidden"), (EXACT, "unlimited", {"jobTypes": ["sql"]}), "batch", False),
        ((EXACT, "forbidden"), (EXACT, "unlimited", {"scopes": ["application"]}), "batch", True),
        # Equally specific rules must all allow.
        ((EXACT, "unlimited"), (EXACT, "forbidden"), "batch", False),
        (("spark.a*", "forbidden"), ("*spark.a", "unlimited"), "batch", True),
    ],
)
def test_precedence(tmp_path, first, second, job_type, ok):
    elements = [{"key": key, "type": kind, **dict(*more)} for key, kind, *more in (first, second)]
    for order in (elements, elements[::-1]):
        decision = engine(tmp_path, rules(*order)).check(request({EXACT: "1"}, job_type=job_type))
        assert decision.allowed is ok


def test_all_problems_come_together_and_say_where(tmp_path):
    document = """{
      "rules": [
        {"key": "spark.a", "type": "forbidden"},
        {"key": "spark.b", "type": "fixed", "value": "x", "message": "ask the platform team"}
      ]
    }"""
    decision = engine(tmp_path, document).check(
        request({"spark.a": CANARY, "spark.b": CANARY, "spark.c": CANARY})
    )
    assert denied(decision) == ["spark.a", "spark.b"]
    assert "policy.json line 3" in decision.violations[0]
    assert "ask the platform team" in decision.violations[1]
    assert "policy.json line 4" in decision.violations[1]
    assert CANARY not in str(decision.message)


def test_hidden_rules_and_secret_keys_do_not_quote_the_policy(tmp_path):
    for element in (
        {"key": "spark.acme.x", "type": "allowlist", "values": ["pol1cy-text"], "hidden": True},
        {"key": "spark.acme.password", "type": "allowlist", "values": ["pol1cy-text"]},
        {"key": "spark.acme.x", "type": "fixed", "value": "pol1cy-text"},
    ):
        decision = engine(tmp_path, rules(element)).check(request({element["key"]: CANARY}))
        assert not decision.allowed
        assert "pol1cy-text" not in str(decision)
        assert "pol1cy-text" not in str(decision.message)
    shown = {"key": "spark.acme.x", "type": "allowlist", "values": ["pol1cy-text"]}
    assert "pol1cy-text" in engine(tmp_path, rules(shown)).check(request({"spark.acme.x": "y"})).message


def test_required_and_default_count_only_when_everything_is_known(tmp_path):
    document = rules(
        {"key": "spark.acme.team", "type": "regex", "pattern": "[a-z]+", "isOptional": False},
        {"key": "spark.acme.cost", "type": "unlimited", "defaultValue": 7, "isOptional": False},
        {"key": "spark.acme.fixed", "type": "fixed", "value": "f"},
        {"key": "spark.acme.sql", "type": "fixed", "value": "f", "jobTypes": ["sql"]},
        {"key": "spark.acme.free", "type": "range", "maxValue": 1},
    )
    checker = engine(tmp_path, document)
    assert checker.check(request({})).allowed
    decision = checker.check(request({}, complete=True))
    assert [text.split(":")[0] for text in decision.violations] == ["spark.acme.team"]
    assert decision.defaults == {"spark.acme.cost": "7", "spark.acme.fixed": "f"}
    decision = checker.check(request({"SPARK.acme.team": "x", "spark.acme.cost": "8"}, complete=True))
    assert decision.allowed
    assert decision.defaults == {"spark.acme.fixed": "f"}


def test_a_star_is_about_confs_and_spares_what_the_launcher_sets(tmp_path):
    checker = engine(tmp_path, rules({"key": "*", "type": "forbidden"}))
    ordinary = {
        "spark.master": "local",
        "spark.app.name": "x",
        "spark.app.id": "1",
        "spark.driver.port": "1",
        "spark.rdd.compress": "True",
    }
    assert checker.check(request(ordinary)).allowed
    assert checker.check(request({"header": "true", "path": "/x"}, scope="source")).allowed
    assert not checker.check(request({"spark.executor.memory": "1g"})).allowed
    assert not checker.check(request({"fs.s3a.access.key": "x"}, scope="session")).allowed


DATABRICKS = {
    "spark_version": {"type": "unlimited", "defaultValue": "auto:latest-lts"},
    "node_type_id": {"type": "allowlist", "values": ["i3.xlarge"]},
    "spark_conf.spark.databricks.io.cache.enabled": {"type": "fixed", "value": "true", "hidden": True},
    "spark_conf.spark.acme.list": {"type": "whitelist", "values": ["a"], "isOptional": True},
    "spark_conf.spark.acme.must": {"type": "blacklist", "values": ["a"]},
    "spark_conf.spark.acme.dflt": {"type": "range", "maxValue": 10, "defaultValue": 5},
    "spark_conf.spark.acme.look": {"type": "regex", "pattern": "(?!admin).*", "isOptional": True},
    "spark_conf.*": {"type": "forbidden"},
}


def test_a_databricks_policy_works_unchanged(tmp_path):
    checker = engine(tmp_path, DATABRICKS)
    good = {"spark.acme.must": "b", "spark.acme.list": "a", "spark.acme.look": "me", "spark.app.name": "x"}
    decision = checker.check(request(good, complete=True))
    assert decision.allowed
    assert decision.defaults == {"spark.databricks.io.cache.enabled": "true", "spark.acme.dflt": "5"}
    bad = {"spark.acme.list": "b", "spark.acme.look": "admin1", "spark.other": "x", "spark.acme.dflt": "11"}
    decision = checker.check(request(bad, complete=True))
    assert denied(decision) == list(bad)
    assert any(text.startswith("spark.acme.must: a job must set it") for text in decision.violations)
    assert checker.check(request({"header": "x"}, scope="source")).allowed


def test_a_missing_key_has_the_rules_own_message(tmp_path):
    rule = {"key": "spark.acme.team", "type": "regex", "pattern": "[a-z]+", "isOptional": False}
    for message in (None, "name your team, see wiki/spark"):
        document = {"rules": [rule if message is None else {**rule, "message": message}]}
        (text,) = engine(tmp_path, document).check(request({}, complete=True)).violations
        assert text.startswith(f"spark.acme.team: {message or 'a job must set it'} [")


def test_hostile_text_ends_in_time_and_is_refused(tmp_path):
    document = rules({"key": "spark.acme.*", "type": "regex", "pattern": "(a|aa)+"})
    checker = engine(tmp_path, document)
    # Without a limit each of these matches would take longer than this machine lives.
    decision = checker.check(request({f"spark.acme.{n}": "a" * 5000 + "!" for n in range(200)}))
    assert len(denied(decision)) == 200
    assert checker.check(request({"spark.acme.ok": "aaa"})).allowed


def test_ten_thousand_odd_properties_have_an_answer(tmp_path):
    document = rules(*({"key": f"spark.acme.{n}*x", "type": "forbidden"} for n in range(300)))
    odd = ["", " ", "\n", "\0", "=", "${a:b}", "é", "\ud800", "*", "a" * 10_000, "'; DROP", "spark.", "."]
    props = {f"{odd[n % len(odd)]}{n}": None if n % 7 == 0 else n for n in range(10_000)} | dict.fromkeys(
        odd, "v"
    )
    decision = engine(tmp_path, document).check(request(props))
    assert len(decision.values) == len(props)
    json.dumps(decision.violations)


def test_a_quick_match_leaves_time_for_the_next(tmp_path):
    """All matches of a request share one second."""
    element = {"key": "spark.acme.*", "type": "regex", "pattern": "[a-z]+"}
    decision = engine(tmp_path, rules(element)).check(request({f"spark.acme.{n}": "abc" for n in range(20)}))
    assert denied(decision) == []
