"""What people see of generations, references and rotations, in the status and the audit: no values."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sparkconfig.agent.application import Application
from sparkconfig.agent.factory import make_application
from sparkconfig.agent.generations import GenerationHistory, changes
from sparkconfig.agent.status import status_of
from sparkconfig.errors import ProviderUnavailableError, UnresolvedReferenceError
from sparkconfig.language.expression import Expression
from sparkconfig.resolution.in_use import Use
from sparkconfig.resolution.snapshot import Entry, Snapshot

CANARY = "Canary-value-77"


def application(tmp_path: Path, **confs: str) -> Application:
    return make_application(
        {
            "spark.app.name": "daily",
            "spark.config.providers": "files",
            "spark.config.providers.files.class": "file",
            "spark.config.audit.file": str(tmp_path / "audit.jsonl"),
            "spark.config.poll.interval": "1h",
            **confs,
        },
        system_properties={},
        operator_file=None,
    )


def records(tmp_path: Path, event: str) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    return [line for line in lines if line["event"] == f"sparkconfig.{event}"]


def test_each_generation_is_a_record_with_names_and_no_values(tmp_path: Path) -> None:
    secrets = tmp_path / "db.properties"
    secrets.write_text(f"user={CANARY}-1\npassword={CANARY}-2\n")
    user, password = (f"${{files:{secrets}:{key}}}" for key in ("user", "password"))
    running = application(tmp_path)
    try:
        running.keeper.resolve({text: Expression(text) for text in (user, password)})
        running.announce("app-1", lambda *_: {})
        secrets.write_text(f"user={CANARY}-1\npassword={CANARY}-3\n")
        running.refresh()
        running.refresh()
        secrets.write_text(f"user={CANARY}-1\n")
        running.refresh()
    finally:
        running.close()
    found = records(tmp_path, "rotation")
    assert [(each["previous"], each["generation"]) for each in found] == [(0, 1), (1, 2), (2, 3)]
    assert [(each["added"], each["changed"], each["lost"]) for each in found] == [
        (sorted([user, password]), [], []),
        ([], [password], []),
        ([], [], [password]),
    ]
    assert found[1]["application_id"] == "app-1"
    assert (found[1]["job_name"], found[1]["job_type"]) == ("daily", "batch")
    assert CANARY not in (tmp_path / "audit.jsonl").read_text()


def test_a_provider_that_fails_and_answers_again_is_two_records(tmp_path: Path) -> None:
    running = application(tmp_path)
    cache = running.caches["files"]
    inner = cache._inner
    answer = inner.get
    secrets = tmp_path / "db.properties"
    secrets.write_text("password=x\n")
    text = f"${{files:{secrets}:password}}"

    def down(*_: object) -> None:
        raise ProviderUnavailableError("the store is away")

    try:
        running.keeper.resolve({text: Expression(text)})
        inner.get = down
        running.refresh()
        running.refresh()
        inner.get = answer
        running.refresh()
        running.refresh()
    finally:
        running.close()
    states = [(each["provider"], each["path"], each["state"]) for each in records(tmp_path, "provider")]
    assert states == [("files", str(secrets), "down"), ("files", str(secrets), "up")]
    assert [each["generation"] for each in records(tmp_path, "rotation")] == [1]


def test_a_log4j_logger_gets_each_record_once_through_the_driver(tmp_path: Path) -> None:
    running = application(tmp_path, **{"spark.config.audit.logger": "audit"})
    try:
        with pytest.raises(UnresolvedReferenceError):
            running.keeper.resolve({"${files:/no/such:key}": Expression("${files:/no/such:key}")})
        assert running.records is not None
        assert [json.loads(text)["state"] for text in running.records.drain()] == ["down"]
        assert running.records.drain() == []
    finally:
        running.close()


def test_without_an_audit_nothing_is_kept(tmp_path: Path) -> None:
    confs = {"spark.config.providers": "", "spark.config.override.policy": "All"}
    running = make_application(confs, system_properties={}, operator_file=None)
    assert running.policies is not None
    assert running.records is None
    running.close()


def test_a_status_has_each_generation_the_keys_and_confs_in_use(tmp_path: Path) -> None:
    secrets = tmp_path / "db.properties"
    secrets.write_text(f"user={CANARY}-1\npassword={CANARY}-2\n")
    user, password = (f"${{files:{secrets}:{key}}}" for key in ("user", "password"))
    running = application(tmp_path, **{"spark.shop.user": user})
    try:
        running.resolve_confs()
        running.keeper.resolve({password: Expression(password)})
        secrets.write_text(f"user={CANARY}-1\npassword={CANARY}-3\n")
        running.refresh()
        status = status_of(running)
    finally:
        running.close()
    assert [(each["generation"], each["added"], each["changed"]) for each in status["generations"]] == [
        (2, [], [password]),
        (1, [user], []),
    ]
    assert {use["references"][0]: use["key"] for use in status["references"]} == {
        user: "spark.shop.user",
        password: None,
    }
    assert [path["keys"] for path in status["providers"][0]["paths"]] == [["password", "user"]]
    assert CANARY not in json.dumps(status)


def test_a_generation_with_many_changes_names_some_and_counts_the_rest() -> None:
    history = GenerationHistory()
    names = [f"${{files:{number:02}}}" for number in range(25)]
    uses = {name: Use(None, (name,), frozenset(), None, None) for name in names}
    before = Snapshot(1, {name: Entry("old", secret=True) for name in names})
    after = Snapshot(2, {name: Entry("new", secret=True) for name in names})
    history.add(2, changes(before, after, uses))
    (found,) = history.recent()
    assert (found["changed"], found["changed_more"], found["lost"]) == (names[:20], 5, [])
