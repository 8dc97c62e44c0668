"""Executors that come and go with dynamic allocation."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sparkconfig import current
from sparkconfig._spark import driver
from support.processes import wait_until
from support.rotation import Site, digest, running_site

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    # pyspark 3.5 leaves the sockets to the garbage collector on which it collects RDDs.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def site(cluster, tmp_path_factory) -> Iterator[Site]:
    conf = {
        "spark.dynamicAllocation.enabled": "true",
        "spark.dynamicAllocation.shuffleTracking.enabled": "true",
        "spark.dynamicAllocation.initialExecutors": "0",
        "spark.dynamicAllocation.minExecutors": "0",
        "spark.dynamicAllocation.maxExecutors": "2",
        "spark.dynamicAllocation.executorIdleTimeout": "2s",
        # An executor that comes late must not need a poll to have the newest values.
        "spark.config.poll.interval": "1h",
    }
    # Large enough to come as a broadcast.
    with running_site(
        cluster, tmp_path_factory.mktemp("dynamic"), module=__name__, padding="p" * 40_000, conf=conf
    ) as site:
        yield site


def test_executors_begin_with_the_newest_values_whenever_they_come(site: Site) -> None:
    text, padding = site.reference(), site.reference("padding")
    assert current(padding).reveal() == site.padding

    def check(_rows):
        from sparkconfig.worker import configs

        found = configs({"password": text, "padding": padding})
        # The parent of a worker is the daemon of its executor. One executor must not do it all.
        (Path(met) / str(os.getppid())).touch()
        deadline = time.monotonic() + 60
        while len(list(Path(met).iterdir())) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        yield (
            digest(found["password"].reveal()),
            len(found["padding"].reveal()),
            len(list(Path(met).iterdir())) == 2,
        )

    wait_until("no executors at the start", lambda: site.executors() == [], timeout=60)
    for turn in range(2):
        met = str(site.folder / f"met-{turn}")
        Path(met).mkdir()
        fresh = site.rotate()
        assert current(text, fresh=True).reveal() == fresh
        assert site.everywhere(check) == [(digest(fresh), len(site.padding), True)] * 4
        wait_until("no idle executors", lambda: site.executors() == [], timeout=90)
        wait_until("an empty list", lambda: driver.status()["executors"] == [], timeout=30)
        assert driver.status()["executors_behind"] == 0
