"""Job types from facts: the commands are those that Spark's own scripts start."""

import pytest

from sparkconfig.policy.jobtype import detect

SUBMIT = "org.apache.spark.deploy.SparkSubmit"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (f"{SUBMIT} --master local job.py", "batch"),
        (f"{SUBMIT} --class com.acme.Main app.jar --name jupyter", "batch"),
        (f"{SUBMIT} pyspark-shell", "batch"),
        (f"{SUBMIT} --name PySparkShell pyspark-shell", "interactive"),
        (f"{SUBMIT} --class org.apache.spark.repl.Main --name Spark shell spark-shell", "interactive"),
        (f"{SUBMIT} --class org.apache.livy.rsc.driver.RSCDriverBootstrapper spark-internal", "interactive"),
        ("/usr/bin/python3 -m ipykernel_launcher -f /tmp/kernel.json", "interactive"),
        (f"{SUBMIT} --class org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver spark-internal", "sql"),
        (f"{SUBMIT} --class org.apache.spark.sql.hive.thriftserver.HiveThriftServer2 spark-internal", "sql"),
        (
            f"{SUBMIT} --class org.apache.spark.sql.connect.service.SparkConnectServer spark-internal",
            "connect",
        ),
        ("", "batch"),
    ],
)
def test_commands(command, expected):
    assert detect({}, command) == expected


def test_confs_and_main_classes():
    assert detect({"spark.plugins": "x, org.apache.spark.sql.connect.SparkConnectPlugin"}) == "connect"
    assert detect({"spark.repl.class.outputDir": "/tmp/x"}) == "interactive"
    assert detect({}, "", "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2") == "sql"
