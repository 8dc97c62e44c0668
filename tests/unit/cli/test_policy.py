"""``sparkconfig policy test`` and ``validate --statement``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sparkconfig.cli.main import main
from support.attacks import STATEMENTS, fill
from support.honest import HONEST

POLICIES = Path(__file__).resolve().parents[3] / "conf" / "policies"
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


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"cases": []}', "cases.json line 1, cases: it must be a list of cases"),
        (
            '{"policy": "p", "cases": [{"expect": "maybe", "set": {}}]}',
            "cases[0].expect: it must be allow or refuse",
        ),
        ('{"policy": "p", "cases": [{"expect": "allow"}]}', "cases[0]: a case has either set or statement"),
        ('{"policy": "p", "case": 1, "cases": [{"expect": "allow", "set": {}}]}', "case: no such field here"),
        ('{"cases": [{"expect": "allow", "set": {}}]}', "names no policy"),
    ],
)
def test_mistakes_name_line_and_field(capsys, tmp_path, text, problem):
    file = tmp_path / "cases.json"
    file.write_text(text)
    assert main(["policy", "test", str(file)]) == 3
    assert problem in capsys.readouterr().err


def asked(capsys, text, *more):
    words = ["validate", "--policy", SHARED, "--job-type", "sql", "--statement", text, *more]
    code = main(words)
    return code, capsys.readouterr().out


def test_a_statement_is_explained(capsys):
    code, out = asked(capsys, "SELECT * FROM text.`/etc/passwd`", "--explain", "--user", "ana")
    assert code == 8
    assert "path file:/etc/passwd" in out
    assert "shared-server.json line" in out
    code, out = asked(capsys, "SELECT 1")
    assert code == 0
    code, out = asked(capsys, "FROBNICATE t")
    assert "only Spark itself can say" in out


def test_the_attacks_of_the_servers_tests_are_foreseen(capsys, tmp_path):
    """By its words alone a statement shows less than Spark's parser sees: most attacks, and no honest statement."""
    (tmp_path / "lake").mkdir()
    missed = [
        text
        for name in (
            "run a program",
            "bring code",
            "make a function of a class",
            "write to the server's disk",
        )
        for text in STATEMENTS[name]
        if asked(capsys, fill(text, tmp_path, "thrift"))[0] != 8
    ]
    assert len(missed) <= 8, missed
    for text in (*HONEST["queries"], *HONEST["the session"]):
        code, out = asked(capsys, fill(text, tmp_path, "thrift"))
        assert code == 0, (text, out)
