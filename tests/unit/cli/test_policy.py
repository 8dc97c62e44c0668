"""Files for ``sparkconfig policy test`` that hold mistakes; what Spark's parser reads is in tests/spark."""

from __future__ import annotations

import pytest

from sparkconfig.cli.main import main


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


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"SPARK_HOME": "/nowhere"}, "/nowhere holds no Spark"),
        ({"JAVA_HOME": "/nowhere"}, "FileNotFoundError"),
    ],
)
def test_statements_need_spark_and_java(capsys, monkeypatch, tmp_path, changes, problem):
    for name, text in changes.items():
        monkeypatch.setenv(name, text)
    file = tmp_path / "policy.json"
    file.write_text('{"statements": [{"type": "allow", "statement": "show-*"}]}')
    assert main(["validate", "--policy", str(file), "--statement", "SELECT 1"]) == 3
    error = capsys.readouterr().err
    assert "Spark's own parser reads them" in error
    assert problem in error
