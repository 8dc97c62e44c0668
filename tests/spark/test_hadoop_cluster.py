"""File systems on a standalone cluster: keys by reference, asked for on the driver and on separate executors."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from spark.options.compile_sources import sources_jar
from sparkconfig._spark import driver
from support.leaks import LeakFinder
from support.postgres import new_password
from support.processes import wait_until
from support.session import running_session
from support.shim import shim_jar
from support.spark_home import spark_home

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    # Spark 3.5 and 4.0 leave the sockets of collect() to the garbage collector.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

CACHE = Path(__file__).resolve().parents[2] / ".cache"


@dataclass
class Site:
    """The application, and the key that its file system wants at the moment."""

    folder: Path
    spark: object = None
    keys: list[str] = field(default_factory=list, repr=False)

    @property
    def lock(self) -> Path:
        return self.folder / "lock"

    def reference(self) -> str:
        return f"${{files:{self.folder}/store.properties:key}}"

    def publish(self, key: str) -> None:
        self.keys.append(key)
        part = self.folder / "store.part"
        part.write_text(f"key={key}\n")
        part.replace(self.folder / "store.properties")

    def change_lock(self) -> None:
        """The lock takes the newest key only, and forgets who opened it."""
        self.lock.write_text(hashlib.sha256(self.keys[-1].encode()).hexdigest())
        self.openers.write_text("")

    @property
    def openers(self) -> Path:
        return self.lock.with_name("lock.opened")

    def rotate(self) -> None:
        self.publish(new_password())
        self.change_lock()
        hadoop = self.spark.sparkContext._jsc.hadoopConfiguration()
        wait_until(
            "the driver's news", lambda: hadoop.get("fs.locked.plain.key") == self.keys[-1], timeout=30
        )
        wait_until("the executors' news", lambda: driver.status()["executors_behind"] == 0, timeout=30)


@pytest.fixture(scope="module")
def site(cluster, tmp_path_factory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("locked")
    (folder / "events").mkdir()
    site = Site(folder)
    site.publish(new_password())
    jars = f"{shim_jar()}:{sources_jar(CACHE, spark_home())}"
    conf = {
        **cluster.application(),
        "spark.app.name": "locked",
        "spark.jars": "",
        "spark.ui.enabled": "false",
        # Hadoop looks for credential providers where it was loaded itself.
        "spark.driver.extraClassPath": jars,
        "spark.executor.extraClassPath": jars,
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": (folder / "events").as_uri(),
        "spark.config.providers": "files",
        "spark.config.providers.files.class": "file",
        "spark.config.poll.interval": "500ms",
        "spark.hadoop.fs.locked.impl": "sparkconfigtest.LockedFiles",
        # A file system in Hadoop's cache keeps the keys that it was made with.
        "spark.hadoop.fs.locked.impl.disable.cache": "true",
        "spark.hadoop.fs.locked.lock": str(site.lock),
        "spark.hadoop.fs.locked.plain.key": site.reference(),
        "spark.hadoop.hadoop.security.credential.provider.path": "sparkconfig:///",
        "spark.hadoop.sparkconfig.credential.fs.locked.key": site.reference(),
    }
    with running_session(conf, folder=folder) as session:
        site.spark = session
        site.change_lock()
        wait_until(
            "two executors",
            lambda: len(session.sparkContext._jsc.sc().statusTracker().getExecutorInfos()) == 3,
            timeout=60,
        )
        yield site


def test_files_open_on_executors_with_the_keys_of_the_moment(site: Site) -> None:
    data = f"locked://{site.folder}/data"
    site.spark.range(0, 40, 1, 4).write.parquet(data)
    for _ in range(2):
        assert site.spark.read.parquet(data).selectExpr("sum(id)").first()[0] == 780
        assert {"0", "1"} <= set(site.openers.read_text().split()), "both executors opened the file system"
        site.rotate()


def test_a_reference_without_a_value_fails_the_tasks_with_its_name(site: Site) -> None:
    data = f"{site.folder}/data"
    session = site.spark.newSession()
    # Only what asks through the credential provider is missing; the driver asks first.
    session.conf.set("sparkconfig.credential.fs.locked.key", "${files:/nowhere.properties:key}")
    with pytest.raises(Exception, match=r"nowhere\.properties"):
        session.read.parquet(f"locked://{data}").count()


def test_no_key_is_in_the_event_log_or_in_the_executors_logs(site: Site, cluster) -> None:
    site.spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    finder = LeakFinder(site.keys)
    events = [path for path in (site.folder / "events").rglob("*") if path.is_file()]
    assert any("fs.locked.plain.key" in path.read_text() for path in events)
    for path in [*events, *cluster.executor_logs()]:
        assert finder.count(path.read_bytes()) == 0, f"{path.name} shows a key"
