"""The policy Rules: mistakes in its documents, and a package that is missing."""

import sys

import pytest

from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.loader import make_policy
from sparkconfig.policy.rules import document
from unit.policy.helpers import engine, rules


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ('{"rules": [\n{"key": "a", "type": "rage"}\n]}', ["line 2", "rules[0]", "type must be"]),
        ('{"rules": [\n{"key": "a"}\n]}', ["line 2", "rules[0]"]),
        ('{"rules": [\n{"key": "a", "type": "fixed"}\n]}', ["line 2", "rules[0].value", "missing"]),
        ('{"rules": [\n{"type": "forbidden"}\n]}', ["line 2", "rules[0].key"]),
        (
            '{"rules": [\n{"key": "a", "type": "range",\n "maxvalue": 1}\n]}',
            ["line 3", "rules[0].maxvalue", "maxValue"],
        ),
        ('{"rules": [\n{"key": "a", "type": "range"}\n]}', ["line 2", "minValue or maxValue"]),
        (
            '{"rules": [\n{"key": "a", "type": "range", "maxValue": "x"}\n]}',
            ["line 2", "maxValue is not a number"],
        ),
        ('{"rules": [\n{"key": "a", "type": "range", "maxValue": "5m"}\n]}', ["line 2", "min or mib"]),
        ('{"rules": [\n{"key": "a", "type": "range", "maxValue": true}\n]}', ["line 2", "rules[0].maxValue"]),
        (
            '{"rules": [\n{"key": "a", "type": "range", "minValue": 2, "maxValue": 1}\n]}',
            ["line 2", "larger"],
        ),
        ('{"rules": [\n{"key": "a", "type": "range", "maxValue": 1, "unit": "x"}\n]}', ["line 2", "unit"]),
        (
            '{"rules": [\n{"key": "a", "type": "regex", "pattern": "("}\n]}',
            ["line 2", "not a regular expression"],
        ),
        ('{"rules": [\n{"key": "a", "type": "allowlist", "values": []}\n]}', ["line 2", "rules[0].values"]),
        ('{"rules": [\n{"key": "a", "type": "allowlist", "values": "x"}\n]}', ["line 2", "rules[0].values"]),
        (
            '{"rules": [\n{"key": "a", "type": "fixed", "value": {}}\n]}',
            ["line 2", "rules[0].value", "expected text"],
        ),
        (
            '{"rules": [\n{"key": "a", "type": "forbidden", "jobTypes": ["bach"]}\n]}',
            ["line 2", "jobTypes[0]"],
        ),
        ('{"rules": [\n{"key": "a*", "type": "unlimited", "defaultValue": 1}\n]}', ["line 2", "pattern"]),
        ('{"rules": [\n{"key": "a", "type": "forbidden", "type": "fixed"}\n]}', ["line 2", "'type' twice"]),
        ('{"rules": [],\n "tabels": []}', ["line 2", "tabels", "tables"]),
        ('{"rules": [\n', ["line 2", "not JSON"]),
        ('{"rules": [NaN]}', ["not JSON"]),
        ("[]", ["one object"]),
        ("{}", ["empty"]),
        ('{"spark_version": {"type": "forbidden"}}', ["spark_conf"]),
        ('{\n"spark_cnof.x": {"type": "forbidden"}}', ["line 2", "spark_conf.KEY"]),
        ('{\n"spark_conf": {"x": {"type": "forbidden"}}}', ["line 2", "spark_conf.KEY"]),
        (
            '{"spark_conf.x": {"type": "forbidden"},\n"spark_conf.y": {"type": "fixd"}}',
            ["line 2", "spark_conf.y"],
        ),
        ('{"references": [\n{"type": "allow"}]}', ["line 2", "references[0].provider", "missing"]),
        (
            '{"tables": [\n{"require": {"provder": {"type": "forbidden"}}}]}',
            ["line 2", "provder", "provider"],
        ),
        ('{"tables": [\n{"tables": "x"}]}', ["line 2", "tables[0]"]),
        ("{" * 5000, ["not JSON"]),
    ],
)
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


def test_toml_says_the_line_too(tmp_path):
    file = tmp_path / "p.toml"
    file.write_text(
        'version = 1\n[[rules]]\nkey = "a"\ntype = "forbidden"\n[[rules]]\nkey = "b"\ntype = "nope"\n'
    )
    with pytest.raises(ConfigurationError, match=r"p.toml line \d, rules\[1\]"):
        make_policy("Rules", {"file": str(file)}, {})
    file.write_text("rules = [\n")
    with pytest.raises(ConfigurationError, match="is not TOML"):
        make_policy("Rules", {"file": str(file)}, {})


def test_the_policy_without_its_extra_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "regex", None)
    with pytest.raises(ConfigurationError, match=r"sparkconfig\[policy\]"):
        engine(tmp_path, rules({"key": "a", "type": "forbidden"}))


def test_a_comment_in_a_text_of_several_lines_is_not_a_table() -> None:
    """Found by the fuzzer: it ended with StopIteration."""
    assert document.parse("a = '''\n[#]\n'''\n", "p.toml").data == {"a": "[#]\n"}
