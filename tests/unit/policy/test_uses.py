"""References that are asked for by themselves, not through a property: driver code, workers, points of use."""

import json

import pytest

from sparkconfig.agent import policy_calls
from unit.policy.helpers import VAULT, denied, engine, request, rules

ALLOW_SHARED = {"type": "allow", "provider": "vault", "path": "shared/*"}
SHARED = rules(references=[ALLOW_SHARED])


def asked(made, text, scope="application", *, point_of_use=False, job_type="batch", **beside):
    return made.check_use(
        request(job_type=job_type, scope=scope), [{"": text, **beside}], point_of_use=point_of_use
    )


@pytest.mark.parametrize("scope", ["application", "worker"])
def test_rules_about_references_bind_who_asks_by_name(tmp_path, scope):
    made = engine(tmp_path, SHARED, **VAULT)
    assert asked(made, "${vault:shared/x:pw}", scope).allowed
    found = asked(made, "${vault:teams/x:pw}", scope)
    assert not found.allowed
    assert "teams/x" in found.message


def test_a_rule_may_be_about_workers_alone(tmp_path):
    forbidden = {"type": "forbid", "provider": "*", "key": "admin", "scopes": ["worker"]}
    made = engine(tmp_path, rules(references=[forbidden]), **VAULT)
    assert not asked(made, "${vault:a:admin}", "worker").allowed
    assert asked(made, "${vault:a:admin}").allowed
    assert asked(made, "${vault:a:admin}", point_of_use=True).allowed


def test_a_point_of_use_gets_what_some_door_lets_pass(tmp_path):
    document = rules(
        references=[
            {**ALLOW_SHARED, "scopes": ["source"]},
            {"type": "allow", "provider": "vault", "path": "streams/*", "jobTypes": ["streaming"]},
            {"type": "allow", "provider": "vault", "path": "none/*"},
        ]
    )
    made = engine(tmp_path, document, **VAULT)
    for path, by_name, in_use in (
        ("shared/x", False, True),
        ("streams/x", False, True),
        ("teams/x", False, False),
    ):
        text = f"${{vault:{path}:pw}}"
        assert (asked(made, text).allowed, asked(made, text, point_of_use=True).allowed) == (
            by_name,
            in_use,
        ), path


def test_what_the_operator_wrote_can_be_used_and_not_asked_for(tmp_path):
    text = "${vault:own:pw}"
    made = engine(tmp_path, SHARED, defaults={"spark.sql.catalog.shop.password": text}, **VAULT)
    assert asked(made, text, point_of_use=True).allowed
    assert not asked(made, text).allowed
    assert not asked(made, f"x{text}", point_of_use=True).allowed
    made.put_in_place([f"x{text}"])
    assert asked(made, f"x{text}", point_of_use=True).allowed


def test_references_of_kafkas_own_providers_and_of_spark_are_not_ours(tmp_path):
    made = engine(tmp_path, SHARED, **VAULT)
    assert not asked(made, "${dir:/x:pw}").allowed
    kafka = {"kafka.config.providers": "dir", "kafka.config.providers.dir.class": "com.example.Directory"}
    assert asked(made, "${dir:/x:pw}", **kafka).allowed
    assert asked(made, "${env:HOME}").allowed


def test_warn_mode_counts_and_records(tmp_path, caplog):
    file = tmp_path / "audit.jsonl"
    made = engine(tmp_path, SHARED, override__mode="warn", audit__file=str(file), **VAULT)
    assert asked(made, "${vault:teams/x:pw}", point_of_use=True).allowed
    assert made.counts == {"denied": 0, "warned": 1}
    assert "teams/x" in caplog.text
    (record,) = [json.loads(line) for line in file.read_text().splitlines()]
    assert (record["decision"], record["subject"]) == ("warned", "${vault:teams/x:pw}")


def test_the_jvm_asks(tmp_path):
    made = engine(tmp_path, SHARED, **VAULT)

    def ask(**question):
        return policy_calls.answer(made, {"op": "use", "job_type": "batch", **question})

    allowed, denied = [{"text": "${vault:shared/x:pw}"}], [{"text": "${vault:teams/x:pw}", "siblings": {}}]
    assert ask(expressions=allowed, scope="worker")["allowed"]
    assert not ask(expressions=denied, scope="worker")["allowed"]
    assert not ask(expressions=[*allowed, *denied])["allowed"]
    assert not ask(expressions=[{}])["ok"]
    assert made.counts == {"denied": 2, "warned": 0}


def test_references_are_decided_before_a_store_is_asked(tmp_path):
    """A lookup may issue credentials, and its error would tell whether the secret exists."""
    looked_up = []

    def resolve(texts):
        looked_up.extend(texts.values())
        return dict.fromkeys(texts, "10")

    made = engine(
        tmp_path,
        rules({"key": "spark.shop.*", "type": "range", "maxValue": "50"}, references=[ALLOW_SHARED]),
        resolve=resolve,
        **VAULT,
    )
    props = {"spark.shop.own": "${vault:shared/x:pw}", "spark.shop.other": "${vault:teams/x:pw}"}
    for scope in ("application", "session", "source", "sink", "catalog", "hadoop"):
        looked_up.clear()
        found = made.check(request(props, scope=scope, complete=scope == "application"))
        assert looked_up == ["${vault:shared/x:pw}"], scope
        assert [text.partition(" [")[0] for text in found.violations] == [
            "spark.shop.other: ${vault:teams/x:pw}: no rule lets a batch job use this reference"
        ]
        assert denied(found) == ["spark.shop.other"]
        assert found.refused == {"spark.shop.other"}
