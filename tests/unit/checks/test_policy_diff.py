"""What an upgrade of a policy, or a policy that extends another, decides anew."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sparkconfig.checks.exit_codes import ExitCode
from sparkconfig.cli.main import main

OLD = {
    "rules": [{"key": ["spark.jars", "spark.files"], "type": "forbidden", "note": "code"}],
    "paths": [{"type": "allow", "path": ["s3a://lake/*", "gs://lake/*"]}],
}
NEW = {
    "rules": [{"key": ["spark.files", "spark.archives"], "type": "forbidden", "note": "another note"}],
    "paths": [{"type": "allow", "path": "gs://lake/*"}, {"type": "forbid", "path": "gs://lake/hr/*"}],
}


def test_rules_that_one_of_two_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "old.json").write_text(json.dumps(OLD))
    (tmp_path / "new.json").write_text(json.dumps(NEW))
    assert (
        main(["policy", "diff", str(tmp_path / "old.json"), str(tmp_path / "new.json")]) == ExitCode.REFUSED
    )
    lines = capsys.readouterr().out.splitlines()
    assert [line[:2] + line[2:].partition(":")[0] for line in lines[:-1]] == [
        "- rules",
        "- paths",
        "+ rules",
        "+ paths",
    ]
    assert "spark.jars" in lines[0]
    assert "s3a://lake/*" in lines[1]
    assert "spark.archives" in lines[2]
    assert "gs://lake/hr/*" in lines[3]
    assert lines[-1] == "4 rules differ"


def test_a_policy_that_extends_a_shipped_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    team = {"extends": "shared-server", "connections": [{"type": "allow", "connection": "shop"}]}
    (tmp_path / "team.json").write_text(json.dumps(team))
    assert (
        main(["policy", "diff", "shared-server", str(tmp_path / "team.json"), "--json"]) == ExitCode.REFUSED
    )
    found = json.loads(capsys.readouterr().out)
    assert found["removed"] == []
    assert [each.partition(":")[0] for each in found["added"]] == ["connections"]
    assert main(["policy", "diff", "shared-server", "shared-server"]) == ExitCode.OK


@pytest.mark.parametrize(
    "files", [["shared-server"], ["a.json", "b.json", "c.json"], ["shared-server", "no-such-policy"]]
)
def test_what_cannot_be_compared(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "diff", *files]) == ExitCode.CONFIGURATION
    assert "Traceback" not in capsys.readouterr().err
