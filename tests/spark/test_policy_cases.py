"""``sparkconfig policy test`` and ``validate --statement``: Spark's parser reads the statements."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sparkconfig.checks.policy_cases import run_cases
from sparkconfig.checks.spark_parser import items_of
from sparkconfig.cli.main import main
from support.attacks import STATEMENTS, fill
from support.honest import HONEST

pytestmark = pytest.mark.spark

POLICIES = Path(__file__).resolve().parents[2] / "conf" / "policies"
SHARED = str(POLICIES / "shared-server.json")


@pytest.mark.parametrize(
    "cases", sorted((POLICIES.parents[1] / "docs" / "policy-cases").iterdir()), ids=lambda path: path.name
)
def test_shipped_policies_decide_as_their_cases_say(capsys, cases):
    code = main(["policy", "test", str(cases)])
    assert code == 0, capsys.readouterr().out


def test_the_file_of_cases_in_the_help_is_one(capsys, tmp_path):
    with pytest.raises(SystemExit):
        main(["policy", "--help"])
    shown = capsys.readouterr().out
    cases = tmp_path / "cases.json"
    cases.write_text(shown[shown.index('  {"policy"') :])
    code = main(["policy", "test", str(cases), "--policy", SHARED])
    assert (code, capsys.readouterr().out) == (0, "3 cases, 0 differ from what they expect\n")


def test_what_differs_is_named_with_its_line(capsys, tmp_path):
    file = tmp_path / "cases.json"
    found = {"policy": "p.json", "cases": [
        {"expect": "allow", "jobType": "sql", "statement": "ADD JAR 'x'"},
        {"expect": "refuse", "jobType": "sql", "statement": "SELECT 1"},
        {"expect": "refuse", "jobType": "sql", "statement": "ADD JAR 'x'", "message": "other words"},
    ]}  # fmt: skip
    file.write_text(json.dumps(found, indent=1))
    assert main(["policy", "test", str(file), "--policy", SHARED, "--json"]) == 8
    answer = json.loads(capsys.readouterr().out)
    assert (answer["ok"], answer["cases"], len(answer["failed"])) == (False, 3, 3)
    assert answer["failed"][0]["case"] == "cases.json line 4: ADD JAR 'x'"
    assert "it is refused: statement 1: " not in answer["failed"][0]["problem"]
    assert "statement add-jar (x)" in answer["failed"][0]["problem"]


def asked(capsys, text, *more):
    words = ["validate", "--policy", SHARED, "--job-type", "sql", "--statement", text, *more]
    code = main(words)
    return code, capsys.readouterr().out


def test_a_statement_is_explained(capsys):
    code, out = asked(capsys, "SELECT * FROM text.`/etc/passwd`", "--explain", "--user", "ana")
    assert code == 8
    assert "path file:/etc/passwd" in out
    assert "shared-server.json line" in out
    code, out = asked(capsys, "FROBNICATE t")
    assert "Spark's parser does not know such a statement" in out


UNSEEN = {
    "have a column's name expanded": "the names that are written are known when the statement is analysed",
    "give a view Spark's own properties": "properties are judged when the view is made",
    "read through a link in the lake": "links are found when a file is opened",
    "call a class by its name": "functions are found when the statement is analysed",
    "read a file by an option of a function": "some of these functions, too",
    "have SQL evaluated by the metadata of a schema": "some stands in JSON, in a view, or in a file",
    "read the server's confs as data": "the server's confs are not known here",
    "take a catalog of a connection apart": "a catalog's tables are not known here",
    "take a connection apart": "which options a connection lets users set is not known here",
    "use another user's connection": "by a table or view that was made before",
    "send a password elsewhere": "by confs of the server",
    "have Hadoop read the environment, or the operator's confs": "a conf of the server",
    "guess a server's conf": "the server's confs are not known here",
    "write where one may only read": "which connections there are is not known here",
    "read a file in MERGE, UPDATE or DECLARE": "a table that was made before",
    "read the server's environment": "in a comment",
    "read the server's properties by XPath": "by a function whose body is analysed when it is made",
    "load a class by a property of a table": "the options of a format are asked about when the table is made",
    "run Java by a name": "names are looked at when the statement is analysed",
    "have SQL evaluated by the name of a field": "by a table that was made before",
    "keep the driver busy with partitions": "partitions are counted when the statement is analysed",
    "keep the driver busy with adding partitions": "they are counted when the statement is planned",
    "have Spark write down what it has computed": "plans are measured before they run",
    "have Hive make types that grow by powers": "properties are judged when the table is made",
    "name a relation by a text": "the name is known when the statement is analysed",
    "keep Spark's parser busy": "how deep a statement is counted where clients are served",
}
"""Attacks of which the statement alone does not show each one."""


def test_the_attacks_of_the_servers_tests_are_foreseen(tmp_path):
    (tmp_path / "lake").mkdir()
    wanted = [
        *(("refuse", text) for name, texts in STATEMENTS.items() if name not in UNSEEN for text in texts),
        *(
            ("allow", text)
            for name in ("queries", "the session", "tables of the catalog")
            for text in HONEST[name]
        ),
    ]
    cases = [
        {"expect": expect, "jobType": "sql", "statement": fill(text, tmp_path, "thrift")}
        for expect, text in wanted
    ]
    file = tmp_path / "cases.json"
    file.write_text(json.dumps({"cases": cases}, indent=1))
    results = run_cases(file, SHARED)
    assert len(results) > 150
    assert [each for each in results if each.problem] == []


def test_what_a_statement_names_is_what_the_parser_sees():
    """Where words alone mislead."""
    found = items_of(
        [
            "SELECT 'USING text OPTIONS (path ''/etc/x'')' -- ADD JAR 'x'",
            "SELECT 1 AS `text.`, '/*' AS b",
            "/* c */ ADD JAR 'x'",
            "SELECT * FROM (SELECT * FROM `TEXT`.`/etc/../etc/passwd`)",
            "WITH a AS (SELECT * FROM csv.`/a/b`) SELECT * FROM a",
            "EXPLAIN ADD JAR 'x'",
            "SELECT '${env:HOME}'",
            "INSERT INTO a SELECT TRANSFORM (b) USING 'cat' AS c FROM d",
        ]
    )
    named = [{f"{item.kind} {item.name}" for item in items or ()} for items in found.values()]
    assert named[:2] == [set(), set()]
    for wanted, got in zip(
        (
            "statement add-jar",
            "path file:/etc/passwd",
            "path file:/a/b",
            "statement add-jar",
            "statement variable",
            "statement transform",
        ),
        named[2:],
        strict=True,
    ):
        assert wanted in got, (wanted, got)
