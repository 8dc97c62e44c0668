"""Mode `warn` in a running application: everything passes, is logged, counted and recorded; no value is shown."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException

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
    # At least: what was decided before a new generation of values is asked again.
    assert after["warned"] - before["warned"] >= 4
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


def test_a_local_driver_answers_nobody_on_its_port(application):
    """An RPC environment of its own is what a stranger with access to the port has; local mode needs no secret."""
    spark, _ = application
    jvm = spark._jvm
    security = scala_object(jvm, "org.apache.spark.SecurityManager")
    conf = jvm.org.apache.spark.SparkConf(False)
    default = "$lessinit$greater$default$"
    manager = jvm.org.apache.spark.SecurityManager(
        conf, getattr(security, f"{default}2")(), getattr(security, f"{default}3")()
    )
    rpc = scala_object(jvm, "org.apache.spark.rpc.RpcEnv")
    stranger = rpc.create("stranger", "127.0.0.1", 0, conf, manager, False)
    try:
        port = int(spark.sparkContext._jsc.sc().conf().get("spark.driver.port"))
        driver_ref = stranger.setupEndpointRef(
            jvm.org.apache.spark.rpc.RpcAddress("127.0.0.1", port),
            "org.apache.spark.internal.plugin.PluginEndpoint",
        )
        any_class = scala_object(jvm, "scala.reflect.ClassTag").Any()
        for words in (
            ["ask-key"],
            ["ask-snapshot", 0, 0, "1"],
            ["ask-expression", "${files:x:y}", jvm.java.util.HashMap(), False],
            ["listen", "1", driver_ref],
            ["have", "1", 0, 0],
        ):
            message = spark.sparkContext._gateway.new_array(jvm.Object, len(words))
            for place, word in enumerate(words):
                message[place] = jvm.java.lang.Long.valueOf(0) if word == 0 else word
            question = jvm.org.apache.spark.internal.plugin.PluginMessage(
                "io.sparkconfig.ConfigPlugin", message
            )
            assert driver_ref.askSync(question, any_class) is None
    finally:
        stranger.shutdown()


@pytest.mark.parametrize("switch", ["enabled", "enabledTentatively", "returnSinglePassResultInDualRun"])
def test_sparks_single_pass_analyzer_runs_nothing(application, switch):
    """It knows none of our rules. The key is protected; here mode warn lets it pass, and the statement fails."""
    spark, folder = application
    key = f"spark.sql.analyzer.singlePassResolver.{switch}"
    spark.conf.set(key, "true")
    assert [each["decision"] for each in records(folder) if each["subject"] == key] == ["warned"]
    try:
        for run in (
            lambda: spark.range(3).collect(),
            lambda: spark.sql("SELECT 1").collect(),
        ):
            # Spark 4.0 says by itself that this analyzer does not know range().
            with pytest.raises(AnalysisException, match=f"{switch}|UNSUPPORTED_SINGLE_PASS"):
                run()
        # Of many commands Spark itself says that its analyzer does not know them yet.
        with pytest.raises(AnalysisException, match=r"(?i)single.?pass"):
            spark.range(2).write.mode("overwrite").parquet(str(folder / "single"))
        assert not (folder / "single").exists()
    finally:
        spark.conf.unset(key)
    assert spark.range(3).count() == 3
