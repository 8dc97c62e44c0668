"""One column of the table: its values, folders and confs, and what was found on each surface."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from leaks.audit import canaries
from leaks.audit.profiles import Profile
from leaks.audit.stage import ROLE, TESTS, Stage
from support import surfaces
from support.leaks import LeakFinder
from support.processes import Child
from support.surfaces import Surface

#: Below a column's folder; what is searched in each is a surface of its own.
FOLDERS = ("events", "work", "local", "tmp", "checkpoint", "warehouse", "crash")
_BROWSER_SECONDS = 1800.0
# An environment may have been made for another checkout, and have its package or none.
PACKAGE = TESTS.parent / "python"


@dataclass
class Column:
    """One way of running Spark, and everything found while its applications ran.

    Attributes:
        surfaces: by name; a surface that was searched at several moments holds the sum.
    """

    stage: Stage
    profile: Profile
    folder: Path
    values: dict[str, str]
    surfaces: dict[str, Surface] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.finder = LeakFinder(canaries.texts(self.values))
        for name in FOLDERS:
            (self.folder / name).mkdir()
        inputs = self.stage.run.private_dir(f"{self.name}-inputs")
        self._shop = self.profile.shop_confs(self.values, inputs / "shop.json")
        self.properties = self._write_properties(inputs)
        self.stage.postgres.set_password(ROLE, self.values["awkward"])

    @property
    def name(self) -> str:
        """Begins the names of its files."""
        return self.folder.name

    def _write_properties(self, inputs: Path) -> Path:
        # What a person writes into a 0600 file, the one secret in clear included.
        lines = {**self.stage.cluster.security(), "spark.shop.literal.apikey": self.values[canaries.LITERAL]}
        file = inputs / "spark.properties"
        file.touch(mode=0o600)
        file.write_text("".join(f"{key} {value}\n" for key, value in lines.items()))
        return file

    def confs(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """What is given to spark-submit with ``--conf``."""
        tmp = f"-Djava.io.tmpdir={self.folder / 'tmp'}"
        crash = f"-XX:ErrorFile={self.folder}/crash/hs_err_%p.log -XX:-CreateCoredumpOnCrash"
        # Uncompressed, so that the search reads what is in the files.
        plain = ("eventLog", "rdd", "shuffle", "shuffle.spill", "broadcast")
        return {
            **{f"spark.{name}.compress": "false" for name in plain},
            "spark.checkpoint.compress": "false",
            "spark.sql.inMemoryColumnarStorage.compressed": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": "1g",
            "spark.executor.memory": "700m",
            "spark.driver.extraJavaOptions": f"{tmp} {crash}",
            "spark.executor.extraJavaOptions": tmp,
            "spark.executorEnv.PYTHONPATH": str(TESTS),
            "spark.ui.port": "0",
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": (self.folder / "events").as_uri(),
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.ansi.enabled": "true",
            "spark.sql.warehouse.dir": (self.folder / "warehouse").as_uri(),
            **self.profile.confs,
            **self._shop,
            **(more or {}),
        }

    @property
    def options(self) -> dict[str, str]:
        """What jobs write into options, by secret."""
        found = {key.split(".")[2]: text for key, text in self._shop.items() if key.startswith("spark.shop.")}
        return {**found, canaries.LITERAL: self.values[canaries.LITERAL]}

    def submit(
        self, name: str, application: list[str | Path], *, more: Mapping[str, str] | None = None,
        options: Iterable[str | Path] = (), master: str | None = None,
    ) -> Child:  # fmt: skip
        """Start ``spark-submit`` with this column's confs."""
        jars = ",".join(str(jar) for jar in [self.stage.driver, *self.profile.jars])
        extra = ["--master", master] if master else []
        return self.stage.cluster.submit(
            f"{self.name}-{name}", application, properties=self.properties, conf=self.confs(more),
            options=[*extra, "--jars", jars, *options], cwd=self.folder / "work",
            env={"SPARK_LOCAL_DIRS": str(self.folder / "local"), "TMPDIR": str(self.folder / "tmp"),
                 "LC_ALL": "C.UTF-8", "PROBE_FILE": str(self.told), "PYTHONPATH": str(PACKAGE)},
        )  # fmt: skip

    @property
    def told(self) -> Path:
        """Where the listeners of `ListenerProbe.scala` keep what they are told."""
        return self.folder / "told"

    def search(self, name: str, parts: Iterable[tuple[str, bytes]]) -> None:
        """Search a surface, or more of it."""
        found = surfaces.search(name, parts, self.finder)
        known = self.surfaces.setdefault(name, Surface(name, 0, 0, 0, []))
        known.parts += found.parts
        known.size += found.size
        known.occurrences += found.occurrences
        known.where += found.where

    def search_application(self, ui: str) -> None:
        """Everything that a running application serves."""
        self.search("environment REST", surfaces.environment_rest(ui))
        self.search("other REST answers", surfaces.application_rest(ui))
        pages = surfaces.application_pages(
            ui, within=self.sample(self.stage.per_shape_http), limit=5000, seconds=600
        )
        self.search("pages of the application, over HTTP", pages)
        if self.stage.browser:
            pages = surfaces.application_pages(
                ui,
                read=self.stage.browser.read,
                within=self.sample(self.stage.per_shape),
                limit=5000,
                seconds=_BROWSER_SECONDS,
            )
            self.search("pages of the application, in Chromium", pages)

    def search_files(self) -> None:
        """What lies in the folders of the running applications; many of these files go when they end."""
        cluster = self.stage.cluster
        local = list(surfaces.files([self.folder / "local", cluster.local]))
        self.search("local directories: blocks and broadcasts of the job's data", filter(_is_block, local))
        self.search("local directories: all other files", (part for part in local if not _is_block(part)))
        for surface, folder in {
            "temporary directory": "tmp",
            "checkpoints": "checkpoint",
            "warehouse": "warehouse",
            "working directory, metastore": "work",
        }.items():
            self.search(surface, _with_names(self.folder / folder))

    def search_daemons(self) -> None:
        """The master and the workers, which all columns share."""
        cluster = self.stage.cluster
        addresses = [cluster.master_ui, *cluster.worker_uis]
        self.search("pages of master and workers, over HTTP", surfaces.daemon_pages(addresses))
        if self.stage.browser:
            read = self.stage.browser.read
            pages = surfaces.daemon_pages(
                addresses, read=read, within=self.sample(self.stage.per_shape), seconds=_BROWSER_SECONDS
            )
            self.search("pages of master and workers, in Chromium", pages)
        logs = [cluster.master.log, *(worker.log for worker in cluster.workers)]
        self.search("logs of master and workers", surfaces.files(logs))

    def search_logs(self, child: Child) -> None:
        """The output of an application that has ended, and of its executors."""
        self.search("output and log of drivers", surfaces.files([child.log]))
        found = re.search(r"Connected to Spark cluster with app ID (\S+)", child.output())
        if found:
            paths = [path for path in self.stage.cluster.executor_logs() if found[1] in path.parts]
            self.search("output and logs of executors", surfaces.files(paths))

    def sample(self, most: int) -> Callable[[str], bool]:
        """A limit to pages of one kind: its path without numbers, and its parameters' names."""
        seen: dict[str, int] = {}

        def within(address: str) -> bool:
            parts = urlsplit(address)
            shape = re.sub(r"\d+", "N", parts.path) + "?" + ",".join(key for key, _ in parse_qsl(parts.query))
            seen[shape] = seen.get(shape, 0) + 1
            return seen[shape] <= most

        return within


def open_column(stage: Stage, profile: Profile, name: str | None = None) -> Column:
    """A column with values of its own; ``name`` is its files' name; the profile's if none is given."""
    return Column(stage, profile, stage.run.private_dir(name or profile.key), canaries.fresh())


def _with_names(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The files of a folder, and how they are called."""
    yield (
        f"names in {folder.name}",
        "\n".join(str(path) for path in folder.rglob("*")).encode(errors="replace"),
    )
    yield from surfaces.files([folder])


def _is_block(part: tuple[str, bytes]) -> bool:
    """Whether Spark keeps data of the job in this file; PySpark has its broadcasts in files of its own."""
    return "blockmgr-" in part[0] or "pyspark-" in part[0]
