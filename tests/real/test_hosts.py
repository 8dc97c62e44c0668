"""A cluster of three hosts with networks of their own; one is cut off during a rotation. Part of ``make real``."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.cluster import SparkCluster
from support.hosts import Host, NoHosts, hosts
from support.leaks import LeakFinder
from support.postgres import new_password
from support.processes import Run, wait_until
from support.rotation import replace_file
from support.scala_objects import scala_object
from support.session import running_session
from support.shim import shim_jar

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        not os.environ.get("REAL"),
        reason="makes network namespaces, which needs root: run make real REAL=hosts",
    ),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@dataclass
class Site:
    """An application whose driver is on this machine, and its two executors on hosts of their own."""

    spark: Any
    cluster: SparkCluster
    workers: list[Host]
    folder: Path
    ever: list[str]

    def rotate(self) -> str:
        """Publish a new user and password at once; returns what a task should see of them."""
        number = len(self.ever)
        self.ever.append(new_password())
        replace_file(self.folder / "store.properties", f"user=user-{number}\npassword={self.ever[-1]}\n")
        return f"user-{number} {self.ever[-1]}"

    def refresh(self) -> None:
        scala_object(self.spark._jvm, "io.sparkconfig.driver.DriverApi").refresh()

    def seen(self, host: Host) -> list[str]:
        """What the task on a host has seen so far, each change once."""
        file = self.folder / "seen" / host.address
        return file.read_text().splitlines() if file.exists() else []

    def sees(self, host: Host, pair: str, job: Future[int]) -> bool:
        return pair in self.seen(host) or job.done()


@pytest.fixture
def site(harness_run: Run, tmp_path: Path) -> Iterator[Site]:
    try:
        network = hosts(3)
        made = network.__enter__()
    except NoHosts as error:
        pytest.skip(str(error))
    try:
        master, *workers = made.hosts
        cluster = SparkCluster(
            harness_run, name="hosts", master=master.address, hosts=[each.address for each in workers],
            within={each.address: each.command for each in made.hosts},
        )  # fmt: skip
        (tmp_path / "seen").mkdir()
        (tmp_path / "events").mkdir()
        found = Site(None, cluster, workers, tmp_path, [])
        found.rotate()
        conf = {
            **cluster.application(),
            "spark.driver.host": made.address,
            "spark.jars": str(shim_jar()),
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": (tmp_path / "events").as_uri(),
            "spark.config.providers": "files",
            "spark.config.providers.files.class": "file",
            "spark.config.worker.references": "*:*",
        }
        with running_session(conf, folder=tmp_path, env={"SPARK_LOCAL_IP": made.address}) as session:
            found.spark = session
            yield found
        cluster.stop()
    finally:
        network.__exit__(None, None, None)


def test_a_host_that_is_cut_off_during_a_rotation(site: Site) -> None:
    store, seen, stop = site.folder / "store.properties", site.folder / "seen", site.folder / "stop"
    texts = [f"${{files:{store}:{key}}}" for key in ("user", "password")]

    driver = site.spark.conf.get("spark.driver.host")

    def watch(_rows: Any) -> Any:
        """Write down what user and password are, whenever that changes, until the test ends it."""
        import socket
        from time import sleep

        from sparkconfig.worker import configs

        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((driver, 9))
            file = seen / probe.getsockname()[0]
        last = ""
        while not stop.exists():
            found = configs({"user": texts[0], "password": texts[1]})
            pair = " ".join(each if isinstance(each, str) else each.reveal() for each in found.values())
            if pair != last:
                with file.open("a") as out:
                    out.write(pair + "\n")
                last = pair
            sleep(0.02)
        return iter(())

    here, far = site.workers
    first = f"user-0 {site.ever[0]}"
    with ThreadPoolExecutor(1) as pool:
        try:
            job = pool.submit(_count, site.spark, watch)

            def sees(host: Host, pair: str) -> None:
                """Wait until the task on a host has seen this, or the job has ended."""
                probe = functools.partial(site.sees, host, pair, job)
                wait_until(f"{host.name} to see {pair.split(maxsplit=1)[0]}", probe, timeout=180)
                assert pair in site.seen(host)

            sees(here, first)
            sees(far, first)
            far.cut()
            second = site.rotate()
            site.refresh()
            sees(here, second)
            assert site.seen(far) == [first], "it was not cut off"
            far.plug()
            sees(far, second)
        finally:
            far.plug()
            stop.touch()
        assert job.result(timeout=60) == 0
    for host in site.workers:
        assert site.seen(host) == [first, second], "never a user with another's password, and nothing twice"
    finder = LeakFinder(site.ever)
    for path in [*site.folder.glob("events/*"), *site.cluster.executor_logs()]:
        if path.is_file():
            assert finder.count(path.read_bytes()) == 0, f"{path.name} shows a secret"


def _count(spark: Any, task: Any) -> int:
    """On both executors at once: each has one core."""
    return int(spark.sparkContext.parallelize([0, 1], 2).mapPartitions(task).count())
