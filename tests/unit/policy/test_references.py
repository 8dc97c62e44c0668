"""What the engine decides about references: by provider, path, key and job type, and by the value behind one."""

import pytest

from sparkconfig.errors import SparkConfigError
from sparkconfig.policy import ReferenceUse
from unit.policy.helpers import CANARY, engine, request, rules

REFERENCES = {
    # In a session, a key of a file system is an override by itself.
    "rules": [{"key": "fs.s3a.secret.key", "type": "unlimited"}],
    "references": [
        {"type": "allow", "provider": "vault", "path": "shared/*", "jobTypes": ["connect"]},
        {"type": "forbid", "provider": "vault", "key": "*Admin*", "message": "not for jobs"},
    ],
}


@pytest.mark.parametrize(
    ("text", "job_type", "ok"),
    [
        ("${vault:shared/db:password}", "connect", True),
        ("${vault:shared/db/prod:password}", "connect", True),
        ("${vault:teams/db:password}", "connect", False),
        ("x${vault:shared/a:b}y${vault:teams/a:b}", "connect", False),
        ("${vault:shared/../teams/db:password}", "connect", False),
        ("${vault:shared/%2e%2e/teams/db:password}", "connect", False),
        ("${vault:shared/%252e%252e/teams/db:password}", "connect", False),
        ("${vault:/shared/db:password}", "connect", False),
        ("${files:shared/db:password}", "connect", False),
        ("${vault:password}", "connect", False),
        ("$[file=/etc/passwd]", "connect", False),
        ("${env:HOME}", "connect", False),  # Spark replaces it: test_variables.py
        ("${env:HOME}", "batch", True),
        ("${vault:teams/db:password}", "batch", True),
        ("${vault:teams/db:theADMINpassword}", "batch", False),
        ("${vault:shared/db:admin}", "connect", False),
    ],
)
@pytest.mark.parametrize("scope", ["session", "source", "catalog", "hadoop"])
def test_references_by_provider_path_key_and_job_type(tmp_path, text, job_type, ok, scope):
    checker = engine(tmp_path, REFERENCES, providers="vault,files", substitution__enabled="true")
    decision = checker.check(request({"fs.s3a.secret.key": text}, job_type=job_type, scope=scope))
    assert decision.allowed is ok


def test_texts_that_are_not_references_here(tmp_path):
    checker = engine(tmp_path, REFERENCES, providers="vault")
    assert checker.check(request({"a": "$[file=/etc/passwd]"}, job_type="connect", scope="source")).allowed
    options = {"kafka.config.providers": "mine", "kafka.config.providers.mine.class": "com.example.Mine",
               "kafka.sasl.jaas.config": "${mine:a:b}", "x": "${vault:a:b}"}  # fmt: skip
    decision = checker.check(request(options, job_type="connect", scope="source"))
    assert [text.split(":")[0] for text in decision.violations] == ["x"]


@pytest.mark.parametrize("written", ["kafka.config.providers", "Kafka.Config.Providers"])
def test_a_kafka_provider_that_asks_us_is_not_a_way_around_the_rules(tmp_path, written):
    checker = engine(tmp_path, REFERENCES, providers="vault")
    plain = request({"kafka.ssl.key.password": "${vault:a:b}"}, job_type="connect", scope="source")
    options = {written: "sparkconfig", f"{written}.sparkconfig.class": "io.sparkconfig.kafka.ReferenceConfigProvider",
               "kafka.ssl.key.password": "${sparkconfig:vault:a:b}"}  # fmt: skip
    through = request(options, job_type="connect", scope="source")
    assert checker.check(plain).violations
    assert checker.check(through).violations == checker.check(plain).violations


def test_references_of_the_operator_are_not_the_jobs(tmp_path):
    given = {"spark.acme.url": "${vault:ops/db:url}"}
    checker = engine(tmp_path, REFERENCES, defaults=given, providers="vault")
    assert checker.check(request(given, job_type="connect")).allowed


def test_a_text_that_only_looks_like_a_reference_is_not_shown(tmp_path):
    checker = engine(tmp_path, REFERENCES, providers="vault")
    decision = checker.check(
        request({"a": "${" + CANARY + ":x}", "b": "${vault:teams/x:y}"}, job_type="connect")
    )
    text = decision.message + str(decision.explanation)
    assert CANARY not in text
    assert "${vault:teams/x:y}" in text


def test_workers_ask_for_references_under_the_policy(tmp_path):
    use = ReferenceUse("", "vault", "shared/db", "password")
    asked = {"scope": "worker", "references": (use,)}
    assert engine(tmp_path).check(request(**asked)).allowed
    for job_type in ("connect", "sql"):
        decision = engine(tmp_path).check(request(job_type=job_type, **asked))
        assert "spark.config.worker.job.types" in decision.message
    opened = engine(tmp_path, REFERENCES, worker__job__types="connect", providers="vault")
    assert opened.check(request(job_type="connect", **asked)).allowed
    assert not opened.check(request(job_type="batch", **asked)).allowed
    other = use._replace(path="teams/db")
    assert not opened.check(request(job_type="connect", scope="worker", references=(other,))).allowed


def test_the_value_behind_a_reference_is_what_counts(tmp_path):
    element = {"key": "spark.acme.x", "type": "regex", "pattern": "good.*"}
    resolved = {"${vault:a:good}": "good-" + CANARY, "${vault:a:bad}": "bad-" + CANARY}

    def resolve(texts):
        if "${vault:a:gone}" in texts.values():
            raise SparkConfigError("${vault:a:gone} has no value")
        return {name: resolved[text] for name, text in texts.items()}

    checker = engine(tmp_path, rules(element), resolve=resolve, providers="vault")
    assert checker.check(request({"spark.acme.x": "${vault:a:good}"})).allowed
    for name in ("bad", "gone"):
        decision = checker.check(request({"spark.acme.x": f"${{vault:a:{name}}}"}))
        assert not decision.allowed
        assert CANARY not in decision.message
        assert decision.values[0].value == f"${{vault:a:{name}}}"
    unresolved = engine(tmp_path, rules({"key": "spark.acme.x", "type": "regex", "pattern": ".*"}))
    assert not unresolved.check(request({"spark.acme.x": "${vault:a:good}"})).allowed
    assert not unresolved.check(request({"spark.acme.x": "${spark.other}"})).allowed


def test_a_reference_can_be_fixed_by_its_text(tmp_path):
    text = "${vault:shared/db:password}"
    checker = engine(tmp_path, rules({"key": "spark.acme.x", "type": "fixed", "value": text}))
    assert checker.check(request({"spark.acme.x": text})).allowed
    assert not checker.check(request({"spark.acme.x": "${vault:shared/db:user}"})).allowed


@pytest.mark.parametrize(("kind", "allowed"), [("unlimited", True), ("forbidden", False)])
def test_no_store_is_asked_where_the_value_decides_nothing(tmp_path, kind, allowed):
    """A lookup could issue a credential; and what has no value now may have one when it is used."""
    asked = []

    def resolve(texts):
        asked.extend(texts)
        raise SparkConfigError("the store is away")

    checker = engine(
        tmp_path, rules({"key": "spark.acme.x", "type": kind}), resolve=resolve, providers="vault"
    )
    decision = checker.check(request({"spark.acme.x": "${vault:db:password}"}))
    assert decision.allowed is allowed
    assert asked == []
