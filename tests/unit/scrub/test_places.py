"""Where ``scrub find`` finds something, and that a clean log has nothing."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from sparkconfig.checks.exit_codes import ExitCode
from sparkconfig.cli.main import main
from sparkconfig.redaction import MASK
from sparkconfig.scrub import logs
from sparkconfig.scrub.engine import Counts, Engine
from support.spark_home import spark_home


def found_in(log: Path) -> Counts:
    (found,) = logs.logs_in([log])
    return logs.find(found, Engine({"v": "scrub-canary-77aa"})).counts


def test_a_place_after_many_blocks_has_its_line(tmp_path: Path) -> None:
    log = tmp_path / "driver.log"
    log.write_text("a line of a log\n" * 200_000 + "x=scrub-canary-77aa\n")
    assert found_in(log).places == [(200_001, 3, "x", "v")]


def test_a_secret_that_is_a_key_is_no_name_of_a_place(tmp_path: Path) -> None:
    log = tmp_path / "app-1"
    log.write_text('{"scrub-canary-77aa":"scrub-canary-77aa","A1b2C3d4E5f6G7h8J9k0":"scrub-canary-77aa"}\n')
    assert {place.key for place in found_in(log).places} == {""}


def defaults_of_hadoop() -> dict[str, str]:
    """Every property with a default, as each event log of Spark holds them."""
    found: dict[str, str] = {}
    for jar in (spark_home() / "jars").glob("hadoop-client-api-*.jar"):
        with zipfile.ZipFile(jar) as archive:
            for name in ("core-default.xml", "yarn-default.xml", "hdfs-default.xml", "mapred-default.xml"):
                if name in archive.namelist():
                    for each in ET.fromstring(archive.read(name)).iter("property"):
                        found[each.findtext("name") or ""] = each.findtext("value") or ""
    return found


@pytest.mark.parametrize("form", ["event", "lines"])
def test_a_clean_event_log_has_no_shape(tmp_path: Path, form: str) -> None:
    """Such as ``fs.azure.sas.expiry.period: 90d``, which is in all of them."""
    confs = defaults_of_hadoop()
    assert len(confs) > 300
    confs |= {
        "spark.hadoop.yarn.resourcemanager.am-rm-tokens.master-key-rolling-interval-secs": "86400",
        "spark.kafka.sasl.token.mechanism": "SCRAM-SHA-512",
        "spark.security.credentials.renewalRatio": "0.75",
        "spark.shop.token.max-lifetime": "36h",
        "spark.shop.password.min.length": "12",
        "spark.shop.secret.key.algorithm": "HmacSHA256",
        "spark.shop.token.cache.duration": "15m",
        "spark.shop.token.foo": "1h30m",
        "spark.shop.password.kept": "P90D",
        "spark.shop.token": "7d",
        "userPasswordAttribute": "userPassword9",
        "ldap.passwordColumn": "pw_2026_01",
        "spark.shop.tokenField": "Auth0Token22",
        "passwordPolicyName": "Strong1Policy99",
        "spark.shop.secretPath": "kv2Path81/x",
    }
    log = tmp_path / "app-1"
    if form == "event":
        log.write_text(
            json.dumps({"Event": "SparkListenerEnvironmentUpdate", "Hadoop Properties": confs}) + "\n"
        )
    else:
        log.write_text("".join(f"{key}={text}\n" for key, text in confs.items()))
    counts = found_in(log)
    assert counts.shapes == {}, counts.places


@pytest.mark.parametrize("name", ["password2", "PASSWORD_PROD", "shop.token.prod", "client.secret.new"])
def test_digits_beside_a_name_that_goes_on_are_still_a_secret(tmp_path: Path, name: str) -> None:
    log = tmp_path / "driver.log"
    log.write_text(f"{name}=83719264\n")
    assert found_in(log).shapes.total() == 1


@pytest.mark.parametrize(
    "plan",
    [
        "Execute SetCommand\\n +- SetCommand (spark.shop.password,Some({}))",
        "SetCommand(Some((spark.shop.password,Some({}))))",
        "== Parsed Logical Plan ==\\nSetCommand (fs.s3a.secret.key,Some({}))",
        "AlterTableSetProperties [shop.password={}]",
        "(password, Some({}))",
        "SetCommand (spark.shop.url,Some(jdbc:x://h?user=u&password={}))",
    ],
)
def test_the_plan_of_a_statement_in_an_event_log(tmp_path: Path, plan: str) -> None:
    log = tmp_path / "app-1"
    log.write_text(f'{{"Event":"x","physicalPlanDescription":"{plan.format("hunter-4711")}"}}\n')
    assert found_in(log).shapes.total() == 1
    log.write_text(f'{{"Event":"x","physicalPlanDescription":"{plan.format("${v:a:b}")}"}}\n')
    assert found_in(log).shapes.total() == 0


@pytest.mark.parametrize("address", ["s3://b/events", "s3a://b/e", "gs://b/e", "hdfs:///e", "abfss://c@a/e"])
def test_the_address_of_an_object_store_names_the_job(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["scrub", "find", address]) == ExitCode.CONFIGURATION
    assert "docs/scrub.md" in capsys.readouterr().err


def test_a_value_of_several_lines(tmp_path: Path) -> None:
    pem = "-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA1234\nabcdefghijklmnop5678\n-----END PRIVATE KEY-----"
    log = tmp_path / "stdout"
    log.write_text(f"before\n{pem}\nafter\n")
    (found,) = logs.logs_in([log])
    result = logs.clean(found, Engine({"a": pem}))
    assert result.counts.values["a"] == 1
    assert log.read_text() == f"before\n{MASK}\nafter\n"
