"""The part of the leak audit that runs with all tests: every kind of job in Python on a cluster.

``make audit`` reads all pages, and runs the rest: Scala, Connect, Thrift, the history server, and stock Spark.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from leaks.audit.applications import python_on_cluster
from leaks.audit.column import Column, open_column
from leaks.audit.profiles import OURS, STOCK
from leaks.audit.report import Result, problems
from leaks.audit.stage import ROLE, Stage
from support import browser, surfaces
from support.cluster import SparkCluster
from support.postgres import PostgresServer
from support.processes import Run

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

#: Enough to see that the search finds what is there.
STOCK_KINDS = ("rdds", "descriptions", "jdbc")
BLOCKS = "local directories: blocks and broadcasts of the job's data"
BROWSED = "pages of the application, in Chromium"


@pytest.fixture(scope="module")
def stage(harness_run: Run, postgres: PostgresServer, pg_driver: Path) -> Iterator[Stage]:
    postgres.create(role=ROLE, password=secrets.token_hex(16), database=ROLE)
    spark = SparkCluster(harness_run, workers=2, name="audit", hosts=("127.0.0.1", "127.0.0.2"))
    stage = Stage(harness_run, postgres, spark, pg_driver, per_shape=2, per_shape_http=6)
    if browser.missing():
        yield stage
    else:
        with browser.Browser(harness_run.private_dir("audit-browser")) as stage.browser:
            yield stage
    spark.stop()


@pytest.fixture(scope="module")
def ours(stage: Stage) -> Result:
    column = open_column(stage, OURS)
    with surfaces.ProcessWatch() as processes:
        python_on_cluster(column)
    return _finished(column, processes)


def _finished(column: Column, processes: surfaces.ProcessWatch) -> Result:
    column.search("event logs", surfaces.files([column.folder / "events"]))
    column.search("command lines of all processes", processes.command_lines.items())
    column.search("environments of all processes", processes.environments.items())
    return Result(column.profile.title, column.profile.plugin, column.surfaces)


def test_no_surface_shows_a_secret(ours: Result) -> None:
    assert problems([ours]) == []


def test_pages_show_no_secret_once_their_scripts_have_run(ours: Result) -> None:
    if lacking := browser.missing():
        pytest.skip(f"pages were read over HTTP only: {lacking} is missing; install {browser.PACKAGES}")
    assert ours.surfaces[BROWSED].parts > 20
    assert ours.surfaces[BROWSED].occurrences == 0


def test_blocks_of_the_jobs_own_data_show_none_when_spark_encrypts_them(stage: Stage, ours: Result) -> None:
    column = open_column(stage, OURS, "encrypted")
    python_on_cluster(column, ("kept",), {"spark.io.encryption.enabled": "true"}, files_only=True)
    assert ours.surfaces[BLOCKS].occurrences > 0, "the search does not read these files"
    assert column.surfaces[BLOCKS].size > 1000
    assert column.surfaces[BLOCKS].occurrences == 0


def test_the_same_search_finds_the_secrets_of_stock_spark(stage: Stage) -> None:
    column = open_column(replace(stage, browser=None, per_shape_http=2), STOCK)
    with surfaces.ProcessWatch() as processes:
        python_on_cluster(column, STOCK_KINDS)
    found = {each.name for each in _finished(column, processes).surfaces.values() if each.occurrences}
    assert found >= {
        "event logs",
        "environment REST",
        "other REST answers",
        "pages of the application, over HTTP",
        "output and log of drivers",
        "command lines of all processes",
    }
