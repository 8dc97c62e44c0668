"""``sparkconfig doctor`` on what is installed: Java, Spark, jars, the side process, sinks, and a Databricks driver."""

import os
import sys

import pytest

from sparkconfig import __version__
from sparkconfig.checks.doctor import Level, diagnose
from sparkconfig.checks.exit_codes import ExitCode
from unit.checks.doctor.helpers import GOOD, errors, found, make_jar, make_java, own_jar


@pytest.mark.parametrize("version", ["1.8.0_452", "11.0.27"])
def test_an_old_java(examine, tmp_path, version):
    make_java(tmp_path / "old", version)
    diagnosis = examine(GOOD, JAVA_HOME=str(tmp_path / "old"))
    assert f"Java {version}" in errors(diagnosis)["java"]
    assert diagnosis.code is ExitCode.CONFIGURATION


def test_no_java(examine, tmp_path):
    assert "does not run" in errors(examine(GOOD, JAVA_HOME=str(tmp_path / "none")))["java"]
    assert "no java on the PATH" in errors(examine(GOOD, JAVA_HOME="", PATH=str(tmp_path)))["java"]


def test_no_spark(home, tmp_path):
    diagnosis = diagnose([], spark_home=tmp_path / "nowhere", environ={"PATH": ""})
    assert "holds no Spark" in errors(diagnosis)["spark"]


def test_a_package_without_the_jar(examine, tmp_path):
    (tmp_path / "package" / f"sparkconfig_2.13-{__version__}.jar").unlink()
    assert "this package has no sparkconfig_2.13" in errors(examine(GOOD))["jar"]


def test_a_file_out_of_reach_is_a_finding_and_ends_no_examination(examine):
    jar = f"/{'x' * 300}/sparkconfig_2.13.jar"
    diagnosis = examine(f"{GOOD}\nspark.jars {jar}\nspark.shop.password ${{nobody:x}}")
    said = errors(diagnosis)
    assert "File name too long" in said["class path"]
    assert "nobody" in said["references"]


def test_an_installed_jar_of_another_version(examine, home):
    own_jar(home / "jars" / "sparkconfig_2.13-0.0.1.jar", "0.0.1")
    assert f"is version 0.0.1, and this package is {__version__}" in errors(examine(GOOD))["class path"]


def test_two_installed_jars(examine, home):
    own_jar(home / "jars" / "sparkconfig_2.13-0.0.1.jar", "0.0.1")
    own_jar(home / "jars" / f"sparkconfig_2.13-{__version__}.jar")
    assert "2 sparkconfig jars" in errors(examine(GOOD))["class path"]


def test_a_jar_for_another_scala(examine, tmp_path):
    jar = own_jar(tmp_path / f"sparkconfig_2.12-{__version__}.jar", scala="2.12-javax")
    assert "this Spark has Scala 2.13" in errors(examine(f"{GOOD}\nspark.jars /x.jar,{jar}"))["class path"]


def test_a_jar_that_is_not_there(examine, tmp_path):
    for text in (
        f"spark.jars file://{tmp_path}/sparkconfig_2.13-9.jar",
        f"spark.driver.extraClassPath /x:{tmp_path}/sparkconfig_2.13-9.jar",
    ):
        assert "does not exist" in errors(examine(f"{GOOD}\n{text}"))["class path"]


def test_a_jar_that_only_spark_can_read(examine):
    where = "hdfs://nn:8020/lib"
    diagnosis = examine(f"{GOOD}\nspark.jars {where}/x.jar,{where}/sparkconfig_2.13-{__version__}.jar")
    notes = found(diagnosis, "class path", Level.NOTE)
    assert "the --jars of a job replace it" in " ".join(each.found for each in diagnosis.findings)
    assert notes == [f"spark.jars: {where}/sparkconfig_2.13-{__version__}.jar cannot be checked from here"]
    diagnosis = examine(f"{GOOD}\nspark.yarn.dist.jars {where}/sparkconfig_2.12-0.0.1.jar")
    assert f"is not named sparkconfig_2.13-{__version__}" in found(diagnosis, "class path", Level.WARNING)[0]
    assert not found(diagnosis, "class path", Level.NOTE)


def test_the_installers_marker_without_the_file(examine, home):
    (home / "conf" / "sparkconfig.required").touch()
    assert "sparkconfig.required" in errors(examine(GOOD, SPARK_HOME=str(home)))["operator file"]


@pytest.mark.parametrize(
    ("script", "said"), [("exit 1", "has no sparkconfig"), ("echo 0.0.1 3.11", "has sparkconfig 0.0.1")]
)
def test_a_side_process_without_this_package(examine, tmp_path, script, said):
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)
    assert said in errors(examine(f"{GOOD}\nspark.config.agent.python {python}"))["side process"]


def test_sinks_that_redaction_cannot_reach(examine, home):
    (home / "jars" / "log4j-core-2.24.3.jar").unlink()
    diagnosis = examine(f"{GOOD}\nspark.config.redaction.require false")
    assert "sink log4j2" in errors(diagnosis)
    assert found(diagnosis, "sinks", Level.WARNING)


@pytest.fixture
def databricks(home, tmp_path, monkeypatch):
    """The layout of a Databricks driver: Spark's home without jars, and jars under names of Databricks' own."""
    root = tmp_path / "databricks"
    (root / "driver" / "conf").mkdir(parents=True)
    (root / "spark" / "conf").mkdir(parents=True)
    (root / "spark" / "VERSION").write_text("4.0.0\n")
    for name in ("core--core", "sql--core--core"):
        make_jar(root / "jars" / f"----ws_4_0--{name}-hive-2.3__hadoop-3.4_2.13_deploy.jar")
    trees = "----ws_4_0--maven-trees--hive-2.3__hadoop-3.4"
    log4j = "org.apache.logging.log4j--log4j-core--org.apache.logging.log4j__log4j-core__2.24.3"
    for name in (log4j, "net.sf.py4j--py4j--net.sf.py4j__py4j__0.10.9.9"):
        make_jar(root / "jars" / f"{trees}--{name}.jar")
    monkeypatch.setattr("sparkconfig._spark.jars._DATABRICKS", root / "spark")
    return root


@pytest.mark.parametrize("with_home", [True, False])
def test_a_databricks_driver(databricks, tmp_path, with_home):
    listener = "com.databricks.backend.daemon.driver.DBCEventLoggingListener"
    (databricks / "driver" / "conf" / "spark-branch.conf").write_text(
        f'[driver] {{\n  "spark.extraListeners" = "{listener}"\n  "spark.plugins" = "other.Plugin"\n}}\n'
    )
    own = databricks / "driver" / "conf" / "00-sparkconfig.conf"
    own.write_text('[driver] {\n  "spark.plugins" = "other.Plugin,io.sparkconfig.ConfigPlugin"\n}\n')
    own_jar(databricks / "jars" / f"sparkconfig_2.13-{__version__}.jar")
    environ = {
        "PATH": os.environ["PATH"],
        "JAVA_HOME": str(tmp_path / "jdk"),
        "PYSPARK_PYTHON": sys.executable,
    }
    environ |= {"SPARK_HOME": str(databricks / "spark")} if with_home else {}
    diagnosis = diagnose([], environ=environ)
    assert [path.name for path in diagnosis.files] == ["spark-branch.conf", "00-sparkconfig.conf"]
    assert errors(diagnosis) == {}
    assert found(diagnosis, "spark", Level.OK)[0] == f"Spark 4.0.0 with Scala 2.13 in {databricks}/spark"
    assert "every driver and executor" in found(diagnosis, "class path", Level.OK)[0]
    assert found(diagnosis, "plugin", Level.OK)
    assert "Databricks" in found(diagnosis, "sink event log", Level.WARNING)[0]
    assert found(diagnosis, "sink log4j2", Level.OK)


def test_asynchronous_loggers(examine):
    option = "-Dlog4j2.contextSelector=org.apache.logging.log4j.core.async.AsyncLoggerContextSelector"
    assert (
        "AsyncLoggerContextSelector"
        in errors(examine(f"{GOOD}\nspark.driver.extraJavaOptions {option}"))["sink log4j2"]
    )


def test_databricks_own_event_log(examine):
    listener = "com.databricks.backend.daemon.driver.DBCEventLoggingListener"
    diagnosis = examine(f"{GOOD}\nspark.extraListeners {listener},com.shop.Own")
    assert "Databricks" in found(diagnosis, "sink event log", Level.WARNING)[0]
    diagnosis = examine(f"{GOOD}\nspark.sql.queryExecutionListeners com.shop.Own")
    assert "com.shop.Own" in found(diagnosis, "sink listeners", Level.NOTE)[0]
