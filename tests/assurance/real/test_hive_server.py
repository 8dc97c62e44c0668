"""Spark with Hive's metastore as a server: an application of its own, since each has one such catalog."""

from __future__ import annotations

from typing import Any

import pytest

from real.site import running_site
from real.sources.hive_server import HiveServer
from support.processes import Run

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    pytest.mark.timeout(900),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def test_tables_in_the_metastore_follow_rotations(
    cluster: Any, harness_run: Run, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("hive-server")
    with running_site([HiveServer], cluster, harness_run, folder) as site:
        source = site.sources[HiveServer.name]
        source.write(site.spark, range(20))
        assert site.numbers(source.frame(site.spark)) == list(range(20))
        site.follows(source, 20)
        site.follows(source, 30)
        site.search()
        # Another application finds the tables, with the newest password.
        site.start()
        assert site.numbers(source.frame(site.spark)) == list(range(40))
