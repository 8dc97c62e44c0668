"""Where `test_hosts` runs: a cluster on hosts of their own, and what an application has and leaves there."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from leaks.support import jvm_jar
from support.cluster import SparkCluster
from support.hosts import Host, Hosts
from support.leaks import LeakFinder
from support.postgres import new_password
from support.processes import Child, Run
from support.rotation import replace_file
from support.rpc import protected_rpc_without_secret
from support.shim import shim_jar
from support.surfaces import daemon_pages, files, places


@dataclass
class Place:
    """The cluster and its hosts.

    Attributes:
        workers: the hosts whose worker takes executors.
        temporary: where the Java of all hosts puts its temporary files; on one machine the hosts share the disk.
        runtime: where side processes have their sockets.
        files: where the files of applications are.
    """

    run: Run
    cluster: SparkCluster
    address: str
    workers: list[Host]
    temporary: Path
    runtime: Path
    files: Path

    @property
    def environment(self) -> dict[str, str]:
        """What sends the folders of a process to this place."""
        return _environment(self.temporary, self.runtime)

    def left(self) -> set[Path]:
        """Sockets and folders of sparkconfig that are there now."""
        workers = (path for path in self.temporary.glob("[0-9]*") if (path / ".lock").exists())
        return {*workers, *self.runtime.rglob("*.sock"), *self.files.iterdir()}


def start_place(run: Run, network: Hosts) -> Place:
    """Start a cluster: the master on the first host, workers on the others."""
    master, *rest = network.hosts
    temporary, runtime, area = (run.private_dir(f"hosts-{name}") for name in ("tmp", "runtime", "files"))
    cluster = SparkCluster(
        run, name="hosts", master=master.address, hosts=[each.address for each in rest],
        within={each.address: each.command for each in network.hosts},
        env=_environment(temporary, runtime),
    )  # fmt: skip
    return Place(run, cluster, network.address, rest, temporary, runtime, area)


def _environment(temporary: Path, runtime: Path) -> dict[str, str]:
    options = f"-XX:TieredStopAtLevel=1 -Djava.io.tmpdir={temporary}"
    return {"JDK_JAVA_OPTIONS": options, "TMPDIR": str(temporary), "XDG_RUNTIME_DIR": str(runtime)}


@dataclass
class Application:
    """An application's store and what its tasks have written down.

    Attributes:
        seen: for each host or driver a file with what was seen there, each change once.
        stop: when it is there, tasks end.
    """

    place: Place
    folder: Path
    ever: list[str] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        for path in (self.seen, self.events):
            path.mkdir()

    @property
    def seen(self) -> Path:
        return self.folder / "seen"

    @property
    def stop(self) -> Path:
        return self.folder / "stop"

    @property
    def events(self) -> Path:
        return self.folder / "events"

    @property
    def store(self) -> Path:
        return self.folder / "store.properties"

    def rotate(self) -> str:
        """Publish a new user and password at once; returns what a task should see of them."""
        number = len(self.ever)
        self.ever.append(new_password())
        secret = self.place.cluster.auth_secret
        replace_file(
            self.store, f"user=user-{number}\npassword={self.ever[-1]}\nbadge={self.ever[-1]}\nrpc={secret}\n"
        )
        return f"user-{number} {self.ever[-1]}"

    def confs(self) -> dict[str, str]:
        return {
            "spark.jars": str(shim_jar()),
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": self.events.as_uri(),
            "spark.config.providers": "files",
            "spark.config.providers.files.class": "file",
            "spark.config.files.text": f"files:{self.store}:badge",
            "spark.config.files.directory": str(self.place.files),
            "spark.shop.badge": f"${{files:{self.store}:badge}}",
        }

    def lines(self, name: str) -> list[str]:
        """What was seen on a host or by a driver so far."""
        file = self.seen / name
        return file.read_text().splitlines() if file.exists() else []

    def sees(self, host: Host, pair: str, ended: Callable[[], bool]) -> bool:
        return pair in self.lines(host.address) or ended()

    def submit_supervised(self) -> Child:
        """Submit an application whose driver a worker starts, again if it is killed."""
        run, cluster = self.place.run, self.place.cluster
        arguments = self.folder / "driver.args"
        # Spark 3.5 itself gives these only to drivers that its spark-submit starts, and then ends on Java 17.
        opens = "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED"
        arguments.write_text(f"{opens}\n-Dspark.authenticate.secret=${{files:{self.store}:rpc}}\n")
        confs = {
            **self.confs(),
            "spark.plugins": "io.sparkconfig.ConfigPlugin",
            **protected_rpc_without_secret(),
            "spark.driver.extraJavaOptions": f"@{arguments}",
            "spark.driver.memory": "600m",
            "spark.executor.memory": "600m",
            "spark.cores.max": "1",
            "spark.config.agent.python": sys.executable,
            "spark.config.poll.interval": "500ms",
            "spark.shop.pair": f"${{files:{self.store}:user}} ${{files:{self.store}:password}}",
        }
        properties = self.folder / "supervised.conf"
        properties.write_text("".join(f"{key} {text}\n" for key, text in confs.items()))
        secret = run.private_file("hosts-rpc.args", f"-Dspark.authenticate.secret={cluster.auth_secret}\n")
        return cluster.submit(
            "supervised", [jvm_jar(), self.seen, self.stop], properties=properties,
            options=["--deploy-mode", "cluster", "--supervise", "--class", "Supervised"],
            env={"SPARK_SUBMIT_OPTS": f"@{secret}"},
            # The driver would listen there.
            without=["SPARK_LOCAL_IP", "SPARK_PUBLIC_DNS"],
        )  # fmt: skip

    def driver_logs(self) -> list[Path]:
        return [path for path in self.place.cluster.executor_logs() if path.parent.name.startswith("driver-")]

    def leaks(self, command_lines: Mapping[str, bytes] | None = None) -> list[str]:
        """Where passwords or the cluster's secret stand: logs, events, pages of the cluster, command lines."""
        finder = LeakFinder([*self.ever, self.place.cluster.auth_secret])
        living = [each for each in self.place.cluster.state()["workers"] if each["state"] == "ALIVE"]
        pages = [self.place.cluster.master_ui, *(each["webuiaddress"] for each in living)]
        surfaces = {
            "events": files([self.events]),
            "logs": files([*self.place.run.logs.glob("*.log"), *self.place.cluster.executor_logs()]),
            "pages": daemon_pages(pages),
            "command lines": (command_lines or {"none": b""}).items(),
        }
        return places(finder, surfaces)


def processes_of(parent: int, what: bytes) -> list[int]:
    """The children of a process whose command line holds something."""
    return [
        int(folder.name)
        for folder in Path("/proc").iterdir()
        if folder.name.isdigit() and what in _read(folder / "cmdline") and _parent(folder) == parent
    ]


def _parent(folder: Path) -> int:
    fields = _read(folder / "stat").rpartition(b")")[2].split()
    return int(fields[1]) if fields else 0


def _read(path: Path) -> bytes:
    """What a file says of a process; nothing of one that has ended."""
    with contextlib.suppress(OSError):
        return path.read_bytes()
    return b""
