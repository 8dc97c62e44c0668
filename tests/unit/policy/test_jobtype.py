"""Main class, script and job type, from commands as Spark's own scripts start them."""

import pytest

from sparkconfig.policy.jobtype import Launch, detect

SUBMIT = "org.apache.spark.deploy.SparkSubmit"
KERNEL = ("python3.11", "-m", "ipykernel_launcher", "-f", "k.json")
LIVY = "org.apache.livy.rsc.driver.RSCDriverBootstrapper"
REPL = "org.apache.spark.repl.Main"
CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
SQL = "org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver"
THRIFT = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"


@pytest.mark.parametrize(
    ("command", "parent", "application", "job_type"),
    [
        (f"{SUBMIT} --master local --conf a=b job.py --date today", (), "job.py", "batch"),
        (f"{SUBMIT} --verbose --class com.acme.Daily --jars x.jar app.jar", (), "com.acme.Daily", "batch"),
        (f"{SUBMIT} --conf a=b pyspark-shell", ("/v/bin/python3", "-u", "etl/load.py", "x"), "etl/load.py", "batch"),
        (f"{SUBMIT} pyspark-shell", KERNEL, "ipykernel_launcher", "interactive"),
        (f"{SUBMIT} pyspark-shell", ("python",), "", "interactive"),
        (f"{SUBMIT} pyspark-shell", ("python", "-c", "print()"), "", "batch"),
        (f"{SUBMIT} --name PySparkShell pyspark-shell", (), "", "interactive"),
        (f"{SUBMIT} --class {THRIFT} --name Thrift JDBC/ODBC Server spark-internal", (), THRIFT, "sql"),
        (f"{SUBMIT} --class {SQL} spark-internal", (), SQL, "sql"),
        (f"{SUBMIT} --class {CONNECT} spark-internal", (), CONNECT, "connect"),
        (f"{SUBMIT} --class {LIVY} spark-internal", (), LIVY, "interactive"),
        (f"{SUBMIT} --class {REPL} --name Spark shell spark-shell", (), REPL, "interactive"),
        ("com.acme.Embedded --x y", ("bash", "run.sh"), "com.acme.Embedded", "batch"),
        ("", (), "", "batch"),
    ],
)  # fmt: skip
def test_what_was_started(command, parent, application, job_type):
    launch = Launch(command, parent)
    assert (launch.application, launch.detect({})) == (application, job_type)


@pytest.mark.parametrize(
    "command",
    [
        f"{SUBMIT} job.py --class {THRIFT}",
        f"{SUBMIT} --class com.acme.Daily app.jar {THRIFT} pysparkshell",
        f"{SUBMIT} --name My daily job --class com.acme.Daily app.jar {THRIFT}",
        f"{SUBMIT} --class com.acme.Main app.jar --name jupyter",
        f"com.acme.Embedded {THRIFT}",
    ],
)
def test_a_jobs_own_arguments_do_not_make_it_another_type(command):
    assert Launch(command).detect({}) == "batch"


def test_confs_and_main_classes():
    assert detect({"spark.plugins": "x, org.apache.spark.sql.connect.SparkConnectPlugin"}) == "connect"
    assert detect({"spark.repl.class.outputDir": "/tmp/x"}) == "interactive"
    assert detect({}, "", THRIFT) == "sql"
