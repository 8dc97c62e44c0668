"""Each source in one application on a cluster: write, read, rotate, leaks. Part of ``make real``."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from real.sources import ALL
from real.sources.base import SPARK, Source, Store, Unavailable
from sparkconfig._spark import driver
from support import surfaces
from support.crawl import crawl
from support.leaks import LeakFinder
from support.processes import wait_until
from support.scala_objects import scala_object
from support.session import running_session
from support.shim import shim_jar

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        not os.environ.get("REAL"), reason="starts a dozen real servers, which takes minutes: run make real"
    ),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

WANTED = os.environ.get("REAL", "").split(",")
SOURCES = [each for each in ALL if WANTED in (["all"], [""]) or each.name in WANTED]
STEPS = ("write", "read", "rotate", "leaks")


@dataclass
class Site:
    """The application with all sources that could be started."""

    folder: Path
    store: Store
    spark: Any = None
    sources: dict[str, Source] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def news(self) -> None:
        """Wait until driver and executors have what was published last."""
        scala_object(self.spark._jvm, "io.sparkconfig.driver.DriverApi").refresh()
        wait_until("the executors' news", lambda: driver.status()["executors_behind"] == 0, timeout=60)

    def numbers(self, frame: Any) -> list[int]:
        plan = frame._jdf.queryExecution().toString()
        assert LeakFinder(self.store.ever).count(plan.encode()) == 0, "a plan shows a secret"
        return sorted(row.id for row in frame.select("id").collect())


@pytest.fixture(scope="module")
def site(cluster, harness_run, tmp_path_factory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("real")
    (folder / "events").mkdir()
    site = Site(folder, Store(folder / "store.properties"))
    try:
        for source in SOURCES:
            if source.sparks and SPARK not in source.sparks:
                site.missing[source.name] = "the connector has no release for this Spark"
                continue
            try:
                site.sources[source.name] = source(harness_run, site.store)
            except Unavailable as error:
                site.missing[source.name] = str(error)
        jars = dict.fromkeys(jar for source in site.sources.values() for jar in source.jars())
        path = ":".join(map(str, [shim_jar(), *jars]))
        conf = {
            **cluster.application(),
            "spark.app.name": "real",
            "spark.jars": "",
            "spark.driver.extraClassPath": path,
            "spark.executor.extraClassPath": path,
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": (folder / "events").as_uri(),
            "spark.hadoop.hadoop.security.credential.provider.path": "sparkconfig:///",
            "spark.config.providers": "real",
            "spark.config.providers.real.class": "file",
            **_joined(source.confs() for source in site.sources.values()),
        }
        with running_session(conf, folder=folder) as session:
            site.spark = session
            yield site
    finally:
        for source in site.sources.values():
            source.stop()


def _joined(each: Iterable[dict[str, str]]) -> dict[str, str]:
    """All confs; session extensions stand behind one another."""
    found: dict[str, str] = {}
    for confs in each:
        for key, text in confs.items():
            found[key] = f"{found[key]},{text}" if key == "spark.sql.extensions" and key in found else text
    return found


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", [source.name for source in SOURCES])
def test_source(site: Site, cluster: Any, name: str, step: str) -> None:
    if name in site.missing:
        pytest.skip(site.missing[name])
    source = site.sources[name]
    if step == "write":
        source.write(site.spark, range(20))
    elif step == "read":
        assert site.numbers(source.frame(site.spark)) == list(range(20))
    elif step == "rotate":
        for last in (30, 40):
            source.rotate()
            site.news()
            assert site.numbers(source.frame(site.spark)) == list(range(last - 10))
            source.write(site.spark, range(last - 10, last))
            assert site.numbers(source.frame(site.spark)) == list(range(last))
    else:
        site.spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
        finder = LeakFinder(site.store.ever)
        events = [path for path in (site.folder / "events").rglob("*") if path.is_file()]
        logs = cluster.executor_logs()
        assert logs
        # What must be there shows that the search reads what it is meant to.
        known = b"spark.config.providers.real.class"
        assert any(known in path.read_bytes() for path in events)
        for path in [*events, *logs]:
            assert finder.count(path.read_bytes()) == 0, f"{path.name} shows a secret"
        page = site.spark.sparkContext.uiWebUrl
        pages = dict(crawl([f"{page}/jobs/", f"{page}/environment/", f"{page}/SQL/"]))
        pages |= dict(surfaces.environment_rest(page))
        assert any(known in body for body in pages.values())
        for address, body in pages.items():
            assert finder.count(body) == 0, f"{address} shows a secret"
