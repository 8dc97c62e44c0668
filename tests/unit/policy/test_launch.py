"""Main class, script and job type, from commands as Spark's own scripts start them."""

from __future__ import annotations

import pytest

from sparkconfig.policy.jobtype import Launch

SUBMIT = "org.apache.spark.deploy.SparkSubmit"
KERNEL = ("python3.11", "-m", "ipykernel_launcher", "-f", "k.json")
REPL = "org.apache.spark.repl.Main"
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
        (f"{SUBMIT} --class {THRIFT} --name Thrift JDBC/ODBC Server spark-internal", (), THRIFT, "sql"),
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
        f"com.acme.Embedded {THRIFT}",
    ],
)
def test_a_jobs_own_arguments_do_not_make_it_another_type(command):
    assert Launch(command).detect({}) == "batch"
