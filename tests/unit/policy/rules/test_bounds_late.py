"""Bound references where a value is handed out: Kafka's clients, file systems, catalogs."""

from __future__ import annotations

import pytest

from unit.policy.helpers import VAULT, engine
from unit.policy.rules.test_bounds import SECRET, ask, connects, made

RULE = {"type": "allow", "provider": "vault", "path": "shared/*"}


def asked_by_kafka(brokers, reference=SECRET):
    """What Kafka's provider asks: it knows no option, and the brokers if the driver named them."""
    named = {} if brokers is None else {"kafka.bootstrap.servers": brokers}
    return {"kafka.config.providers": reference, **named}


@pytest.mark.parametrize(
    ("rule", "brokers", "allowed"),
    [
        ({"to": "k1:9092"}, "K1", True),
        ({"to": "k1:9092"}, "evil:9092", False),
        ({"to": "k1:9092"}, "k1:9092,evil:9092", False),
        ({"to": "k1:9092"}, None, False),
        ({"to": "k1:9092", "options": "kafka.sasl.jaas.config"}, "k1:9092", True),
        ({"formats": "jdbc"}, "k1:9092", False),
        ({"formats": "kafka"}, None, True),
        ({}, None, True),
    ],
)
def test_kafkas_provider_asks_about_its_brokers(tmp_path, rule, brokers, allowed):
    policies = made(tmp_path, {**RULE, **rule})
    assert connects(policies, asked_by_kafka(brokers), ["kafka", "kafka-client"])["allowed"] is allowed


def test_options_with_kafkas_provider_may_be_bound(tmp_path):
    policies = made(tmp_path, {**RULE, "to": "k1:9092"})
    late = SECRET.replace("${", "${sparkconfig:")
    options = {
        "kafka.bootstrap.servers": "k1:9092",
        "kafka.config.providers": "sparkconfig",
        "kafka.config.providers.sparkconfig.class": "io.sparkconfig.kafka.ReferenceConfigProvider",
        "kafka.sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required"
        f' username="a" password="{late}";',
    }
    assert ask(policies, options, ["kafka"])["allowed"]
    assert not ask(policies, {**options, "kafka.bootstrap.servers": "evil:1"}, ["kafka"])["allowed"]


def test_the_provider_list_is_no_place_for_a_reference(tmp_path):
    """It is the provider's own question, and no door's."""
    policies = made(tmp_path, {**RULE, "to": "k1:9092"})
    for names in (["kafka"], ["kafka-client"]):
        assert not ask(policies, asked_by_kafka("k1:9092"), names)["allowed"]
        assert not connects(policies, asked_by_kafka("k1:9092"), names)["allowed"]


@pytest.fixture
def lake(tmp_path):
    """The operator sets the keys of all buckets, and their endpoint; a rule binds them to one bucket."""
    return engine(
        tmp_path,
        {"references": [{**RULE, "to": ["s3a://lake", "abfss://shop.dfs.core.windows.net"]}]},
        defaults={
            "spark.hadoop.sparkconfig.credential.fs.s3a.secret.key": SECRET,
            "spark.hadoop.fs.s3a.endpoint": "http://minio:9000",
        },
        **VAULT,
    )


@pytest.mark.parametrize(
    ("options", "allowed"),
    [
        ({"uri": "s3a://lake"}, True),
        ({"uri": "s3a://LAKE", "fs.s3a.endpoint": "http://minio:9000"}, True),
        ({"uri": "s3a://lake", "fs.s3a.bucket.lake.endpoint": "http://minio:9000"}, True),
        ({"uri": "s3a://lake", "fs.s3a.endpoint": "http://evil"}, False),
        ({"uri": "s3a://lake", "fs.s3a.proxy.host": "evil"}, False),
        ({"uri": "s3a://lake", "fs.s3a.custom.signers": "x:com.acme.Own"}, False),
        ({"uri": "s3a://other"}, False),
        ({}, False),
    ],
)
def test_keys_of_the_operators_go_to_the_bucket_of_the_rule(lake, options, allowed):
    assert connects(lake, {"fs.s3a.secret.key": SECRET, **options}, ["s3a"])["allowed"] is allowed


def test_accounts_of_abfs(lake):
    for account, allowed in (("shop.dfs.core.windows.net", True), ("evil.example", False)):
        options = {"fs.azure.sas.fixed.token": SECRET, "uri": f"abfss://{account}"}
        assert connects(lake, options, ["abfs"])["allowed"] is allowed


def test_what_no_rule_is_about_stays_the_operators(tmp_path):
    policies = engine(
        tmp_path, {"references": [{"type": "forbid", "provider": "vault"}]},
        defaults={"spark.hadoop.sparkconfig.credential.fs.s3a.secret.key": SECRET}, providers="vault",
    )  # fmt: skip
    assert connects(policies, {"fs.s3a.secret.key": SECRET, "uri": "s3a://any"}, ["s3a"])["allowed"]
    assert not connects(policies, {"fs.s3a.secret.key": SECRET + " ", "uri": "s3a://any"}, ["s3a"])["allowed"]


def test_users_cannot_say_where_a_file_system_goes(tmp_path):
    """Our own doors know the option `uri`."""
    policies = made(tmp_path, {**RULE, "to": "s3a://lake"})
    found = ask(policies, {"fs.s3a.secret.key": SECRET, "uri": "s3a://lake"}, ["csv"])
    assert not found["allowed"]
    assert "not known before it is used" in found["message"]
    # A database gets each option that its driver knows, or does not.
    anywhere = {"url": "jdbc:postgresql://evil/x", "uri": "s3a://lake", "fs.s3a.secret.key": SECRET}
    assert not connects(policies, anywhere)["allowed"]


CATALOG = {"spark.sql.catalog.ice.token": SECRET, "spark.sql.catalog.ice.uri": "https://rest.example/ws"}


@pytest.mark.parametrize(
    ("confs", "allowed"),
    [
        ({}, True),
        ({"spark.sql.catalog.ice.uri": "https://evil/ws"}, False),
        ({"spark.sql.catalog.ice.oauth2-server-uri": "https://evil"}, False),
        ({"spark.sql.catalog.ice.uri": None}, False),
        ({"spark.sql.catalog.ICE.uri": "https://evil/ws"}, False),
        ({"spark.sql.catalog.other.uri": "https://evil/ws"}, True),
    ],
)
@pytest.mark.parametrize("scope", ["application", "session"])
def test_the_uri_of_a_rest_catalog_is_compared(tmp_path, confs, allowed, scope):
    policies = made(tmp_path, {**RULE, "to": "https://rest.example/*"})
    options = {key: text for key, text in {**CATALOG, **confs}.items() if text is not None}
    assert ask(policies, options, [], scope=scope)["allowed"] is allowed
    mine = {key: text for key, text in options.items() if ".ice." in key.lower()}
    options = {key[len("spark.sql.catalog.ice.") :]: text for key, text in mine.items() if "ICE" not in key}
    if len(options) == len(mine):
        assert connects(policies, options, ["iceberg"])["allowed"] is allowed


def test_hives_metastore(tmp_path):
    policies = made(tmp_path, {**RULE, "to": "jdbc:mysql://db/hive"})
    names = ("javax.jdo.option.ConnectionURL", "javax.jdo.option.ConnectionPassword")
    for url, allowed in (("jdbc:mysql://db/hive", True), ("jdbc:mysql://evil/hive", False)):
        options = dict(zip(names, (url, SECRET), strict=True))
        assert connects(policies, options, ["hive"])["allowed"] is allowed
        confs = {f"spark.hadoop.{name}": text for name, text in options.items()}
        assert ask(policies, confs, [], scope="application", job_type="batch")["allowed"] is allowed


LATE = "spark.hadoop.sparkconfig.credential.fs.s3a.secret.key"


@pytest.mark.parametrize("job_type", ["batch", "connect"])
def test_a_jobs_own_keys_may_be_bound_where_our_door_hands_them_out(tmp_path, job_type):
    policies = made(tmp_path, {**RULE, "to": "s3a://lake", "formats": "s3a"})
    for scope in ("application", "session", "hadoop"):
        assert ask(policies, {LATE: SECRET}, [], scope=scope, job_type=job_type)["allowed"]
        direct = {LATE.replace("sparkconfig.credential.", ""): SECRET}
        assert not ask(policies, direct, [], scope=scope, job_type=job_type)["allowed"]
    for bucket, allowed in (("lake", True), ("other", False)):
        options = {"fs.s3a.secret.key": SECRET, "uri": f"s3a://{bucket}"}
        assert connects(policies, options, ["s3a"])["allowed"] is allowed
