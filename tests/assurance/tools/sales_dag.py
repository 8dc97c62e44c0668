"""A DAG of `test_airflow.py`: one task makes confs, which travel as XCom, the other submits a job with them."""

import datetime as dt
import json
import os
from pathlib import Path

from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import dag, task

SITE = json.loads(Path(os.environ["SALES_SITE"]).read_text())


@task
def confs() -> dict[str, str]:
    return dict(SITE["confs"])


@dag(schedule=None, start_date=dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc))
def sales() -> None:
    SparkSubmitOperator(
        task_id="submit",
        application=SITE["application"],
        jars=SITE["jars"],
        conf=confs(),
        env_vars=SITE["environment"],
        name="sales-{{ ds }}",
        verbose=True,
    )


sales()
