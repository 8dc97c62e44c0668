"""Servers and one application with confs for all of them, and what is asked of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from real.sources.base import SPARK, Source, Store, Unavailable
from sparkconfig._spark import driver
from support import surfaces
from support.crawl import crawl
from support.leaks import LeakFinder
from support.one_task import PausedRows, one_task
from support.processes import Run, wait_until
from support.scala_objects import scala_object
from support.session import running_session
from support.shim import shim_jar

EXTENSION = "io.sparkconfig.ConfigExtensions"
LISTENER = "io.sparkconfig.redaction.sinks.EventLogListener"
#: More than a connector gathers before it sends any.
FIRST = 3000


@dataclass
class Site:
    """The servers that could be started, and an application on a cluster with confs for all of them."""

    folder: Path
    store: Store
    cluster: Any
    spark: Any = None
    sources: dict[str, Source] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    _application: ExitStack = field(default_factory=ExitStack)

    def start(self, *, ours_first: bool = False) -> None:
        """Start the application, anew if it runs.

        Args:
            ours_first: our session extension and listener are in front of those of the sources. Otherwise the plugin
                adds them behind all that are named.
        """
        self.stop()
        jars = dict.fromkeys(jar for source in self.sources.values() for jar in source.jars())
        path = ":".join(map(str, [shim_jar(), *jars]))
        extensions, listeners = ([EXTENSION], [LISTENER]) if ours_first else ([], [])
        for source in self.sources.values():
            extensions += [source.extension] if source.extension not in ("", *extensions) else []
            listeners += [source.listener] if source.listener not in ("", *listeners) else []
        conf = {
            **self.cluster.application(),
            "spark.app.name": "real",
            "spark.jars": "",
            "spark.driver.extraClassPath": path,
            "spark.executor.extraClassPath": path,
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": (self.folder / "events").as_uri(),
            "spark.hadoop.hadoop.security.credential.provider.path": "sparkconfig:///",
            "spark.config.providers": "real",
            "spark.config.providers.real.class": "file",
            "spark.sql.extensions": ",".join(extensions),
            "spark.extraListeners": ",".join(listeners),
            **{key: text for source in self.sources.values() for key, text in source.confs().items()},
        }
        self.spark = self._application.enter_context(running_session(conf, folder=self.folder))

    def stop(self) -> None:
        """End the application, not the servers."""
        self._application.close()

    def news(self) -> None:
        """Wait until driver and executors have what was published last."""
        scala_object(self.spark._jvm, "io.sparkconfig.driver.DriverApi").refresh()
        wait_until("the executors' news", lambda: driver.status()["executors_behind"] == 0, timeout=60)

    def numbers(self, frame: Any) -> list[int]:
        plan = frame._jdf.queryExecution().toString()
        assert LeakFinder(self.store.ever).count(plan.encode()) == 0, "a plan shows a secret"
        return sorted(row.id for row in frame.select("id").collect())

    def follows(self, source: Source, held: int) -> None:
        """Rotate; ``held`` numbers are read, and ten more are written."""
        source.rotate()
        self.news()
        assert self.numbers(source.frame(self.spark)) == list(range(held))
        source.write(self.spark, range(held, held + 10))
        assert self.numbers(source.frame(self.spark)) == list(range(held + 10))

    def follows_within_a_task(self, source: Source) -> None:
        """Rotate while one task writes, between two of its rows."""
        folder = self.folder / f"{source.name}-within"
        folder.mkdir()
        rows = PausedRows(self.spark, folder, range(FIRST), range(FIRST, FIRST + 10))

        def write() -> None:
            with one_task(self.spark.sparkContext):
                source.append(rows.frame)

        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(write)
            try:
                wait_until("the middle of a task", lambda: writing.done() or rows.waits(), timeout=120)
                wait_until("what it has sent", lambda: writing.done() or source.begun(), timeout=60)
                assert not writing.done()
                source.rotate()
                self.news()
            finally:
                rows.go_on()
            writing.result(120)
        assert source.count(self.spark) == FIRST + 10

    def search(self) -> None:
        """No surface shows a credential."""
        self.spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
        finder = LeakFinder(self.store.ever)
        events = [path for path in (self.folder / "events").rglob("*") if path.is_file()]
        logs = self.cluster.executor_logs()
        assert logs
        # What must be there shows that the search reads what it is meant to.
        known = b"spark.config.providers.real.class"
        assert any(known in path.read_bytes() for path in events)
        for path in [*events, *logs]:
            assert finder.count(path.read_bytes()) == 0, f"{path.name} shows a secret"
        page = self.spark.sparkContext.uiWebUrl
        pages = dict(crawl([f"{page}/jobs/", f"{page}/environment/", f"{page}/SQL/"]))
        pages |= dict(surfaces.environment_rest(page))
        assert any(known in body for body in pages.values())
        for address, body in pages.items():
            assert finder.count(body) == 0, f"{address} shows a secret"
        for source in self.sources.values():
            for text in source.texts():
                assert finder.count(text) == 0, f"what {source.name} keeps shows a secret"


@contextmanager
def running_site(kinds: Iterable[type[Source]], cluster: Any, run: Run, folder: Path) -> Iterator[Site]:
    """Start what can be started, and an application on the cluster."""
    (folder / "events").mkdir()
    site = Site(folder, Store(folder / "store.properties"), cluster)
    try:
        for kind in kinds:
            if kind.sparks and SPARK not in kind.sparks:
                site.missing[kind.name] = "the connector has no release for this Spark"
                continue
            try:
                site.sources[kind.name] = kind(run, site.store)
            except Unavailable as error:
                site.missing[kind.name] = str(error)
        site.start()
        yield site
    finally:
        site.stop()
        for source in site.sources.values():
            source.stop()
