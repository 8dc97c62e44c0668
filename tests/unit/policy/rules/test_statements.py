"""Rules about statements, functions, paths and data sources."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from sparkconfig.agent.policy_calls import answer
from sparkconfig.agent.status import _decisions
from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.request import StatementItem
from unit.policy.helpers import engine, request

LAKE = {"type": "allow", "path": "s3a://lake/*"}


def refused(tmp_path, document, *items, **who):
    """The items that are refused."""
    decision = engine(tmp_path, document).check_statement(
        request(job_type=who.pop("job_type", "connect"), **who), [StatementItem(*item) for item in items]
    )
    return [item.subject for item in decision.explanation if item.verdict == "denied"]


def path_refused(tmp_path, rules, path, access="read"):
    return bool(refused(tmp_path, {"paths": rules}, ("path", path, access)))


@pytest.mark.parametrize(
    "path",
    [
        "s3a://lake/a",
        "s3a://lake/a/b c.csv",
        "s3a://lake/day=1/*.csv",
        "s3a://lake/{a,b}/x",
        "s3a://lake/a%3Ab",
        "s3a://lake/{a/b,c/d}/x",
        "s3a://lake/{a,b}.{csv,json}",
        "s3a://lake/y={2024,2025}/m={"
        + ",".join(map(str, range(12)))
        + "}/d={"
        + ",".join(map(str, range(31)))
        + "}",
        "s3a://lake/{" + ",".join(map(str, range(5000))) + "}",
        "s3a://lake/a@v1",
        "s3a://lake/a#files",
        "s3a://lake/a@b/..c/#d.csv",
    ],
)
def test_paths_below_an_allowed_one(tmp_path, path):
    assert not path_refused(tmp_path, [LAKE], path)


@pytest.mark.parametrize(
    "path",
    [
        "s3a://lake", "s3a://other/a", "s3a://lake2/a", "s3://lake/a", "file:/etc/passwd", "unknown:x",
        "s3a://lake/{a,../../other}/x", "s3a://lake/*/../../other", "s3a://lake/%2e%2e/other",
        "s3a://lake/" + "{a/,b/}" * 20, "s3a://lake/" + "{a,b}" * 200, "s3a://lake/" + "{" * 30 + "a" + "}" * 30,
        "s3a://lake/" + "{a/,{b/,c/}}" * 6, "s3a://lake/" + "%7Ba/,b/%7D" * 20,
        "s3a://lake/%252e%252e/other", "s3a://lake/${files:/p:k}", "s3a://la*/a", "s3a://{lake,other}/a",
        # Hadoop makes a parent folder of these: of escaped dots, and of dots that it joins as it expands braces.
        "s3a://lake/\\.\\./other", "s3a://lake/.\\./other", "s3a://lake/%5C.%5C./other", "s3a://lake/a*/\\.\\./x",
        "s3a://lake/.{./other,a/b}", "s3a://lake/{.,a/b}{./other,c}", "s3a://lake/{a/b,.}{.,c/d}/other",
        "s3a://lake/{a/b,}{.,c/d}./other", "s3a://lake/%2e{./other,a/b}",
        "s3a://lake/.{.,/b}/other", "s3a://lake/{b,.{/a,./other}}/x", "s3a://lake/%7b.,a/b}./other",
    ],
)  # fmt: skip
def test_other_paths(tmp_path, path):
    assert path_refused(tmp_path, [LAKE], path)


def test_where_a_link_leads_is_told_to_the_operator_alone(tmp_path):
    audit = tmp_path / "audit.jsonl"
    made = engine(tmp_path, {"paths": [LAKE]}, audit__file=str(audit))
    items = [
        ["path", "file:/etc/shop.key", "read", "file:/lake/link"],
        ["path", "file:/etc/other", "read", ""],
    ]
    found = answer(made, {"op": "statement", "items": items, "job_type": "connect"})
    assert not found["allowed"]
    assert "path file:/lake/link: " in found["message"]
    assert "path file:/etc/other: " in found["message"]
    assert "shop.key" not in str({**found, "audit": ""})
    link, _ = map(json.loads, audit.read_text().splitlines())
    assert (link["subject"], link["canonical"]) == ("path file:/lake/link", "path file:/etc/shop.key")
    # The page Config shows users what they did.
    shown = json.dumps(_decisions(SimpleNamespace(engine=made)))
    assert "/lake/link" in shown
    assert "shop.key" not in shown


@pytest.mark.parametrize(
    "path",
    [
        "s3a://lake/hr", "s3a://lake/hr/", "s3a://lake/hr/pay.csv", "s3a://lake/HR/pay.csv", "s3a://lake",
        "s3a://lake/*", "s3a://lake/h?/pay.csv", "s3a://lake/{a,hr}/x", "s3a://lake/%68r/pay.csv", "S3A://lake/hr/x",
        "s3a://lake/h\\r/pay.csv", "s3a://lake/shop/.{./hr,a/b}/pay.csv", "s3a://lake/shop/\\.\\./hr/pay.csv",
    ],
)  # fmt: skip
def test_forbidden_paths_and_what_may_reach_them(tmp_path, path):
    rules = [{"type": "allow", "path": "*"}, {"type": "forbid", "path": "s3a://lake/hr/*"}]
    assert path_refused(tmp_path, rules, path)


def test_what_lies_beside_a_forbidden_path(tmp_path):
    rules = [{"type": "allow", "path": "*"}, {"type": "forbid", "path": "s3a://lake/hr/*"}]
    assert not path_refused(tmp_path, rules, "s3a://lake/shop/*.csv")
    assert not path_refused(tmp_path, rules, "s3a://lake/shop")


def test_reading_and_writing(tmp_path):
    rules = [{**LAKE, "access": "read"}, {"type": "allow", "path": "s3a://lake/own/*", "access": "write"}]
    assert not path_refused(tmp_path, rules, "s3a://lake/a")
    assert path_refused(tmp_path, rules, "s3a://lake/a", "write")
    assert not path_refused(tmp_path, rules, "s3a://lake/own/a", "write")


def test_a_checkpoint_is_kept_where_a_rule_says_so(tmp_path):
    state = {"type": "allow", "path": "s3a://lake/state/*", "access": "checkpoint"}
    forbid = {"type": "forbid", "path": "s3a://lake/state/hr/*"}
    for rules, path, access, expected in (
        ([LAKE], "s3a://lake/a", "checkpoint", True),
        ([{"type": "allow", "path": "*"}], "s3a://lake/a", "checkpoint", True),
        ([state], "s3a://lake/state/a", "checkpoint", False),
        ([state], "s3a://lake/state/a", "write", True),
        ([state], "s3a://lake/state/a", "read", True),
        ([LAKE, state, forbid], "s3a://lake/state/hr/a", "checkpoint", True),
    ):
        assert path_refused(tmp_path, rules, path, access) == expected, (rules, access)


def test_statements(tmp_path):
    document = {
        "statements": [
            {"type": "allow", "statement": ["show-*", "variable"], "jobTypes": ["connect"]},
            {"type": "allow", "statement": "variable", "name": "env:TZ", "jobTypes": ["sql"]},
            {"type": "forbid", "statement": "variable", "name": "*TOKEN*"},
        ]
    }
    for item in (
        ("statement", "show-tables"),
        ("statement", "variable", "env:HOME"),
        ("path", "file:/x", "read"),
    ):
        assert refused(tmp_path, document, item) == []
    assert refused(tmp_path, document, ("statement", "add-jar", "/x.jar")) == ["statement add-jar (/x.jar)"]
    assert refused(tmp_path, document, ("statement", "variable", "env:my_token"))
    assert refused(tmp_path, document, ("statement", "variable", "env:TZ"), job_type="sql") == []
    assert refused(tmp_path, document, ("statement", "variable", "env:HOME"), job_type="sql")
    # No allowing rule is about batch jobs.
    assert refused(tmp_path, document, ("statement", "add-jar"), job_type="batch") == []


def test_functions_and_sources(tmp_path):
    document = {
        "functions": [{"type": "allow", "className": "com.acme.*"}],
        "sources": [
            {"type": "allow", "source": "*"},
            {"type": "forbid", "source": "JDBC", "access": "write"},
        ],
    }
    assert refused(tmp_path, document, ("function", "com.acme.Mask"), ("source", "jdbc", "read")) == []
    assert refused(tmp_path, document, ("function", "org.acme.Mask"))
    assert refused(tmp_path, document, ("source", "jdbc", "write")) == ["source jdbc"]


def test_users(tmp_path):
    document = {
        "statements": [
            {"type": "allow", "statement": "show-*"},
            {"type": "allow", "statement": "add-jar", "users": ["ana", "ops-*"]},
            {"type": "forbid", "statement": "show-tables", "users": "bob"},
        ]
    }
    jar, tables = ("statement", "add-jar"), ("statement", "show-tables")
    assert refused(tmp_path, document, jar, user="ana", authenticated=True) == []
    assert refused(tmp_path, document, jar, user="ops-7", authenticated=True) == []
    assert refused(tmp_path, document, jar, user="bob", authenticated=True)
    assert refused(tmp_path, document, tables, user="ana", authenticated=True) == []
    assert refused(tmp_path, document, tables, user="bob", authenticated=True)
    # Anybody can say who he is: no rule allows by it, and a rule that forbids holds for all.
    assert refused(tmp_path, document, jar, user="ana")
    assert refused(tmp_path, document, tables, user="ana")


def test_the_answer_and_the_record(tmp_path):
    made = engine(
        tmp_path, {"statements": [{"type": "allow", "statement": "show-*"}]}, audit__file=str(tmp_path / "a")
    )
    question = {
        "op": "statement", "job_type": "connect", "user": "ana", "session": "s1",
        "items": [["statement", "add-jar", "s3a://id:secret@lake/x.jar"], ["path", "s3a://id:secret@lake/x", "read"]],
    }  # fmt: skip
    found = answer(made, question)
    assert (found["ok"], found["allowed"]) == (True, False)
    assert "no rule lets a connect job run this statement" in found["message"]
    assert "ask the operator" in found["message"]
    record, _ = map(json.loads, (tmp_path / "a").read_text().splitlines())
    assert (record["user"], record["statement"], record["decision"]) == ("ana", "add-jar", "denied")
    assert "secret" not in (tmp_path / "a").read_text() + found["message"]


def test_mode_warn(tmp_path):
    made = engine(tmp_path, {"statements": [{"type": "allow", "statement": "show-*"}]}, override__mode="warn")
    decision = made.check_statement(request(job_type="sql"), [StatementItem("statement", "add-jar")])
    assert decision.allowed
    assert len(decision.warned) == 1


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ({"statements": [{"type": "allow"}]}, "statements[0].statement"),
        ({"statements": [{"type": "allow", "statement": []}]}, "statements[0].statement"),
        ({"paths": [{"type": "allow", "path": "x", "access": "append"}]}, "paths[0].access"),
        ({"paths": [{"type": "allow", "paht": "x"}]}, "did you mean path"),
        ({"sources": [{"type": "deny", "source": "x"}]}, "sources[0].type"),
        ({"functions": [{"type": "allow", "class": "x"}]}, "functions[0].class"),
    ],
)
def test_mistakes_name_their_place(tmp_path, document, place):
    with pytest.raises(ConfigurationError) as error:
        engine(tmp_path, document)
    assert place in str(error.value)


def test_which_job_types_are_asked_about(tmp_path):
    made = engine(tmp_path, json.loads(json.dumps({"paths": [{**LAKE, "jobTypes": ["sql"]}]})))
    assert made.evaluates_statements("sql")
    assert not made.evaluates_statements("batch")


def test_ten_thousand_rules_and_long_names_stay_linear(tmp_path):
    rules = [{"type": "forbid", "path": f"s3a://b{number}/*a*b*c*"} for number in range(10_000)]
    made = engine(tmp_path, {"paths": [{"type": "allow", "path": "*"}, *rules]})
    items = [StatementItem("path", f"s3a://lake/{'ab' * 20_000}", "read")]
    assert made.check_statement(request(job_type="sql"), items).allowed
