"""Where a run takes place: hosts, a cluster, databases, stores that rotate, and two applications."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from history import processes
from history.clock import Clock
from history.openbao_site import KeyValueProxy, Leases, NotedLeases, Troubles
from history.paths import Plan
from history.stores import (
    Directory,
    FileInPlace,
    KeyValue,
    LinkedFile,
    Logins,
    RenamedFile,
    SealedFile,
    Store,
)
from history.timeline import Rotations
from leaks.support import compile_scala
from sparkconfig.errors import SparkConfigError
from support.cluster import SparkCluster
from support.hosts import Host, hosts
from support.jdbc import postgresql_driver
from support.openbao import OpenBaoServer
from support.postgres import PostgresServer
from support.processes import PATIENCE, Child, HarnessError, Run, wait_until
from support.real_vault import RealVault
from support.session import QUIET
from support.shim import shim_jar
from support.spark_home import spark_environment

HERE = Path(__file__).parent
TESTS = HERE.parents[1]
CACHE = TESTS.parent / ".cache"
POLL_MS = 500
LEASE_SECONDS = 1


class ReachablePostgres(PostgresServer):
    """A PostgreSQL that hosts of their own can reach.

    Args:
        address: where it listens besides.
    """

    def __init__(self, run: Run, address: str) -> None:
        self._address = address
        super().__init__(run, cache=CACHE, name="history-postgres")

    def _initialise(self) -> None:
        super()._initialise()
        rules = self._data / "pg_hba.conf"
        network = self._address.rpartition(".")[0]
        rules.write_text(f"{rules.read_text()}host all all {network}.0/24 scram-sha-256\n")

    def _start(self) -> Child:
        own = self.host
        self.host = f"{own},{self._address}"
        try:
            return super()._start()
        finally:
            self.host = own

    def restart(self) -> None:
        """End it and all connections, and start it again."""
        self.stop()
        self._child = self._start()


@dataclass
class Application:
    """An application that is started again when a fault has ended it.

    Attributes:
        name: of the application.
        starts: how often it was started.
    """

    name: str
    launch: Callable[[str], Child]
    starts: int = 0
    child: Child | None = None
    id: str = ""
    jvm: int = 0

    def start(self) -> None:
        """Start it, and wait until all its threads run."""
        self.starts += 1
        self.child = self.launch(f"{self.name}-{self.starts}")
        ready = self.child.wait_for(r"^ready (\S+) (\d+)$", timeout=PATIENCE)
        self.id, self.jvm = ready[1], int(ready[2])

    @property
    def ended(self) -> bool:
        """Whether it has."""
        return self.child is None or self.child.process.poll() is not None

    def side_process(self) -> int:
        """Its side process, as soon as there is one."""
        return wait_until("a side process", lambda: processes.side_process(self.jvm), timeout=60)

    def executors(self) -> dict[int, str]:
        """Its executors and their addresses."""
        return processes.executors(self.id)

    def stop(self) -> None:
        """End it in good order."""
        if self.child is not None:
            self.child.stop(timeout=60)


@dataclass
class Site:
    """All of it.

    Attributes:
        folder: where readers write, and what is true is noted.
        temporary: where the Java of drivers and executors puts temporary files.
        small: where most of the stores' files are. Both are small file systems of their own.
    """

    run: Run
    folder: Path
    temporary: Path
    small: Path
    hosts: Sequence[Host]
    cluster: SparkCluster
    postgres: ReachablePostgres
    openbao: KeyValueProxy
    leases: NotedLeases
    troubles: Troubles
    rotations: Rotations
    clock: Clock
    stores: list[Store]
    chance: random.Random = field(default_factory=lambda: random.Random(7))
    first: Application = field(init=False)
    second: Application = field(init=False)

    def store(self, name: str) -> Store:
        """The one of a name."""
        return next(each for each in self.stores if each.name == name)

    def __post_init__(self) -> None:
        self._locks = {each.number: threading.RLock() for each in self.stores}

    @contextmanager
    def held(self, store: Store) -> Iterator[None]:
        """Nobody else changes a store meanwhile."""
        with self._locks[store.number]:
            yield

    def rotate(self, store: Store) -> None:
        """Change a store, unless it is held; its disk may be full, its database down."""
        lock = self._locks[store.number]
        if lock.acquire(blocking=False):
            try:
                with contextlib.suppress(OSError, SparkConfigError, HarnessError):
                    store.rotate()
            finally:
                lock.release()

    @property
    def applications(self) -> tuple[Application, Application]:
        """Both."""
        return self.first, self.second


@contextmanager
def site(run: Run, *, patched: Path | None = None, jar: Path | None = None) -> Iterator[Site]:
    """Start everything but the applications.

    Args:
        patched: a folder with another ``sparkconfig`` package.
        jar: another jar of the product.
    """
    with ExitStack() as stack:
        network = stack.enter_context(hosts(2))
        folder, temporary, small, files = (
            run.private_dir(name) for name in ("history", "temporary", "small", "stores")
        )
        for each, size in ((temporary, "256m"), (small, "4m")):
            stack.enter_context(_file_system(each, size))
        rotations = Rotations(folder / "rotations")
        stack.callback(rotations.close)
        postgres = ReachablePostgres(run, network.address)
        openbao = OpenBaoServer(run)
        vault = stack.enter_context(RealVault(openbao.url, openbao.token))
        vault.postgres = postgres
        troubles = Troubles()
        leases = stack.enter_context(
            NotedLeases(vault, seconds=LEASE_SECONDS, troubles=troubles, rotations=rotations, path=7)
        )
        proxy = stack.enter_context(KeyValueProxy(vault.url, troubles))
        # An application whose token ends has no values any more, and must not.
        token = run.private_file("token", vault.new_token(hours=24))
        address = f"{network.address}:{postgres.port}"
        # What is written where it is would be empty once the disk is full.
        kinds = (
            (RenamedFile, small),
            (FileInPlace, files),
            (LinkedFile, small),
            (SealedFile, small),
            (Directory, small),
        )
        stores: list[Store] = [
            kind(number, rotations, where) for number, (kind, where) in enumerate(kinds, 1)
        ]
        stores.append(KeyValue(6, rotations, vault, proxy.url, token, POLL_MS))
        stores.append(Leases(7, rotations, leases, token, LEASE_SECONDS))
        stores.append(Logins(8, rotations, files, postgres, address))
        environment = _environment(temporary)
        cluster = SparkCluster(
            run, name="history-cluster", cores=4, memory="2g", master=network.address,
            hosts=[each.address for each in network.hosts],
            within={each.address: each.command for each in network.hosts}, env=environment,
        )  # fmt: skip
        made = Site(
            run,
            folder,
            temporary,
            small,
            network.hosts,
            cluster,
            postgres,
            proxy,
            leases,
            troubles,
            rotations,
            Clock(run.dir),
            stores,
        )
        launcher = _Launcher(made, network.address, environment, _jars(run, jar), patched)
        made.first = Application("A", lambda name: launcher.launch(name, "A", 4))
        made.second = Application("B", lambda name: launcher.launch(name, "B", 2))
        for store in stores:
            store.rotate()
        try:
            yield made
        finally:
            for application in made.applications:
                application.stop()


@contextmanager
def _file_system(folder: Path, size: str) -> Iterator[None]:
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


# Root may read everything; an application of this run may not.
_AS_ANYBODY = (
    "setpriv",
    "--bounding-set=-dac_override,-dac_read_search",
    "--inh-caps=-dac_override,-dac_read_search",
)


def _environment(temporary: Path) -> dict[str, str]:
    runtime = temporary / "runtime"
    runtime.mkdir(mode=0o700)
    options = f"-XX:TieredStopAtLevel=1 -Djava.io.tmpdir={temporary}"
    return {"JDK_JAVA_OPTIONS": options, "TMPDIR": str(temporary), "XDG_RUNTIME_DIR": str(runtime)}


def _jars(run: Run, jar: Path | None) -> str:
    """The product's jar, the recorder's and PostgreSQL's driver."""
    classes = run.private_dir("classes")
    compile_scala(HERE / "History.scala", classes)
    services = classes / "META-INF" / "services"
    services.mkdir(parents=True)
    (services / "java.sql.Driver").write_text("history.RecordingDriver\n")
    made = shutil.make_archive(str(run.dir / "history"), "zip", classes)
    recorder = Path(made).rename(run.dir / "history.jar")
    return f"{jar or shim_jar()},{recorder},{postgresql_driver(run, cache=CACHE)}"


@dataclass
class _Launcher:
    """Starts drivers."""

    site: Site
    address: str
    environment: dict[str, str]
    jars: str
    patched: Path | None

    def launch(self, name: str, application: str, cores: int) -> Child:
        site, run = self.site, self.site.run
        stores = [each for each in site.stores if each.other or application == "A"]
        plan = run.dir / f"{name}.plan"
        # Tasks of the second one are so long that nothing but a push brings its executor news.
        plans = {
            "A": Plan("A", str(site.folder), [each.path() for each in stores]),
            "B": Plan(
                "B", str(site.folder), [each.path() for each in stores], seconds=15, reads=1500, pause=900
            ),
        }
        plans[application].save(plan)
        local = run.private_dir(f"{name}-local")
        properties = run.private_file(f"{name}.conf", _lines(self._confs(application, cores, stores)))
        environment = {
            **spark_environment(run.dir, local),
            **self.environment,
            "SPARK_LOCAL_IP": self.address,
            "PYSPARK_PYTHON": sys.executable,
            "PYTHONPATH": self._python_path(),
            "PYSPARK_SUBMIT_ARGS": f"--properties-file {properties} pyspark-shell",
        }
        return run.start(name, [*_AS_ANYBODY, sys.executable, "-m", "history.app", plan], env=environment)

    def _python_path(self) -> str:
        parts = [self.patched, TESTS / "assurance", TESTS]
        return os.pathsep.join(str(each) for each in parts if each is not None)

    def _confs(self, application: str, cores: int, stores: Sequence[Store]) -> dict[str, str]:
        site = self.site
        folder = f"-Dhistory.folder={site.folder}"
        confs = {
            **QUIET,
            **site.cluster.application(executors=cores),
            "spark.executor.cores": "2",
            "spark.driver.host": self.address,
            "spark.jars": self.jars,
            "spark.plugins": "io.sparkconfig.ConfigPlugin,history.HistoryPlugin",
            "spark.driver.extraJavaOptions": f'{folder} "-Dhistory.where={application} driver"',
            "spark.executor.extraJavaOptions": f"{folder} -Dhistory.where={application}",
            "spark.executorEnv.PYTHONPATH": self._python_path(),
            "spark.sql.warehouse.dir": str(site.run.dir / "warehouse"),
            "spark.task.maxFailures": "20",
            "spark.excludeOnFailure.enabled": "false",
            "spark.config.providers": ",".join(each.name for each in stores),
            "spark.config.poll.interval": f"{POLL_MS}ms",
            "spark.config.provider.timeout": "5s",
            "spark.config.worker.references": "*:*",
        }
        if application == "B":
            confs["spark.config.agent.python"] = str(site.clock.python)
        for each in stores:
            confs |= each.confs()
            path = each.path()
            confs |= {
                f"spark.shop.{each.name}.user": path.user,
                f"spark.shop.{each.name}.password": path.password,
            }
        return confs


def _lines(confs: dict[str, str]) -> str:
    return "".join(f"{key} {text}\n" for key, text in confs.items())
