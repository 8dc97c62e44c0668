"""Audit: one JSON line for each decision, without values."""

import json
import logging
import subprocess
import sys

import pytest

from sparkconfig.agent import policy_calls
from sparkconfig.errors import ConfigurationError
from unit.policy.helpers import engine, request, rules

CANARY = "s3cret-canary-4711"
RULES = rules({"key": "spark.a", "type": "unlimited"}, {"key": "spark.b", "type": "forbidden"})
PROPS = {"spark.a": "${vault:x:y}", "spark.b": CANARY, "spark.free": CANARY}


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_overrides_violations_and_references_are_recorded(tmp_path):
    file = tmp_path / "audit.jsonl"
    checker = engine(tmp_path, RULES, audit__file=str(file), providers="vault")
    checker.check(request(PROPS, application="com.acme.Main", scope="session"))
    found = lines(file)
    assert [(record["subject"], record["decision"]) for record in found] == [
        ("spark.a", "allowed"),
        ("spark.b", "denied"),
        ("${vault:x:y}", "allowed"),
    ]
    assert all(record["scope"] == "session" and record["application"] == "com.acme.Main" for record in found)
    assert "line 1" in found[1]["rule"]
    assert found[2]["canonical"] == "spark.a"
    assert CANARY not in file.read_text()
    assert file.stat().st_mode & 0o077 == 0


def test_warnings_are_told_from_refusals(tmp_path):
    file = tmp_path / "audit.jsonl"
    engine(tmp_path, RULES, audit__file=str(file), override__mode="warn").check(request(PROPS))
    assert [record["decision"] for record in lines(file)] == ["allowed", "warned", "allowed"]


def test_a_rotated_file_is_opened_anew(tmp_path):
    file = tmp_path / "audit.jsonl"
    checker = engine(tmp_path, RULES, audit__file=str(file))
    checker.check(request({"spark.a": "1"}))
    file.rename(tmp_path / "audit.1")
    checker.check(request({"spark.a": "1"}))
    assert len(lines(file)) == len(lines(tmp_path / "audit.1")) == 1
    checker.close()


def test_a_logger_and_the_jvm_get_the_records(tmp_path, caplog):
    caplog.set_level(logging.INFO, "acme.audit")
    checker = engine(tmp_path, RULES, audit__logger="acme.audit")
    answer = policy_calls.answer(checker, {"job_type": "batch", "props": {"spark.b": CANARY}})
    assert json.loads(answer["audit"][0])["subject"] == "spark.b"
    assert json.loads(caplog.records[0].getMessage())["decision"] == "denied"


def test_names_from_jobs_cannot_forge_lines(tmp_path):
    file = tmp_path / "audit.jsonl"
    checker = engine(tmp_path, rules({"key": "spark.*", "type": "forbidden"}), audit__file=str(file))
    checker.check(request({'spark.x\n{"decision": "allowed"}': "1"}, job_name="a\nb"))
    assert len(lines(file)) == 1


def test_a_file_that_cannot_be_written_stops_the_start(tmp_path):
    with pytest.raises(ConfigurationError, match=r"audit\.file"):
        engine(tmp_path, audit__file=str(tmp_path / "no" / "such" / "folder.jsonl"))


def test_a_failing_disk_is_reported_once_and_stops_nothing(tmp_path, caplog):
    folder = tmp_path / "logs"
    folder.mkdir()
    checker = engine(tmp_path, RULES, audit__file=str(folder / "audit.jsonl"))
    (folder / "audit.jsonl").unlink()
    folder.rmdir()
    for _ in range(3):
        assert checker.check(request({"spark.a": "1"})).allowed
    assert caplog.text.count("cannot be written") == 1


def test_what_cannot_be_recorded_is_refused_if_the_audit_is_required(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    checker = engine(tmp_path, RULES, audit__file=str(folder / "audit.jsonl"), audit__required="true")
    question = {"job_type": "batch", "props": {"spark.a": "1"}}
    assert policy_calls.answer(checker, question)["allowed"]
    (folder / "audit.jsonl").unlink()
    folder.rmdir()
    answer = policy_calls.answer(checker, question)
    assert (answer["ok"], answer["type"]) == (False, "PolicyViolationError")
    assert "spark.config.audit.required" in answer["message"]
    assert "audit.jsonl" in answer["message"]
    folder.mkdir()
    assert policy_calls.answer(checker, question)["allowed"]
    assert checker.audit.failures == 1


@pytest.mark.parametrize(
    ("confs", "told"),
    [({"audit__required": "true"}, r"audit\.file"), ({"audit__required": "yes"}, "must be true or false")],
)
def test_a_required_audit_that_is_none_stops_the_start(tmp_path, confs, told):
    with pytest.raises(ConfigurationError, match=told):
        engine(tmp_path, **confs)


FULL = """
import resource, sys
from pathlib import Path
from sparkconfig.policy.audit import Audit
audit = Audit(Path(sys.argv[1]))
record = {"text": "x" * 100}
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
audit.write([record])
resource.setrlimit(resource.RLIMIT_FSIZE, (150, hard))
audit.write([record])
audit.write([record])
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
audit.write([record])
print(audit.failures)
"""


def test_half_a_line_is_joined_to_nothing(tmp_path):
    file = tmp_path / "audit.jsonl"
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(file)], capture_output=True, text=True, check=True, timeout=60
    )
    first, half, last = file.read_text().splitlines()
    assert first == last == json.dumps({"text": "x" * 100})
    assert first.startswith(half)
    assert done.stdout == "2\n"
    assert done.stderr.count("cannot be written") == 1
