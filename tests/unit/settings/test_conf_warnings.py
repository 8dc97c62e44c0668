"""What starts and is probably a mistake: secrets in clear, and texts that are almost references."""

from __future__ import annotations

import logging

import pytest

from sparkconfig.agent.factory import make_application
from sparkconfig.settings import conf_warnings

VALUE = "warnings-canary-31f0"


@pytest.mark.parametrize(
    "key",
    [
        "spark.shop.password", "spark.shop.apiKey", "spark.shop.api-key", "spark.shop.auth.token", "spark.db.passwd",
        "spark.hadoop.fs.s3a.secret.key", "spark.hadoop.fs.s3a.access.key", "spark.executorEnv.DB_PASSWORD",
        "spark.hadoop.fs.azure.account.key.shop.dfs.core.windows.net", "spark.ssl.keyStorePassword",
        "spark.hadoop.fs.azure.sas.data.shop.blob.core.windows.net", "spark.authenticate.secret",
        "spark.openlineage.transport.auth.apiKey", "spark.redis.credentials", "spark.cassandra.auth.password",
        "spark.hadoop.fs.azure.account.oauth2.client.secret.shop.dfs.core.windows.net",
        "spark.config.providers.vault.param.token", "spark.config.providers.aws.param.secret.access.key",
        "spark.config.providers.vault.param.secret.id", "spark.shop.pwd", "spark.shop.dbPwd", "spark.shop.db_pass",
        "spark.executorEnv.DB_PWD", "spark.es.nodes.pass",
    ],
)  # fmt: skip
def test_keys_of_secrets(key: str) -> None:
    assert conf_warnings.in_clear({key: VALUE}) == [key]
    for text in ("${secrets:shop:password}", "x-${secrets:a:b}", "$[envVar=X]", "", "true", "None"):
        assert conf_warnings.in_clear({key: text}) == []


@pytest.mark.parametrize(
    "text",
    [
        f"mongodb://${{secrets:m:user}}.x:27017/?password={VALUE}",
        f"mongodb://${{secrets:m:user}}:{VALUE}@h:27017/db",
        f"jdbc:postgresql://h/db?user=a&password=${VALUE}",
    ],
)
def test_secrets_inside_of_addresses(text: str) -> None:
    assert conf_warnings.in_clear({"spark.shop.url": text}) == ["spark.shop.url"]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("spark.authenticate.secretBitLength", "256"),
        ("spark.authenticate.secret.file", "/etc/spark/rpc"),
        ("spark.kubernetes.driver.secrets.spark-secret", "/etc/secrets"),
        ("spark.kubernetes.kerberos.tokenSecret.name", "hadoop-token"),
        ("spark.hadoop.hadoop.security.credential.provider.path", "jceks://file/x"),
        ("spark.security.credentials.hive.enabled", "false"),
        ("spark.kafka.clusters.shop.sasl.token.mechanism", "SCRAM-SHA-512"),
        ("spark.config.providers.secrets.param.key.file", "/etc/shop/shop.key"),
        ("spark.config.providers.secrets.param.passphrase.env", "SHOP_PASSPHRASE"),
        ("spark.config.redaction.keys", "shop"),
        ("spark.redaction.regex", "(?i)secret|password|token"),
        ("spark.master", "spark://h:7077"),
        ("spark.jars", "hdfs://nn:8020/a@b.jar,https://h:443/x"),
        ("spark.shop.tokenizer", "words"),
        ("spark.executorEnv.PWD", "/srv/shop"),
        ("spark.shop.bypass", "all-of-them"),
        ("spark.shop.second.pass", "true"),
        ("spark.sql.parser.maxTokens", "100"),
        ("spark.shop.use.password", "yes"),
        ("spark.shop.private.key", "/etc/shop/key.pem"),
        ("spark.shop.password", "/run/secrets/db-password"),
        ("spark.redaction.string.regex", "password=(.*)"),
        (
            "spark.driver.extraJavaOptions",
            "-Dx.tokens=8 -Dx.password= -Dx.use.password=true -Dx.secret=/run/x.pem",
        ),
        ("spark.shop.query", "SELECT * FROM t WHERE token = :token AND password = ?"),
        ("spark.shop.url", "jdbc:x://h/d?password=none&token="),
        ("spark.shop.password", "file:/run/secrets/db_password"),
        ("spark.shop.private.key", "file:///etc/shop/key.pem"),
        ("spark.shop.secret.id", "arn:aws:secretsmanager:eu-west-1:1:secret:shop"),
        ("spark.hadoop.fs.s3a.encryption.key", "arn:aws:kms:eu-west-1:1:key/2"),
        ("spark.hadoop.fs.s3a.encryption.key", "12345678-90ab-cdef-1234-567890abcdef"),
        ("spark.hadoop.fs.s3a.encryption.key", "alias/shop"),
        ("spark.sql.catalog.ice.header.Accept", "application/json"),
    ],
)
def test_what_is_not_a_secret(key: str, text: str) -> None:
    assert conf_warnings.in_clear({key: text}) == []


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("spark.shop.password", "4096"),
        ("spark.shop.password", VALUE + "$[x]long"),
        ("spark.shop.password", VALUE + "${open"),
        ("spark.shop.token", "123456"),
        ("spark.shop.tokens", "4096 abc"),
        ("spark.shop.secret.key", "/a+b/" + VALUE + "=="),
        ("redis.auth", VALUE),
        ("spark.mongodb.write.connection.uri", f"mongodb+srv://shop:{VALUE}@db/shop?retryWrites=true"),
        ("es.net.http.auth.pass", VALUE),
        ("spark.sql.catalog.ice.url", f"jdbc:sqlserver://db;user=a;password={VALUE}"),
        ("spark.hadoop.fs.s3a.encryption.key", "c2VjcmV0LWtleQ=="),
        ("spark.hadoop.fs.s3a.bucket.shop.server-side-encryption.key", "c2VjcmV0LWtleQ=="),
        ("spark.config.providers.gcp.param.credentials.json", f'{{"private_key": "{VALUE}"}}'),
        ("spark.hadoop.sparkconfig.credential.fs.gs.auth.access.token", VALUE),
        ("spark.hadoop.sparkconfig.credential.fs.azure.account.access.token", VALUE),
        ("spark.hadoop.sparkconfig.credential.fs.azure.sas.fixed.token.shop.dfs.core.windows.net", VALUE),
    ],
)
def test_secrets_that_look_harmless(key: str, text: str) -> None:
    assert conf_warnings.in_clear({key: text}) == [key]


@pytest.mark.parametrize(
    "text", ["${secrets.shop.password}", "a${secrets/shop:x/password}", "${secrets/shop/password}"]
)
def test_almost_references(text: str) -> None:
    (said,) = conf_warnings.mistakes({"spark.x": text}, {"secrets"}) if ":" not in text else ("has no colon",)
    assert "has no colon" in said
    assert "password" not in said


@pytest.mark.parametrize(
    "text",
    [
        "${secrets:shop:a.b/c}",
        "${sys.x}",
        "${other.shop.password}",
        "${secretsx.a}",
        "$secrets.a",
        "${secrets}",
    ],
)
def test_what_is_not_almost_a_reference(text: str) -> None:
    assert list(conf_warnings.mistakes({"spark.x": text}, {"secrets"})) == []


@pytest.mark.parametrize(
    "text",
    [
        "${secrets:shop:password}", "{secrets: 1}", "secrets:shop:password", "$[env:HOME:x]", "{secrets:x}",
        "$[envVar/defaultValue=secrets:x:y/=A]", "my$secretsx:a:b",
    ],
)  # fmt: skip
def test_other_brackets_and_dollars(text: str) -> None:
    assert list(conf_warnings.mistakes({"spark.x": text}, {"secrets"})) == []


def test_a_reference_without_its_end() -> None:
    (said,) = conf_warnings.mistakes({"spark.x": "${secrets:a:b}, ${secrets:shop:password"}, {"secrets"})
    assert (
        said
        == "spark.x: ${secrets:… has no closing brace, so it is text, not a reference; write ${secrets:PATH:KEY}"
    )


def test_long_hostile_texts_take_no_time() -> None:
    assert list(conf_warnings.mistakes({"k": "${a/" * 100_000}, {"b"})) == []
    assert conf_warnings.in_clear({"k": "://" * 100_000}) == []


def test_the_start_warns_once(caplog: pytest.LogCaptureFixture) -> None:
    confs = {
        "spark.config.providers": "envvar",
        "spark.shop.password": VALUE,
        "spark.shop.token": VALUE,
        "spark.ssl.keyPassword": VALUE,
        "spark.shop.user": "${envvar.SHOP_USER}",
    }
    with caplog.at_level(logging.WARNING):
        make_application(confs, system_properties={}, operator_file=None).close()
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2
    assert said[0].startswith("secrets are in clear in: spark.shop.password, spark.shop.token. Put")
    assert said[1].startswith("spark.shop.user: ${envvar.…} has no colon")
    shown = sum(VALUE in text for text in said)
    assert shown == 0
