"""Three hosts with a user each, and one who submits: executors come and go beside the external shuffle service.

Part of ``make real``.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sparkconfig.redaction import MASK
from support.cluster import SparkCluster
from support.hosts import Hosts, NoHosts, hosts
from support.leaks import LeakFinder
from support.node import USERS, Node, NoNodes
from support.postgres import new_password
from support.processes import Child, Run, wait_until
from support.rotation import digest
from support.shim import shim_jar
from support.spark_home import spark_environment, spark_home
from support.surfaces import ProcessWatch, daemon_pages, files, places, search
from support.templates import document, load

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    pytest.mark.timeout(600),
]


@dataclass
class Site:
    """A cluster whose daemons have a user on each host, and the machine of the user ``shop``."""

    run: Run
    network: Hosts
    cluster: SparkCluster
    nodes: list[Node]
    client: Node
    folder: Path
    ever: list[str] = field(default_factory=list, repr=False)

    def seal(self, *words: str, value: str = "") -> None:
        """Run ``sparkconfig seal`` as the user who owns the sealed file."""
        where = ["--file", "/etc/spark/shop.sealed", "--key-file", "/etc/spark/shop.key"]
        given = ["--from-env", "NEW_VALUE"] if value else ["--new-key"]
        command = [
            *self.client.command("shop"),
            sys.executable,
            "-m",
            "sparkconfig",
            "seal",
            words[0],
            *where,
        ]
        done = subprocess.run(
            [*command, *words[1:], *given], env={**os.environ, "NEW_VALUE": value}, capture_output=True, text=True,
            check=False, cwd="/",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr.replace(value or "\0", "(value)")

    def rotate(self) -> str:
        """Seal a new password; returns its digest."""
        self.ever.append(new_password())
        self.seal("set", "shop:password", value=self.ever[-1])
        return digest(self.ever[-1])

    def submit(self) -> Child:
        """Start the application with the template's confs, as ``shop``."""
        confs = load(document("standalone.conf.template")) | {
            "spark.master": self.cluster.url,
            "spark.driver.host": self.network.address,
            "spark.driver.memory": "700m",
            "spark.executor.memory": "600m",
            "spark.executor.cores": "1",
            "spark.cores.max": "2",
            "spark.shuffle.service.enabled": "true",
            "spark.dynamicAllocation.enabled": "true",
            "spark.dynamicAllocation.maxExecutors": "2",
            "spark.dynamicAllocation.initialExecutors": "2",
            "spark.dynamicAllocation.executorIdleTimeout": "3s",
            "spark.decommission.enabled": "true",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": f"file://{self.folder}/events",
            "spark.config.poll.interval": "500ms",
            "spark.config.agent.python": sys.executable,
            "spark.pyspark.python": sys.executable,
        }
        properties = self.client.settings / "spark-defaults.conf"
        properties.write_text("".join(f"{key} {text}\n" for key, text in confs.items()))
        env = {
            **spark_environment(Path("/etc/spark"), Path("/tmp")),
            "SPARK_LOCAL_IP": self.network.address,
            "SPARK_PUBLIC_DNS": self.network.address,
        }
        app = Path(__file__).with_name("apps") / "on_hosts.py"
        program = spark_home() / "bin" / "spark-submit"
        command: list[str | Path] = [
            *self.client.command("shop"),
            program,
            "--jars",
            shim_jar(),
            app,
            self.folder,
        ]
        return self.run.start("hosts-users-submit", command, env=env, cwd=Path("/"))

    def lines(self, name: str) -> dict[int, list[list[str]]]:
        """What tasks wrote down, by the user that they ran as."""
        found = self.folder.glob(f"{name}-*")
        return {
            int(path.name.rpartition("-")[2]): [line.split() for line in path.read_text().splitlines()]
            for path in found
        }

    def executors(self) -> int:
        """How many the master knows."""
        living = [each for each in self.cluster.state()["workers"] if each["state"] != "DEAD"]
        return sum(int(each["coresused"]) for each in living)

    def leaks_in_blocks(self) -> list[str]:
        """Where secrets stand in the folders of blocks; there is a shuffle while the application runs."""
        surface = search(
            "blocks", files([self.cluster.local]), LeakFinder([*self.ever, self.cluster.auth_secret])
        )
        shuffles = [path.stat().st_uid for path in self.cluster.local.rglob("shuffle_*.data")]
        assert set(shuffles) == {USERS["spark"], USERS["other"]}, "no shuffle of each host to search"
        return surface.where

    def leaks(self, watch: ProcessWatch) -> list[str]:
        """Where secrets stand: event log, logs, folders of executors, pages, command lines."""
        finder = LeakFinder([*self.ever, self.cluster.auth_secret])
        pages = [self.cluster.master_ui, *self.cluster.worker_uis]
        surfaces = {
            "events": files([self.folder / "events"]),
            "logs": files(self.run.logs.glob("*.log")),
            "folders of executors": files([self.cluster.work]),
            "pages": daemon_pages(pages),
            "command lines": watch.command_lines.items(),
        }
        return places(finder, surfaces)


@pytest.fixture
def site(harness_run: Run) -> Iterator[Site]:
    try:
        with hosts(3) as network:
            nodes = [Node(harness_run, f"host-{number}") for number in range(1, 4)]
            users = dict(
                zip((each.address for each in network.hosts), ("master", "spark", "other"), strict=True)
            )
            within = {
                host.address: [*host.command, *node.command(users[host.address])]
                for host, node in zip(network.hosts, nodes, strict=True)
            }
            master, *workers = users
            cluster = SparkCluster(
                harness_run, name="hosts-users", master=master, hosts=workers, within=within,
                conf={"spark.shuffle.service.enabled": "true", "spark.decommission.enabled": "true"},
                owners={address: USERS[user] for address, user in users.items()},
                env={"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1"},
            )  # fmt: skip
            folder = harness_run.private_dir("hosts-users-seen")
            folder.chmod(0o1777)
            (folder / "events").mkdir()
            (folder / "events").chmod(0o1777)
            client = Node(harness_run, "host-client")
            os.chown(client.settings, USERS["shop"], USERS["shop"])
            found = Site(harness_run, network, cluster, nodes, client, folder)
            found.seal("create")
            found.seal("set", "spark:rpc", value=cluster.auth_secret)
            yield found
            cluster.stop()
    except (NoHosts, NoNodes) as error:
        pytest.skip(str(error))


@pytest.mark.templates(client="spark-submit", documents=["standalone.conf.template"])
def test_executors_come_and_go_on_hosts_with_users_of_their_own(site: Site) -> None:
    """All executors go, and their shuffle stays with the service; new ones read it, and a worker is decommissioned."""
    spark, other = USERS["spark"], USERS["other"]
    first = site.rotate()

    def probe(name: str) -> Any:
        assert child.process.poll() is None, child.output()[-3000:]
        path = site.folder / f"{name}.json"
        return json.loads(path.read_text()) if path.exists() else None

    with ProcessWatch() as watch:
        child = site.submit()
        found = wait_until("the first rows", lambda: probe("first"), timeout=180)
        assert sorted(row for _, _, *rows in found for row in rows) == [[0, 20], [1, 25]]
        assert {seen for _, seen, *_ in found} == {first}
        assert {user: len(lines) for user, lines in site.lines("map").items()} == {spark: 1, other: 1}
        wait_until("the end of all executors", lambda: site.executors() == 0, timeout=60)
        second = site.rotate()
        (site.folder / "go").touch()
        found = wait_until("the second rows", lambda: probe("second"), timeout=120)
        assert sorted(row for _, _, *rows in found for row in rows) == [[0, 20], [1, 25]]
        assert {seen for _, seen, *_ in found} == {second}, "new executors have an old value"
        assert {user: len(lines) for user, lines in site.lines("map").items()} == {spark: 1, other: 1}, (
            "a map ran again: its output was not with the service"
        )

        def both_see(value: str) -> bool:
            seen = {user: [line[1] for line in lines] for user, lines in site.lines("watch").items()}
            return set(seen) == {spark, other} and all(each[-1] == value for each in seen.values())

        wait_until("both hosts to see the second value", lambda: both_see(second), timeout=90)
        assert site.leaks_in_blocks() == []
        leaving = next(
            worker
            for worker, address in zip(site.cluster.workers, site.cluster.worker_uis, strict=True)
            if f"//{site.network.hosts[2].address}:" in address
        )
        os.kill(leaving.pid, signal.SIGPWR)
        wait_until(
            "the worker to be decommissioned",
            lambda: any(each["state"] == "DECOMMISSIONED" for each in site.cluster.state()["workers"]),
            timeout=60,
        )
        third = site.rotate()
        wait_until("both hosts to see the third value", lambda: both_see(third), timeout=60)
        (site.folder / "stop").touch()
        assert child.wait(120) == 0, child.output()[-3000:]
    assert "WATCHED [0, 1]" in child.output()
    owners = {path.stat().st_uid for path in site.cluster.work.glob("*/*/*/stderr")}
    assert owners == {spark, other}, "executors run as the users of their hosts"
    said = "".join(path.read_text() for path in site.cluster.executor_logs())
    assert f"printed {MASK}\n" in said
    assert site.leaks(watch) == []
    machines = [*site.nodes, site.client]
    wait_until("the end of folders", lambda: not any(each.left() for each in machines), timeout=60)
