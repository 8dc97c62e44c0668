"""The part of the leak audit that runs with all tests: every kind of job in Python on a cluster.

``make audit`` reads all pages, over HTTP and in Chromium, and runs the rest: Scala, Connect, Thrift, the history
server, and stock Spark.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from leaks.audit.applications import python_on_cluster
from leaks.audit.column import Column, open_column
from leaks.audit.profiles import OURS, STOCK
from leaks.audit.report import Result, problems
from leaks.audit.stage import ROLE, Stage
from support import surfaces
from support.cluster import SparkCluster
from support.postgres import PostgresServer
from support.processes import Run

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

#: Enough to see that the search finds what is there.
STOCK_KINDS = ("kept", "descriptions")
#: All secrets in one text.
TOGETHER = 64
BLOCKS = "local directories: blocks and broadcasts of the job's data"


@pytest.fixture(scope="module")
def stage(harness_run: Run, postgres: PostgresServer, pg_driver: Path) -> Iterator[Stage]:
    postgres.create(role=ROLE, password=secrets.token_hex(16), database=ROLE)
    spark = SparkCluster(harness_run, workers=2, name="audit", hosts=("127.0.0.1", "127.0.0.2"))
    yield Stage(harness_run, postgres, spark, pg_driver, per_shape_http=1)
    spark.stop()


@pytest.fixture(scope="module")
def ours(stage: Stage) -> Result:
    column = open_column(stage, OURS)
    with surfaces.ProcessWatch() as processes:
        python_on_cluster(column, more={"spark.io.encryption.enabled": "true"}, together=TOGETHER)
    return _finished(column, processes)


def _finished(column: Column, processes: surfaces.ProcessWatch) -> Result:
    column.search("event logs", surfaces.files([column.folder / "events"]))
    column.search("command lines of all processes", processes.command_lines.items())
    column.search("environments of all processes", processes.environments.items())
    return Result(column.profile.title, column.profile.plugin, column.surfaces)


def test_no_surface_shows_a_secret(ours: Result) -> None:
    assert problems([ours]) == []


def test_blocks_of_the_jobs_own_data_show_none_when_spark_encrypts_them(ours: Result) -> None:
    assert ours.surfaces[BLOCKS].size > 1000
    assert ours.surfaces[BLOCKS].occurrences == 0


def test_the_same_search_finds_the_secrets_of_stock_spark(stage: Stage) -> None:
    column = open_column(stage, STOCK)
    with surfaces.ProcessWatch() as processes:
        python_on_cluster(column, STOCK_KINDS, together=TOGETHER)
    found = {each.name for each in _finished(column, processes).surfaces.values() if each.occurrences}
    assert found >= {
        "event logs",
        "environment REST",
        "other REST answers",
        "pages of the application, over HTTP",
        "output and log of drivers",
        "command lines of all processes",
        BLOCKS,
    }
