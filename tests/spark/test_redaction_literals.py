"""Secrets written in clear are found by their keys, and vanish by value."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JJavaError

from leaks.support import bare_jvm
from sparkconfig.redaction import MASK
from support.scala_objects import scala_object

pytestmark = pytest.mark.spark

SECRETS = {
    "spark.hadoop.fs.azure.account.key.shop.dfs.core.windows.net": "azureAccountKey+/71==",
    "spark.hadoop.fs.s3a.secret.key": "s3aSecretKey-72",
    "spark.shop.apiKey": "shopApiKey-73",
    "spark.shop.sas": "sv=2024&sig=shopSas-74",
    "spark.shop.private_key": "shopPrivateKey-75",
    "spark.config.connections.shop.option.password": "shopLogin-77",
    "spark.shop.colour": "shopColourIsSecret-76",
}
HARMLESS = {
    "spark.hadoop.hadoop.security.credential.provider.path": "jceks://file/tmp/store-81",
    "spark.shop.password.file": "/run/secrets/password-82",
    "spark.shop.token": "${vault:db/prod:token-83}",
    "spark.shop.name": "harmless-name-84",
}
JAAS = 'Login required username="jaasUserName-91" password="jaas\\"Password-92";'


@pytest.fixture(scope="module")
def jvm():
    with bare_jvm() as gateway:
        yield gateway.jvm


def test_literal_secrets_join_the_registry(jvm):
    conf = jvm.org.apache.spark.SparkConf(False)
    for key, value in {**SECRETS, **HARMLESS, "spark.kafka.sasl.jaas.config": JAAS}.items():
        conf.set(key, value)
    conf.set("spark.config.redaction.keys", "colou?r, ^nothing$")
    jvm.io.sparkconfig.redaction.LiteralKeys.register(conf)
    redactor = scala_object(jvm, "io.sparkconfig.redaction.engine.Redactor")
    for value in [*SECRETS.values(), 'jaas"Password-92']:
        assert redactor.redact(f"<{value}>") == f"<{MASK}>"
    for value in [*HARMLESS.values(), "jaasUserName-91"]:
        assert redactor.redact(value) == value
    assert redactor.redact(JAAS) == f'Login required username="jaasUserName-91" password="{MASK}";'


def test_literal_secrets_of_a_named_connection(jvm):
    options = {
        "url": "jdbc:mysql://app:urlPassword-1@db/shop",
        "Password": "optionPassword-2",
        "dsn": "host=db password=dsnPassword-3",
        "token": "${vault:db:token-4}",
        "password.file": "/run/secrets/5",
    }
    given = jvm.java.util.HashMap()
    for key, text in options.items():
        given.put(key, text)
    given = jvm.org.apache.spark.api.python.PythonUtils.toScalaMap(given)
    found = scala_object(jvm, "io.sparkconfig.redaction.LiteralKeys").valuesOf(given).mkString(" ").split()
    assert {"urlPassword-1", "optionPassword-2", "dsnPassword-3"} <= set(found)
    assert not {options["token"], options["password.file"]} & set(found)


def test_a_malformed_expression_names_its_key(jvm):
    conf = jvm.org.apache.spark.SparkConf(False).set("spark.config.redaction.keys", "(")
    with pytest.raises(Py4JJavaError, match=r"spark\.config\.redaction\.keys"):
        jvm.io.sparkconfig.redaction.LiteralKeys.register(conf)


@pytest.mark.parametrize("require", ["true", "false"])
def test_an_event_log_that_cannot_be_redacted_stops_the_start(jvm, require):
    conf = jvm.org.apache.spark.SparkConf(False)
    conf.set("spark.eventLog.enabled", "true").set("spark.config.redaction.require", require)
    # No SparkContext is being started here, as on a platform whose classes differ.
    if require == "false":
        jvm.io.sparkconfig.redaction.sinks.EventLogListener(conf)
    else:
        with pytest.raises(Py4JJavaError, match=r"event log .* cannot be redacted"):
            jvm.io.sparkconfig.redaction.sinks.EventLogListener(conf)
    conf.set("spark.eventLog.enabled", "false")
    jvm.io.sparkconfig.redaction.sinks.EventLogListener(conf)
