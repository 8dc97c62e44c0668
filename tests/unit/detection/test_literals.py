"""Which secrets are found in confs, options and free text, and what is left alone."""

from __future__ import annotations

import pytest

from sparkconfig.detection import literals
from sparkconfig.detection.shapes import shapes
from sparkconfig.settings import conf_warnings
from sparkconfig.settings.secret_names import could_name_secret, names_secret

RANDOM = "Zx81kq0PLmm38dQw9"
GITHUB = "ghp_" + "a1B2" * 9
JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="jaas-1";'
PEM = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEow\n" * 8 + "-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("key", "value", "secret"),
    [
        ("spark.shop.password", "abc1", "abc1"),
        ("password", " secret ", "secret"),
        ("spark.shop.password", "<changed>1", "<changed>1"),
        ("spark.shop.url", "jdbc:postgresql://h/db?user=u&password=p4(ss)&ssl=true", "p4(ss)"),
        ("url", "jdbc:postgresql://u:pw@h/db", "pw"),
        ("url", "jdbc:oracle:thin:scott/tiger@h:1521/x", "tiger"),
        ("url", "jdbc:sqlserver://h;user=sa;password={a;b};encrypt=true", "a;b"),
        ("spark.kafka.sasl.jaas.config", JAAS, "jaas-1"),
        ("spark.hadoop.fs.azure.account.key.x.dfs.core.windows.net", "abc==", "abc=="),
        ("spark.eh", "Endpoint=sb://x/;SharedAccessKeyName=r;SharedAccessKey=abcDEF123=", "abcDEF123="),
        ("spark.blob", "https://a.blob.core.windows.net/c?sv=2020&sig=aB%2Bdef1&se=2", "aB%2Bdef1"),
        ("spark.driver.extraJavaOptions", "-Dx=y -Djavax.net.ssl.trustStorePassword=pw2 -Dz=1", "pw2"),
        ("spark.shop.auth", RANDOM, RANDOM),
        ("spark.anything", GITHUB, GITHUB),
        ("spark.anything", PEM, PEM),
        ("spark.mongodb.read.connection.uri", "mongodb://shop:pw1@db1:27017,db2/shop", "pw1"),
        ("spark.es.net.http.auth.pass", "pw1", "pw1"),
        ("spark.redis.auth", "pw1", "pw1"),
        ("spark.eventhubs.connectionString", "ZW5jcnlwdGVk", "ZW5jcnlwdGVk"),
        ("spark.sql.catalog.ice.header.Authorization", "Bearer pw1", "Bearer pw1"),
        ("spark.sql.catalog.ice.uri", "jdbc:mysql://db/shop?user=a&password=pw1", "pw1"),
        ("spark.hadoop.fs.s3a.encryption.key", "c2VjcmV0LWtleQ==", "c2VjcmV0LWtleQ=="),
        ("spark.mixed", "jdbc:x://h?user=${s:a:user}&password=lit1", "lit1"),
        ("spark.d.password", "abc$[x]defghi", "abc$[x]defghi"),
    ],
)
def test_a_secret_is_found_in_its_place(key: str, value: str, secret: str) -> None:
    (span,) = literals.find(key, value)
    assert (value[span.start : span.end] == secret) is True
    # Neither the log of a start nor the doctor looks for random texts and for shapes.
    assert conf_warnings.in_clear({key: value}) == ([] if secret in (GITHUB, PEM, RANDOM) else [key])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("spark.shop.password", "${sealed:shop:password}"),
        ("spark.shop.password", "$[envVar=PASSWORD]"),
        ("spark.shop.password", "${DB_PASSWORD}"),
        ("spark.shop.password", "${spark.db.password}"),
        ("spark.shop.password", "${env:PASSWORD}-x"),
        ("spark.shop.private.key", "${HOME}/shop.pem"),
        ("spark.shop.private.key", "/etc/${shop}/shop.pem"),
        ("url", "jdbc:postgresql://h/db?user=u&password=${DB_PASSWORD}"),
        ("url", "mongodb://shop:${DB_PASSWORD}@db/shop"),
        ("password", "hunter2-${y}-long"),
        ("url", "jdbc:postgresql://h/db?user=u&password=hunter2-${y}-long&ssl=true"),
        ("url", "mongodb://shop:hunter2-${y}-long@db/shop"),
        ("url", "jdbc:oracle:thin:scott/$PW@h:1521/x"),
        ("spark.kafka.sasl.jaas.config", JAAS.replace("jaas-1", "hunter2-${y}-long")),
        ("spark.shop.password", ""),
        ("spark.shop.password", "*********(redacted)"),
        ("spark.shop.password", "{{ password }}"),
        ("spark.shop.token.file", "/etc/token"),
        ("spark.shop.password.file", "/etc/shop.password"),
        ("url", "jdbc:postgresql://h/db?user=u&password=${sealed:app:url.password}"),
        ("spark.kafka.sasl.jaas.config", JAAS.replace("jaas-1", "${sealed:app:password}")),
        ("spark.hadoop.fs.s3a.aws.credentials.provider", "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider"),
        ("spark.kubernetes.authenticate.driver.serviceAccountName", "spark"),
        ("spark.kubernetes.driver.secretKeyRef.PASSWORD", "shop:password"),
        ("spark.authenticate", "true"),
        ("spark.sql.shuffle.partitions", "200"),
        ("spark.app.name", "shop"),
        ("spark.eventLog.dir", "s3a://bucket/logs"),
        ("spark.kafka.maxTokens", "100"),
        *(("spark.shop.token", value) for value in ("null", "~", "90d", "512 MiB", "1000 tokens", "PT1H")),
    ],
)  # fmt: skip
def test_what_is_not_a_secret_is_left_alone(key: str, value: str) -> None:
    assert literals.find(key, value) == []
    assert conf_warnings.in_clear({key: value}) == []


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("25/11/22 INFO Shop: connecting with password=hunter22 to db", "hunter22"),
        ('{"Spark Properties":{"spark.a.password":"v1,x","b":"c"}}', "v1,x"),
        ('"{\\"password\\":\\"inner12\\"}"', "inner12"),
        ("Authorization: Bearer abcdefghijkl123456", "abcdefghijkl123456"),
        ("opened jdbc:mysql://root:r00t@h/db", "r00t"),
        ("export AWS_SECRET_ACCESS_KEY=abcd/efgh", "abcd/efgh"),
    ],
)
def test_shapes_in_logs(text: str, secret: str) -> None:
    found = [text[span.start : span.end] for span in shapes(text)]
    assert (found == [secret]) is True


@pytest.mark.parametrize(
    "text",
    [
        "Token: expected ')'",
        "token provider: org.apache.spark.X",
        "delegation token for user x renewed",
        "def connect(password=None, token: str = '')",
        "spark.shop.password=${sealed:shop:password}",
        "export SHOP_PASSWORD=${PREFIX}password",
        '"spark.shop.password":"*********(redacted)"',
        "see https://spark.apache.org/docs?q=a@b",
        "secret keys: 4",
    ],
)
def test_prose_and_masks_are_not_secrets(text: str) -> None:
    assert shapes(text) == []


NAMES = {
    True: "password spark.x.password2 DB_PASSWORD_1 dbpass storePass x.pw AWS_SECRET_ACCESS_KEY userPassword",
    False: "userPasswordAttribute passwordColumn tokenField secretName password.file tokenPolicy passwordEnabled"
    " pad_token padToken eos_token mask_token next_token pageToken existingSecret token_url passwordFile password_field"
    " passwordLength token.max-age secretKeyAlgorithm bypass minipass sass spark.kubernetes.driver.secrets.x",
}


@pytest.mark.parametrize(
    ("named", "key"), [(named, key) for named, keys in NAMES.items() for key in keys.split()]
)
def test_the_last_noun_of_a_name_says_what_it_is(named: bool, key: str) -> None:
    assert names_secret(key) is named
    assert could_name_secret(key) is named


@pytest.mark.timeout(30)
@pytest.mark.parametrize(
    "piece", ["password=", "://a:b", "AKIA", "eyJa.eyJ", "-----BEGIN PRIVATE KEY-----a", 'token":"\\']
)
def test_hostile_texts_take_linear_time(piece: str) -> None:
    shapes(piece * (400_000 // len(piece)))
