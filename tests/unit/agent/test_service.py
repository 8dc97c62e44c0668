"""The side process's calls, without a JVM: start, resolve, restart, refusals."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import pytest

from sparkconfig.agent.service import AgentService
from support.agents import call

SECRET = "Canary-0b8f11-value"


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    file = tmp_path / "shop.properties"
    file.write_text(f"password={SECRET}\nuser=app\n")
    return file


def confs(secrets: Path, **more: str) -> dict[str, str]:
    return {
        "spark.config.providers": "files",
        "spark.config.providers.files.class": "file",
        "spark.shop.password": f"${{files:{secrets}:password}}",
        **more,
    }


def test_start_resolves_the_confs_and_leaves_other_texts_alone(service: AgentService, secrets: Path) -> None:
    answer = call(service, "start", confs=confs(secrets, **{"spark.a": "${env:HOME}", "spark.b": "plain"}))
    assert (answer["ok"], answer["problems"]) == (True, [])
    assert list(answer["confs"]) == ["spark.shop.password"]
    assert [entry["value"] for entry in answer["snapshot"]["values"].values()] == [SECRET]


def test_start_lists_every_problem_with_its_key_and_no_value(service: AgentService, secrets: Path) -> None:
    more = {
        "spark.local.dir": f"/x/${{files:{secrets}:password}}",
        "spark.one": f"${{files:{secrets}:nope}}",
        "spark.two": "${valut:a:b}",
        "spark.executorEnv.PW": f"${{files:{secrets}:password}}",
    }
    answer = call(service, "start", confs=confs(secrets, **more))
    assert sorted(problem.split(":")[0] for problem in answer["problems"]) == sorted(more)
    assert SECRET not in json.dumps(answer["problems"])


def test_wrong_settings_and_wrong_providers_are_reported_together(service: AgentService) -> None:
    wrong = {
        "spark.config.provders": "x",
        "spark.config.providers": "a",
        "spark.config.providers.a.class": "no.Such",
    }
    answer = call(service, "start", confs=wrong)
    assert not answer["ok"]
    assert answer["type"] == "ConfigurationError"
    assert "spark.config.provders" in answer["message"]
    assert "no.Such" in answer["message"]


def test_references_that_would_stay_text_are_reported(service: AgentService, secrets: Path) -> None:
    reference = f"${{files:{secrets}:password}}"
    more = {
        "spark.es.net.http.auth.pass": reference,
        "spark.yarn.tags": reference,
        "spark.executorEnv.PW": reference,
        "spark.master": "yarn",
        # Expanded by Spark or Hadoop, not by us.
        "spark.mongodb.home": "${env:HOME}",
    }
    answer = call(service, "start", confs=confs(secrets, **more))
    names = sorted(problem.split(":")[0] for problem in answer["problems"])
    assert names == ["spark.es.net.http.auth.pass", "spark.executorEnv.PW", "spark.yarn.tags"]
    placed = {"spark.es.net.http.auth.pass": reference, "spark.config.inplace.keys": "spark.es.*"}
    answer = call(service, "start", confs=confs(secrets, **placed))
    assert (answer["problems"], answer["inplace"]) == ([], ["spark.es.net.http.auth.pass"])


def test_a_change_makes_a_new_generation_and_wakes_the_waiting(service: AgentService, secrets: Path) -> None:
    call(service, "start", confs=confs(secrets, **{"spark.config.poll.interval": "100ms"}))
    secrets.write_text("password=another-value\n")
    answer = call(service, "await_change", generation=1, wait_ms=20_000)
    assert answer["snapshot"]["generation"] == 2
    assert [entry["value"] for entry in answer["snapshot"]["values"].values()] == ["another-value"]


def test_what_is_known_travels_as_a_difference_and_with_files_as_a_whole(
    service: AgentService, secrets: Path
) -> None:
    reference, file = (f"${{files:{secrets}:{key}}}" for key in ("user", "password"))
    answer = call(
        service, "start", confs=confs(secrets, **{"spark.config.files.text": f"files:{secrets}:pass*"})
    )
    known = answer["snapshot"]["generation"]
    del answer
    made = AgentService()
    try:
        call(made, "start", confs={**confs(secrets), "spark.shop.password": f"${{files:{secrets}:user}}"})
        wanted = [{"id": file, "text": file}]
        assert "since" in call(made, "resolve", expressions=wanted, known=known)["snapshot"]
    finally:
        made.close()
    for text in (reference, file):
        news = call(service, "resolve", expressions=[{"id": text, "text": text}], known=known)["snapshot"]
        assert news["generation"] == known
        assert {file for entry in news["values"].values() for file in entry.get("files", ())} == set(
            news["files"]
        )
        assert "since" not in news


def test_waiting_in_vain_ends_in_time(service: AgentService, secrets: Path) -> None:
    call(service, "start", confs=confs(secrets))
    assert call(service, "await_change", generation=1, wait_ms=10)["snapshot"] is None


def test_a_restarted_process_goes_on_from_the_generation_and_keeps_what_was_in_use(
    service: AgentService, secrets: Path
) -> None:
    call(service, "start", confs=confs(secrets))
    text = f"app:${{files:{secrets}:user}}"
    before = call(service, "resolve", expressions=[{"id": "x", "text": text}])["snapshot"]
    again = AgentService()
    try:
        known = [{"id": "x", "text": text}]
        answer = call(again, "start", confs=confs(secrets), held=before, known=known)
        assert answer["snapshot"] == before
        secrets.write_text("password=another-value\nuser=app\n")
        after = call(again, "refresh")["snapshot"]
    finally:
        again.close()
    assert after["generation"] == before["generation"] + 1
    assert after["values"]["x"]["value"] == "app:app"


def test_an_unresolvable_reference_does_not_disturb_the_others(service: AgentService, secrets: Path) -> None:
    started = call(service, "start", confs=confs(secrets))["snapshot"]
    answer = call(service, "resolve", expressions=[{"id": "y", "text": f"${{files:{secrets}:nope}}"}])
    assert (answer["ok"], answer["type"]) == (False, "UnresolvedReferenceError")
    assert call(service, "refresh")["snapshot"] == started


@pytest.mark.parametrize(
    ("method", "request_text"),
    [
        ("nonsense", "{}"),
        ("resolve", "{}"),
        ("start", "not json"),
        ("start", "[]"),
        ("await_change", "{}"),
        ("check", ""),
        ("check", '{"props": {"a": "s3cret-canary-4711"'),
    ],
)
def test_every_bad_call_has_an_answer_and_raises_nothing(
    service: AgentService, method: str, request_text: str
) -> None:
    answer = json.loads(service.call(method, request_text))
    assert answer["ok"] is False
    assert answer["message"]
    assert "canary" not in json.dumps(answer)


def test_an_operators_file_is_the_only_source_and_a_jobs_own_settings_are_refused(
    service: AgentService, secrets: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "etc"
    folder.mkdir(mode=0o755)
    operator = folder / "sparkconfig.conf"
    operator.write_text("spark.config.providers=files\nspark.config.providers.files.class=file\n")
    own = {"spark.config.providers.files.param.allowed.paths": "/"}
    answer = call(service, "start", confs=confs(secrets, **own), operator_file=str(operator))
    assert [problem.split(":")[0] for problem in answer["problems"]] == list(own)


@pytest.mark.parametrize("word", ["4711", "changeme", "hunter"])
def test_a_value_that_is_not_masked_is_named_once_and_not_shown(
    service: AgentService, secrets: Path, caplog: pytest.LogCaptureFixture, word: str
) -> None:
    """It is too short, or a word that is in every log."""
    secrets.write_text(f"password={SECRET}\npin={word}\n")
    for _ in range(2):
        call(service, "start", confs=confs(secrets, **{"spark.shop.pin": f"${{files:{secrets}:pin}}"}))
    (warning,) = [text for text in caplog.messages if ":pin}" in text]
    assert "not masked" in warning
    assert word not in warning


class _EndedError(BaseException):
    pass


@pytest.mark.parametrize("method", ["ping", "status"])
def test_a_process_without_memory_ends_instead_of_answering(
    service: AgentService, secrets: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """The driver starts another one: an answer from here would only say that nothing works."""

    def end(code: int) -> None:
        raise _EndedError(code)

    def exhausted(*_: object) -> None:
        raise OSError(errno.ENOMEM, "no memory")

    call(service, "start", confs=confs(secrets))
    assert call(service, "ping") == {"ok": True}
    monkeypatch.setattr("os._exit", end)
    if method == "ping":
        monkeypatch.setattr("mmap.mmap", exhausted)
    else:
        monkeypatch.setattr("sparkconfig.agent.service.status_of", lambda _: bytes(1 << 62))
    with pytest.raises(_EndedError):
        call(service, method)


def test_a_refused_value_is_read_again_and_ids_that_are_not_in_use_are_ignored(
    service: AgentService, tmp_path: Path
) -> None:
    store = tmp_path / "store.json"
    where = "support.fakes.faulty_store.FaultyStoreProvider"

    def holds(password: str) -> None:
        store.write_text(json.dumps({"mode": "up", "clock": 0, "data": {"password": password}}))

    holds(SECRET)
    given = {
        "spark.config.providers": "store",
        "spark.config.providers.store.class": where,
        "spark.config.providers.store.param.file": str(store),
        "spark.config.poll.interval": "1h",
        "spark.shop.password": "${store:db:password}",
    }
    call(service, "start", confs=given)
    holds("Canary-0b8f12-value")
    assert call(service, "resolve")["snapshot"]["generation"] == 1
    assert call(service, "renew", ids=["${store:other:password}"])["snapshot"]["generation"] == 1
    answer = call(service, "renew", ids=["${store:db:password}"])
    assert (answer["ok"], answer["wait_ms"], answer["snapshot"]["generation"]) == (True, 0, 2)
    assert 0 < call(service, "renew", ids=["${store:db:password}"])["wait_ms"] <= 1000


@pytest.mark.parametrize("scope", ["executor", "worker"])
def test_executors_may_ask_for_what_the_driver_has_used(
    service: AgentService, secrets: Path, scope: str
) -> None:
    """Whoever holds the cluster's RPC secret can ask as an executor does."""
    password, user = (f"${{files:{secrets}:{key}}}" for key in ("password", "user"))
    call(service, "start", confs=confs(secrets))

    def asked(text: str, scope: str | None = scope) -> dict[str, Any]:
        return call(service, "resolve", expressions=[{"id": text, "text": text}], scope=scope)

    assert asked(password)["ok"]
    assert asked(f"pw={password}")["ok"], "its references count, not the text around them"
    refused = [asked(f"{password}{text}")["message"] for text in (user, user.replace(":user", ":none"))]
    assert "spark.config.worker.references" in refused[0]
    assert refused[0].replace(":user", ":none") == refused[1], "nothing tells whether it exists"
    assert password not in "".join(refused)
    assert asked(user, None)["ok"]
    assert asked(user)["ok"], "the driver has used it by now"


def test_executors_may_ask_for_what_is_named_for_them(service: AgentService, secrets: Path) -> None:
    named = {"spark.config.worker.references": f"${{files:{secrets}:us*}}"}
    call(service, "start", confs=confs(secrets, **named))
    user = f"${{files:{secrets}:user}}"
    answer = call(service, "resolve", expressions=[{"id": user, "text": user}], scope="worker")
    assert answer["snapshot"]["values"][user]["value"] == "app"
