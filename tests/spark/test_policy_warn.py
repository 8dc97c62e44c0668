"""Mode `warn` in a running application: everything passes, is logged, counted and recorded; no value is shown."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from sparkconfig._spark import driver
from support.policies import log_to, records, write_operator
from support.scala_objects import scala_object
from support.session import running_session

pytestmark = pytest.mark.spark

PARTITIONS = "spark.sql.shuffle.partitions"
SECRET = "Canary-b07c55-value"
COLOUR = "Canary-colour-77d1"
RULES = {
    "rules": [
        {"key": "spark.shop.zone", "type": "allowlist", "values": ["a"]},
        {"key": "spark.shop.tier", "type": "unlimited", "defaultValue": "first"},
        {"key": "tenant", "type": "forbidden", "scopes": ["source"]},
    ],
    "references": [{"type": "forbid", "provider": "files", "key": "admin"}],
    "tables": [{"tables": "*", "forbid": True}],
}


@pytest.fixture(scope="module")
def application(tmp_path_factory) -> Iterator[tuple[object, Path]]:
    folder = tmp_path_factory.mktemp("warn")
    (folder / "shop.properties").write_text(f"admin={SECRET}\n")
    own = {
        "spark.config.override.mode": "warn",
        "spark.config.redaction.require": "false",
        "spark.config.redaction.keys": "colou?r",
        "spark.shop.region": "here",
        PARTITIONS: "7",
    }
    home = write_operator(folder, RULES, **own)
    log_to(home, folder / "driver.log")
    conf = {
        "spark.master": "local[1]",
        "spark.shop.zone": "elsewhere",
        "spark.shop.colour": COLOUR,
        "spark.config.redaction.require": "true",
    }
    with running_session(conf, folder=folder, env={"SPARK_CONF_DIR": str(home)}) as spark:
        yield spark, folder


def test_the_start_warns_of_everything_and_goes_on(application):
    spark, folder = application
    confs = spark.sparkContext.getConf()
    # What the job sets stays; where it sets nothing, the operator's and the policy's defaults are in place.
    assert [confs.get(key) for key in ("spark.shop.zone", PARTITIONS)] == ["elsewhere", "2"]
    assert [confs.get(key) for key in ("spark.shop.region", "spark.shop.tier")] == ["here", "first"]
    lines = [line for line in (folder / "driver.log").read_text().splitlines() if "mode warn" in line]
    assert len(lines) == 1
    for key in ("spark.shop.zone", PARTITIONS, "spark.config.redaction.require"):
        assert key in lines[0]
    assert "elsewhere" not in lines[0]


def test_settings_of_redaction_are_the_operators_even_so(application):
    spark, _ = application
    jvm = spark._jvm
    assert (
        scala_object(jvm, "io.sparkconfig.redaction.engine.Redactor").redact(f"<{COLOUR}>") != f"<{COLOUR}>"
    )
    conf = spark.sparkContext._jsc.sc().conf().clone().set("spark.eventLog.enabled", "true")
    # No context is being started, as where the platform's event log is unknown: an error unless require is false.
    jvm.io.sparkconfig.redaction.sinks.EventLogListener(conf)
    with pytest.raises(Exception, match="cannot be redacted"):
        jvm.io.sparkconfig.redaction.sinks.EventLogListener(
            conf.set("spark.config.redaction.require", "true")
        )


def test_doors_let_pass_count_and_record(application):
    spark, folder = application
    before = driver.status()["policy"]
    spark.conf.set("spark.shop.zone", "nowhere")
    spark.conf.set("spark.shop.tier", "second")
    spark.range(2).write.mode("overwrite").parquet(str(folder / "numbers"))
    assert spark.read.option("tenant", "them").parquet(str(folder / "numbers")).count() == 2
    spark.sql("CREATE TABLE shop_t (id INT) USING parquet")
    spark.sql("DROP TABLE shop_t")
    assert driver.current(f"${{files:{folder}/shop.properties:admin}}").reveal() == SECRET
    after = driver.status()["policy"]
    assert (before["mode"], after["mode"], after["denied"]) == ("warn", "warn", 0)
    assert after["warned"] - before["warned"] == 4
    with urllib.request.urlopen(f"{spark.sparkContext.uiWebUrl}/metrics/json/", timeout=20) as answer:
        gauges = json.loads(answer.read())["gauges"]
    found = {
        name.rpartition(".")[2]: each["value"] for name, each in gauges.items() if "ConfigPlugin" in name
    }
    assert (found["policyWarnings"], found["policyViolations"]) == (after["warned"], 0)
    audit = records(folder)
    assert {record["decision"] for record in audit} == {"allowed", "warned"}
    subjects = {record["subject"] for record in audit if record["decision"] == "warned"}
    assert {"spark.shop.zone", PARTITIONS, "tenant", "spark_catalog.default.shop_t"} <= subjects
    log = (folder / "driver.log").read_text()
    assert "nowhere" not in log
    assert SECRET not in log + json.dumps(audit)
