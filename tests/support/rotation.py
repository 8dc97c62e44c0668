"""An application on a cluster whose secrets lie in files that a test rotates."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparkconfig._spark import driver
from support.scala_objects import scala_object
from support.session import running_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from support.cluster import SparkCluster

#: How long rotations every 50 ms go on: `make rotation-faults` asks for the whole minute.
ROTATION_SECONDS = float(os.environ.get("SPARKCONFIG_ROTATION_SECONDS", "8"))


def digest(value: str) -> str:
    """What a task may give back instead of a value."""
    return hashlib.sha256(value.encode()).hexdigest()


def replace_file(path: Path, text: str) -> None:
    """Put a file into the place of another by rename."""
    partial = path.with_suffix(".new")
    partial.write_text(text)
    partial.replace(path)


def provider_confs(name: str, kind: str, params: Mapping[str, str]) -> dict[str, str]:
    root = f"spark.config.providers.{name}"
    return {f"{root}.class": kind, **{f"{root}.param.{param}": text for param, text in params.items()}}


@dataclass
class Site:
    """The application and the files that hold its secrets.

    Attributes:
        padding: written into each file, to make snapshots large.
    """

    spark: SparkSession
    folder: Path
    values: list[str] = field(default_factory=list, repr=False)
    padding: str = field(default="", repr=False)

    def reference(self, key: str = "password", file: str = "main") -> str:
        return f"${{files:{self.folder}/{file}.properties:{key}}}"

    def rotate(self, file: str = "main") -> str:
        """Replace user and password of a file by a new value, both the same."""
        value = f"rotated-value-{len(self.values):05d}"
        self.values.append(value)
        more = f"padding={self.padding}\n" if self.padding else ""
        replace_file(self.folder / f"{file}.properties", f"user={value}\npassword={value}\n{more}")
        return value

    @property
    def context(self) -> Any:
        return self.spark.sparkContext

    @property
    def api(self) -> Any:
        return scala_object(self.context._jvm, "io.sparkconfig.driver.DriverApi")

    def everywhere(self, function: Callable[..., Iterator[object]], parts: int = 4) -> list[Any]:
        """Run a function in Python workers of all executors, and return its results."""
        return self.context.parallelize(range(parts), parts).mapPartitions(function).collect()

    def digests(self, text: str) -> list[str]:
        """What four tasks in Python workers of all executors have of a reference."""

        def ask(_rows: Iterator[object]) -> Iterator[str]:
            from sparkconfig.worker import current

            yield digest(current(text).reveal())

        return self.everywhere(ask)

    def arrives(self, text: str, value: str, seconds: float = 30) -> bool:
        """Whether Python workers of all executors come to see a value, and nobody is given anything but texts."""
        wanted = digest(value)

        def wait(_rows: Iterator[object]) -> Iterator[bool]:
            import time

            from sparkconfig.worker import current

            deadline = time.monotonic() + seconds
            while True:
                seen = hashlib.sha256(current(text).reveal().encode()).hexdigest() == wanted
                if seen or time.monotonic() > deadline:
                    yield seen
                    return
                time.sleep(0.02)

        return self.everywhere(wait) == [True] * 4

    def provider(self, name: str) -> dict[str, Any]:
        """What the state says of one provider."""
        return next(each for each in driver.status()["providers"] if each["name"] == name)

    def executors(self) -> list[int]:
        """The process ids of the application's executors."""
        application, found = self.context.applicationId.encode(), []
        for folder in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if folder.name.isdigit():
                    command = (folder / "cmdline").read_bytes()
                    if b"CoarseGrainedExecutorBackend" in command and application in command:
                        found.append(int(folder.name))
        return sorted(found)


@contextmanager
def running_site(
    cluster: SparkCluster,
    folder: Path,
    *,
    module: str,
    files: Sequence[str] = ("main",),
    padding: str = "",
    conf: Mapping[str, str] | None = None,
    env: Mapping[str, str] | None = None,
) -> Iterator[Site]:
    """Start an application with two executors of one core each, and end it.

    Args:
        module: the test module, whose functions travel to workers as they are.
        files: made before the start, each with user and password; the conf ``spark.shop.password`` refers to the
            first.
    """
    from pyspark import cloudpickle

    from support import shim

    for name in (module, __name__):
        cloudpickle.register_pickle_by_value(sys.modules[name])
    site = Site(None, folder, padding=padding)  # type: ignore[arg-type]
    for file in files:
        site.rotate(file)
    whole = {
        **cluster.application(),
        "spark.app.name": module.rpartition(".")[2],
        "spark.jars": str(shim.shim_jar()),
        "spark.config.providers": "files",
        "spark.config.providers.files.class": "file",
        "spark.config.worker.references": "*:*",
        "spark.config.poll.interval": "200ms",
        "spark.shop.password": site.reference(file=files[0]),
        **(conf or {}),
    }
    # Two clusters give one id to applications that start in one second: this one's socket has a directory of its own.
    runtime = folder / "runtime"
    runtime.mkdir(mode=0o700)
    env = {"PYSPARK_PYTHON": sys.executable, "XDG_RUNTIME_DIR": str(runtime), **(env or {})}
    with running_session(whole, folder=folder, env=env) as session:
        site.spark = session
        yield site
