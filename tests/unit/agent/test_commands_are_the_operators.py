"""With an operator's file only the operator names commands: nothing that a job sets makes `exec` run one."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkconfig.agent.service import AgentService
from support.agents import call

OURS = {
    "spark.config.providers": "tool",
    "spark.config.providers.tool.class": "exec",
    "spark.config.providers.tool.param.command": "printf operator-value-7701-{key}",
}


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    """What the job's command would make."""
    return tmp_path / "ran"


def operator(folder: Path, **more: str) -> str:
    file = folder / "sparkconfig.conf"
    lines = {**OURS, **{name.replace("_", "."): value for name, value in more.items()}}
    file.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
    return str(file)


def theirs(ran: Path) -> list[dict[str, str]]:
    command = f"mkdir -p {ran}/{{key}}"
    mine = "spark.config.providers.mine"
    return [
        {"spark.config.providers": "mine", f"{mine}.class": "exec", f"{mine}.param.command": command},
        {"spark.config.providers": "tool,mine", f"{mine}.class": "exec", f"{mine}.param.command": command},
        {"spark.config.providers.tool.param.command": command},
        {"spark.config.providers.tool.class": "sparkconfig.providers.exec.ExecConfigProvider"},
        {"spark.config.providers.tool.param.allowed": ".*"},
        {"spark.config.providers.tool.param.environment": "*"},
    ]


@pytest.mark.parametrize("which", range(6))
def test_a_job_cannot_name_a_command(service: AgentService, tmp_path: Path, ran: Path, which: int) -> None:
    given = theirs(ran)[which]
    confs = {**given, "spark.shop.password": "${mine:x:y}", "spark.shop.other": "${tool:x:y}"}
    answer = call(service, "start", confs=confs, operator_file=operator(tmp_path))
    refused = {problem.partition(":")[0]: problem for problem in answer["problems"]}
    assert set(given) <= set(refused)
    for name in given:
        assert "only the operator may do here; remove it" in refused[name]
        assert str(ran) not in refused[name]
    assert not ran.exists()


@pytest.mark.parametrize("which", range(6))
def test_a_warning_about_it_is_not_a_permission(
    service: AgentService, tmp_path: Path, ran: Path, which: int
) -> None:
    """`spark.config.override.mode=warn` lets the application start: with the operator's providers, as they are."""
    file = operator(tmp_path, spark_config_override_mode="warn")
    confs = {**theirs(ran)[which], "spark.shop.other": "${tool:x:y}"}
    answer = call(service, "start", confs=confs, operator_file=file)
    assert answer["problems"] == []
    ours, mine = (
        call(service, "resolve", expressions=[{"id": text, "text": text}])
        for text in ("${tool:x:y}", "${mine:x:y}")
    )
    assert ours["snapshot"]["values"]["${tool:x:y}"]["value"] == "operator-value-7701-y"
    assert (mine["ok"], "mine" in mine["message"]) == (False, True)
    assert not ran.exists()


def test_a_session_cannot_either(service: AgentService, tmp_path: Path, ran: Path) -> None:
    assert call(service, "start", confs={}, operator_file=operator(tmp_path))["problems"] == []
    for given in theirs(ran):
        for scope in ("session", "source"):
            answer = call(service, "check", scope=scope, props=given)
            assert (answer["ok"], answer["allowed"]) == (True, False), (scope, given)
    assert not ran.exists()
