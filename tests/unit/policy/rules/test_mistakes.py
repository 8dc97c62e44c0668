"""The policy Rules: mistakes in its documents, and a package that is missing."""

import sys

import pytest

from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.loader import make_policy
from unit.policy.helpers import engine, rules

RANGE = '"key": "a", "type": "range"'


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ('"key": "a", "type": "rage"', ["rules[0]", "type must be"]),
        ('"key": "a"', ["rules[0]"]),
        ('"key": "a", "type": "fixed"', ["rules[0].value", "missing"]),
        ('"type": "forbidden"', ["rules[0].key"]),
        (f'{RANGE}, "maxvalue": 1', ["rules[0].maxvalue", "maxValue"]),
        (RANGE, ["minValue or maxValue"]),
        (f'{RANGE}, "maxValue": "x"', ["maxValue is not a number"]),
        (f'{RANGE}, "maxValue": "5m"', ["min or mib"]),
        (f'{RANGE}, "maxValue": true', ["rules[0].maxValue"]),
        (f'{RANGE}, "minValue": 2, "maxValue": 1', ["larger"]),
        (f'{RANGE}, "maxValue": 1, "unit": "x"', ["unit"]),
        ('"key": "a", "type": "regex", "pattern": "("', ["not a regular expression"]),
        ('"key": "a", "type": "allowlist", "values": []', ["rules[0].values"]),
        ('"key": "a", "type": "allowlist", "values": "x"', ["rules[0].values"]),
        ('"key": "a", "type": "fixed", "value": {}', ["rules[0].value", "expected text"]),
        ('"key": "a", "type": "forbidden", "jobTypes": ["bach"]', ["jobTypes[0]"]),
        ('"key": "a*", "type": "unlimited", "defaultValue": 1', ["pattern"]),
        ('"key": "a", "type": "forbidden", "type": "fixed"', ["'type' twice"]),
    ],
)
def test_a_mistake_in_a_rule_names_line_and_field(tmp_path, rule, words):
    with pytest.raises(ConfigurationError) as caught:
        engine(tmp_path, f'{{"rules": [\n{{{rule}}}\n]}}')
    for word in ("line 2", *words):
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ('{"rules": [],\n "tabels": []}', ["line 2", "tabels", "tables"]),
        ('{"rules": [\n', ["line 2", "not JSON"]),
        ('{"rules": [NaN]}', ["not JSON"]),
        ("[]", ["one object"]),
        ("{}", ["empty"]),
        ('{"spark_version": {"type": "forbidden"}}', ["spark_conf"]),
        ('{\n"spark_cnof.x": {"type": "forbidden"}}', ["line 2", "spark_conf.KEY"]),
        ('{\n"spark_conf": {"x": {"type": "forbidden"}}}', ["line 2", "spark_conf.KEY"]),
        ('{"spark_conf.x": {"type": "forbidden"},\n"spark_conf.y": {"type": "fixd"}}', ["line 2", "spark_conf.y"]),
        ('{"references": [\n{"type": "allow"}]}', ["line 2", "references[0].provider", "missing"]),
        ('{"tables": [\n{"require": {"provder": {"type": "forbidden"}}}]}', ["line 2", "provder", "provider"]),
        ('{"tables": [\n{"tables": "x"}]}', ["line 2", "tables[0]"]),
        ("{" * 5000, ["not JSON"]),
    ],
)  # fmt: skip
def test_a_mistake_names_line_and_field(tmp_path, document, words):
    with pytest.raises(ConfigurationError) as caught:
        engine(tmp_path, document)
    for word in words:
        assert word in str(caught.value)


def test_all_mistakes_are_reported_together(tmp_path):
    document = '{"rules": [{"key": "a", "type": "x"},\n {"key": "b", "type": "regex", "pattern": 5}]}'
    with pytest.raises(ConfigurationError) as caught:
        engine(tmp_path, document)
    assert "rules[0]" in str(caught.value)
    assert "line 2, rules[1].pattern" in str(caught.value)


def test_toml_says_what_to_write(tmp_path):
    file = tmp_path / "p.toml"
    file.write_text("version = 1\n")
    with pytest.raises(ConfigurationError, match="write it as JSON"):
        make_policy("Rules", {"file": str(file)}, {})


def test_the_policy_without_its_extra_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "regex", None)
    with pytest.raises(ConfigurationError, match=r"sparkconfig\[policy\]"):
        engine(tmp_path, rules({"key": "a", "type": "forbidden"}))
