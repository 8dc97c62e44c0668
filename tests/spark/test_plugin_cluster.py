"""The plugin on a standalone cluster with a real PostgreSQL: driver and executors, rotation, and faults."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from pyspark_test import assert_pyspark_df_equal

from sparkconfig import current
from sparkconfig.errors import UnresolvedReferenceError
from sparkconfig.redaction import MASK
from support import surfaces
from support.leaks import LeakFinder
from support.postgres import new_password
from support.processes import wait_until
from support.scala_objects import scala_object
from support.session import running_session
from support.shim import shim_jar

pytestmark = [pytest.mark.spark, pytest.mark.cluster]

ROLE, DATABASE = "slice", "slice"


@dataclass
class Shop:
    """The application's session, its database and the file that holds the password."""

    spark: object
    postgres: object
    secrets: Path
    url: str
    used: list[str] = field(repr=False)
    large: str = field(default="", repr=False)

    def reference(self, key: str = "password") -> str:
        return f"${{shop:{self.secrets}:{key}}}"

    def rotate(self) -> str:
        password = new_password()
        self.postgres.set_password(ROLE, password)
        self.write(password)
        return password

    def write(self, password: str) -> None:
        self.used.append(password)
        partial = self.secrets.with_suffix(".new")
        partial.write_text(f"password={password}\nfs.key={password}\nlarge={self.large}\n")
        partial.chmod(0o600)
        partial.replace(self.secrets)

    def options(self) -> dict[str, str]:
        return {
            "url": self.url,
            "user": ROLE,
            "password": self.reference(),
            "driver": "org.postgresql.Driver",
        }

    def read(self, table: str) -> object:
        reader = self.spark.read.format("jdbc").options(**self.options()).option("dbtable", table)
        return reader.options(
            partitionColumn="id", lowerBound="0", upperBound="1000", numPartitions="4"
        ).load()

    def api(self) -> object:
        return scala_object(self.spark.sparkContext._jvm, "io.sparkconfig.driver.DriverApi")


@pytest.fixture(scope="module")
def shop(cluster, postgres, pg_driver, tmp_path_factory) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("slice")
    (folder / "events").mkdir()
    secrets = folder / "shop.properties"
    used: list[str] = []
    shop = Shop(None, postgres, secrets, postgres.jdbc_url(DATABASE), used)
    password = new_password()
    postgres.create(role=ROLE, password=password, database=DATABASE)
    shop.write(password)
    conf = {
        **cluster.application(),
        "spark.app.name": "slice",
        "spark.jars": f"{shim_jar()},{pg_driver}",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": (folder / "events").as_uri(),
        "spark.config.providers": "shop",
        "spark.config.providers.shop.class": "sparkconfig.providers.file.FileConfigProvider",
        "spark.config.poll.interval": "1s",
        "spark.shop.password": shop.reference(),
        "spark.hadoop.fs.shop.key": shop.reference("fs.key"),
    }
    with running_session(conf, folder=folder) as session:
        shop.spark = session
        session.range(1000).selectExpr("id", "id % 7 as kind").write.format("jdbc").options(
            **shop.options()
        ).option("dbtable", "orders").save()
        yield shop


def test_both_workers_read_over_jdbc_with_the_value_of_the_reference(shop: Shop) -> None:
    frame = shop.read("orders")
    assert frame.selectExpr("spark_partition_id() as p").distinct().count() == 4
    expected = shop.spark.range(1000).selectExpr("id", "id % 7 as kind")
    assert_pyspark_df_equal(frame, expected, order_by=["id"])
    assert (
        len(shop.spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()) == 3
    )  # driver and two workers


def test_confs_answer_values_to_readers_and_references_to_enumerations(shop: Shop) -> None:
    context = shop.spark.sparkContext
    jconf = context._jsc.sc().conf()
    assert jconf.get("spark.shop.password") == shop.used[-1]
    assert shop.spark.conf.get("spark.shop.password") == shop.reference()
    assert dict(context.getConf().getAll())["spark.shop.password"] == shop.reference()
    assert jconf.clone().get("spark.shop.password") == shop.reference()
    assert context._jsc.hadoopConfiguration().get("fs.shop.key") == shop.used[-1]
    shown = dict(
        entry.split("=", 1) for entry in _hadoop_entries(context) if entry.startswith("fs.shop.key=")
    )
    assert shown == {"fs.shop.key": shop.reference("fs.key")}


def _hadoop_entries(context) -> list[str]:
    entries = context._jsc.hadoopConfiguration().iterator()
    found = []
    while entries.hasNext():
        entry = entries.next()
        found.append(f"{entry.getKey()}={entry.getValue()}")
    return found


def test_current_gives_a_secret_and_a_missing_key_names_the_reference_only(shop: Shop) -> None:
    assert current(shop.reference()).reveal() == shop.used[-1]
    with pytest.raises(UnresolvedReferenceError) as caught:
        current(shop.reference("no.such.key"))
    assert "no.such.key" in str(caught.value)
    assert not any(password in str(caught.value) for password in shop.used)


def test_of_composed_texts_the_secret_is_masked_and_their_number_costs_nothing(shop: Shop) -> None:
    redactor = scala_object(shop.spark.sparkContext._jvm, "io.sparkconfig.redaction.engine.Redactor")
    # The logs, the event log and the pages are searched for the password at the end of this module.
    context = shop.spark.sparkContext
    context.setJobDescription(
        current(f"a job that connects to jdbc:db://h/s?password={shop.reference()}").reveal()
    )
    assert shop.spark.range(3).repartition(2).count() == 3
    context.setJobDescription(None)
    known = redactor.size()
    for number in range(300):
        text = f"jdbc:nothing://host-{number}/s?password={shop.reference()}"
        assert current(text).reveal() == f"jdbc:nothing://host-{number}/s?password={shop.used[-1]}"
    assert redactor.size() == known
    assert redactor.redact(f"it is {shop.used[-1]}") == f"it is {MASK}"
    assert redactor.redact("jdbc:nothing://host-7/s?password=") == "jdbc:nothing://host-7/s?password="


def test_after_a_rotation_the_next_read_uses_the_new_password_on_driver_and_executors(shop: Shop) -> None:
    old = shop.used[-1]
    new = shop.rotate()
    assert not shop.postgres.accepts(role=ROLE, password=old, database=DATABASE)
    assert shop.read("orders").count() == 1000
    assert current(shop.reference()).reveal() == new
    wait_until(
        "the Hadoop configuration has the new value",
        lambda: shop.spark.sparkContext._jsc.hadoopConfiguration().get("fs.shop.key") == new or None,
        timeout=20,
    )


def test_killing_the_side_process_in_the_middle_of_a_job_loses_and_leaks_nothing(shop: Shop) -> None:
    restarts, before = shop.api().agentRestarts(), shop.api().agentPid()
    frame = shop.read("orders")
    os.kill(before, signal.SIGKILL)
    # The snapshot serves while the process is down; a read that comes at that moment must not fail.
    assert frame.groupBy("kind").count().count() == 7
    assert shop.spark.sparkContext._jsc.sc().conf().get("spark.shop.password") == shop.used[-1]
    assert current(shop.reference()).reveal() == shop.used[-1]
    wait_until("a new side process", lambda: shop.api().agentRestarts() > restarts or None, timeout=30)
    assert shop.api().agentPid() not in (before, -1)
    shop.rotate()
    assert shop.read("orders").count() == 1000


def test_a_stopped_side_process_is_replaced(shop: Shop) -> None:
    restarts, before = shop.api().agentRestarts(), shop.api().agentPid()
    os.kill(before, signal.SIGSTOP)
    try:
        assert shop.read("orders").count() == 1000
        wait_until("a new side process", lambda: shop.api().agentRestarts() > restarts or None, timeout=120)
    finally:
        subprocess.run(["kill", "-KILL", str(before)], check=False, capture_output=True)


def test_a_replaced_executor_has_the_values_at_once(shop: Shop) -> None:
    victim = _executor_pids(shop)[0]
    os.kill(victim, signal.SIGKILL)
    wait_until("a new executor", lambda: _two_others(shop, victim) or None, timeout=90)
    shop.rotate()
    assert shop.read("orders").count() == 1000


def _executor_pids(shop: Shop) -> list[int]:
    application = shop.spark.sparkContext.applicationId
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                command = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if b"CoarseGrainedExecutorBackend" in command and application.encode() in command:
                found.append(int(folder.name))
    return sorted(found)


def _two_others(shop: Shop, victim: int) -> bool:
    known = shop.spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
    return len([pid for pid in _executor_pids(shop) if pid != victim]) == 2 and len(known) == 3


def test_a_large_snapshot_travels_as_an_encrypted_broadcast(shop: Shop) -> None:
    shop.large = new_password() * 1000
    shop.rotate()
    assert current(shop.reference("large"), fresh=True).reveal() == shop.large
    generation = shop.api().generation()
    # Both executors have it before the next rotation, whose password only a newer snapshot holds.
    assert shop.read("orders").count() == 1000
    shop.rotate()
    assert shop.read("orders").count() == 1000
    assert shop.api().generation() > generation
    shop.used.append(shop.large[:40])


def test_no_password_is_at_any_surface(shop: Shop, cluster) -> None:
    """Last in this module: by now every password above has been used and rotated away."""
    finder = LeakFinder(shop.used)
    ui = shop.spark.sparkContext.uiWebUrl
    log4j_and_streams = cluster.executor_logs()
    with surfaces.ProcessWatch() as processes:
        found = [
            surfaces.search("environment REST", surfaces.environment_rest(ui), finder),
            surfaces.search("REST", surfaces.application_rest(ui), finder),
            surfaces.search("pages", surfaces.application_pages(ui), finder),
            surfaces.search("event log", surfaces.files((shop.secrets.parent / "events").rglob("*")), finder),
            surfaces.search("executor logs", surfaces.files(log4j_and_streams), finder),
            surfaces.search(
                "master and workers", surfaces.daemon_pages([cluster.master_ui, *cluster.worker_uis]), finder
            ),
        ]
    found.append(surfaces.search("command lines", processes.command_lines.items(), finder))
    assert all(surface.parts > 0 for surface in found)
    assert {surface.name: surface.where for surface in found} == {surface.name: [] for surface in found}


def test_the_search_itself_finds_what_is_there(shop: Shop) -> None:
    finder = LeakFinder(shop.used)
    assert surfaces.search("secrets", surfaces.files([shop.secrets]), finder).occurrences > 0
