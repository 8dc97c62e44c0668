"""The side process evaluates confs at the start and answers the doors after it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sparkconfig.agent.service import AgentService
from support.agents import call

RULES = {
    "rules": [
        {"key": "spark.sql.shuffle.partitions", "type": "range", "maxValue": "50"},
        {"key": "spark.shop.region", "type": "fixed", "value": "eu"},
        {"key": "spark.shop.tier", "type": "allowlist", "values": ["a"], "defaultValue": "a", "jobTypes": ["batch"]},
    ],
    "tables": [{"tables": "prod.*", "forbid": True, "message": "not here"}],
}  # fmt: skip


@pytest.fixture
def operator(tmp_path: Path) -> Path:
    folder = tmp_path / "etc"
    folder.mkdir(mode=0o755)
    (folder / "rules.json").write_text(json.dumps(RULES))
    file = folder / "sparkconfig.conf"
    file.write_text(
        "spark.config.override.policy=Rules\n"
        "spark.config.override.policy.param.file=rules.json\n"
        "spark.config.create.table.policy=Rules\n"
        "spark.config.create.table.policy.param.file=rules.json\n"
        f"spark.config.audit.file={tmp_path}/audit.jsonl\n"
        "spark.shop.owner=operator\n"
        "spark.eventLog.compress=true\n"
    )
    return file


def test_without_policies_there_is_nothing_to_ask(service: AgentService) -> None:
    assert call(service, "start", confs={"spark.a": "b"})["policy"] is None
    answer = call(service, "check", op="check", scope="session", props={"spark.a": "c"})
    assert (answer["ok"], "no policies" in answer["message"]) == (False, True)


def test_a_job_may_bring_policies_for_itself(service: AgentService) -> None:
    answer = call(
        service, "start", confs={"spark.config.override.policy": "None", "spark.plugins": "com.acme.X"}
    )
    assert [problem.split(":")[0] for problem in answer["problems"]] == ["spark.plugins"]


def test_defaults_are_put_in_place_where_they_are_missing_and_not_too_late(
    service: AgentService, operator: Path, caplog: pytest.LogCaptureFixture
) -> None:
    answer = call(service, "start", confs={"spark.app.name": "x"}, operator_file=str(operator))
    assert answer["problems"] == []
    assert answer["policy"]["defaults"] == {
        "spark.shop.region": "eu",
        "spark.shop.tier": "a",
        "spark.shop.owner": "operator",
    }
    assert any("spark.eventLog.compress" in record.getMessage() for record in caplog.records)


def test_all_violations_come_together_and_no_default_replaces_a_jobs_value(
    service: AgentService, operator: Path
) -> None:
    confs = {
        "spark.sql.shuffle.partitions": "51",
        "spark.shop.owner": "job",
        "spark.config.providers": "mine",
        "spark.shop.tier": "a",
    }
    answer = call(service, "start", confs=confs, operator_file=str(operator))
    assert sorted(problem.split(":")[0] for problem in answer["problems"]) == [
        "spark.config.providers",
        "spark.shop.owner",
        "spark.sql.shuffle.partitions",
    ]
    assert set(answer["policy"]["defaults"]) == {"spark.shop.region"}


def test_violations_are_counted_for_people_and_monitors(service: AgentService, operator: Path) -> None:
    call(service, "start", confs={}, operator_file=str(operator))
    call(service, "check", scope="session", props={"spark.sql.shuffle.partitions": "99"})
    state = call(service, "status")["status"]["policy"]
    assert state == {"mode": "enforce", "shared": False, "audit_failures": 0, "denied": 1, "warned": 0}
    operator.write_text(operator.read_text() + "spark.config.override.mode=warn\n")
    call(service, "start", confs={}, operator_file=str(operator))
    call(service, "check", scope="session", props={"spark.sql.shuffle.partitions": "99"})
    assert call(service, "status")["status"]["policy"] == {
        "mode": "warn",
        "shared": False,
        "audit_failures": 0,
        "denied": 0,
        "warned": 1,
    }


def test_settings_of_redaction_are_the_operators(service: AgentService, operator: Path) -> None:
    operator.write_text(
        operator.read_text() + "spark.config.redaction.require=false\nspark.config.redaction.keys=pin\n"
    )
    given = call(service, "start", confs={}, operator_file=str(operator))["settings"]
    assert (given["redaction_require"], given["redaction_keys"]) == (False, "pin")


def test_the_job_type_comes_from_what_was_started(service: AgentService, operator: Path) -> None:
    started = {"sun.java.command": "org.apache.spark.deploy.SparkSubmit pyspark-shell"}
    for parent, keys in (["python", "job.py"], {"spark.shop.tier"}), (["python"], set()):
        answer = call(
            service, "start", confs={}, operator_file=str(operator), system_properties=started, parent=parent
        )
        assert set(answer["policy"]["defaults"]) & {"spark.shop.tier"} == keys


def test_doors_ask_and_everything_is_recorded_once(
    service: AgentService, operator: Path, tmp_path: Path
) -> None:
    start = {"confs": {"spark.sql.shuffle.partitions": "20"}, "operator_file": str(operator)}
    snapshot = call(service, "start", **start)["snapshot"]
    answer = call(service, "check", scope="session", props={"spark.sql.shuffle.partitions": "99"})
    assert (answer["ok"], answer["allowed"], answer["names"]) == (
        True, False, ["spark.sql.shuffle.partitions"],
    )  # fmt: skip
    table = call(service, "check", op="create_table", name="prod.x", statement="ctas")
    assert (table["allowed"], "not here" in table["message"]) == (False, True)
    # A new side process for the same application does not record its start again.
    call(service, "start", **start, held=snapshot)
    records = [json.loads(line) for line in (tmp_path / "audit.jsonl").read_text().splitlines()]
    assert [(record["scope"], record["subject"], record["decision"]) for record in records] == [
        ("application", "spark.sql.shuffle.partitions", "allowed"),
        ("session", "spark.sql.shuffle.partitions", "denied"),
        ("catalog", "prod.x", "denied"),
    ]


def test_a_forbidden_reference_is_not_looked_up_at_the_start(
    service: AgentService, operator: Path, tmp_path: Path
) -> None:
    """Whether its secret exists or not, the text is the same, and no store was asked."""
    store = tmp_path / "shop.properties"
    store.write_text("own=1\nadmin=2\n")
    forbid = {"references": [{"type": "forbid", "provider": "files", "key": "*admin"}]}
    (operator.parent / "rules.json").write_text(json.dumps({**RULES, **forbid}))
    with operator.open("a") as file:
        file.write("spark.config.providers=files\nspark.config.providers.files.class=file\n")
    told = []
    for key in ("admin", "noadmin"):
        confs = {"spark.shop.zone": f"${{files:{store}:{key}}}", "spark.shop.own": f"${{files:{store}:own}}"}
        answer = call(service, "start", confs=confs, operator_file=str(operator))
        told.append([problem.replace("noadmin", "admin") for problem in answer["problems"]])
        assert [*answer["confs"]] == ["spark.shop.own"]
        assert [*answer["snapshot"]["values"]] == [f"${{files:{store}:own}}"]
    assert told[0] == told[1]
    assert len(told[0]) == 1
