"""What an application does again and again, with sparkconfig and without it."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from growth.forgetful import forgetful
from leaks.support import compile_scala
from support.session import running_session
from support.shim import shim_jar

HERE = Path(__file__).resolve().parent
KEYS = 10


@dataclass
class Place:
    """Where a scenario runs: with the plugin or without it, and a folder for everything that it writes."""

    folder: Path
    plugin: bool
    size: float = 1.0

    def __post_init__(self) -> None:
        self.temporary = Path(os.environ["TMPDIR"])
        for name in ("local", "data", "classes"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        (self.folder / "data" / "a.csv").write_text("1\n")
        self.rotate()

    @property
    def watched(self) -> list[Path]:
        return [self.temporary, self.folder / "local"]

    @property
    def store(self) -> Path:
        return self.folder / "shop.properties"

    def rotate(self) -> None:
        """A new value for the first key, as a store would write it."""
        other = self.store.with_suffix(".new")
        values = [secrets.token_hex(12), *(f"a-value-that-stays-{number}" for number in range(1, KEYS))]
        other.write_text("".join(f"key{number}={value}\n" for number, value in enumerate(values)))
        other.replace(self.store)

    def reference(self, number: int = 0) -> str:
        return (
            f"${{file:{self.store}:key{number}}}"
            if self.plugin
            else f"as long as a reference would be, {number}"
        )

    def confs(self, **more: str) -> dict[str, str]:
        # Without a limit for soft references the heap tells how long ago they were used.
        options = f"-XX:SoftRefLRUPolicyMSPerMB=0 -Djava.io.tmpdir={self.temporary}"
        own = {
            "spark.config.providers": "file",
            **{f"spark.shop.k{number}": self.reference(number) for number in range(KEYS)},
        }
        path = [self.folder / "classes", *([shim_jar()] if self.plugin else [])]
        return {
            "spark.master": "local[1]", "spark.ui.enabled": "false", "spark.jars": "",
            "spark.driver.extraJavaOptions": options, "spark.driver.extraClassPath": ":".join(map(str, path)),
            **(own if self.plugin else {}), **more,
        }  # fmt: skip

    @contextlib.contextmanager
    def session(self, **more: str) -> Iterator[Any]:
        with running_session(self.confs(**more), folder=self.folder, plugin=self.plugin) as spark:
            yield spark


#: Does so many units more.
Advance = Callable[[int], None]
#: Gives the JVM that is looked at, and the advance.
Scenario = Callable[[Place], contextlib.AbstractContextManager[tuple[Any, Advance]]]


@contextlib.contextmanager
def rotations(place: Place) -> Iterator[tuple[Any, Advance]]:
    """The store's file gets new values, and the driver has them."""
    from sparkconfig._spark import driver

    with place.session(**forgetful(place.folder, place.size)) as spark:

        def advance(count: int) -> None:
            for _ in range(count):
                known = driver.generation()
                place.rotate()
                while driver.await_generation(known, 10_000) == known:
                    pass
            # The driver's Python takes what is new when it prints.
            print("masked", flush=True, file=sys.stderr)

        yield spark.sparkContext._jvm, advance


@contextlib.contextmanager
def queries(place: Place) -> Iterator[tuple[Any, Advance]]:
    """Queries are analysed whose options hold references, in texts of which no two are alike."""
    compile_scala(HERE / "Growth.scala", place.folder / "classes")
    with place.session(**forgetful(place.folder, place.size)) as spark:
        jvm, done = spark.sparkContext._jvm, 0
        texts = spark.sparkContext._gateway.new_array(jvm.java.lang.String, 2)
        texts[0], texts[1] = place.reference(0), place.reference(1)

        def advance(count: int) -> None:
            nonlocal done
            jvm.growth.Growth.queries(spark._jsparkSession, done, count, texts)
            done += count

        yield jvm, advance


@contextlib.contextmanager
def connect(place: Place) -> Iterator[tuple[Any, Advance]]:
    """Users of a Connect server open a session, set a conf, query with a reference and leave."""
    from pyspark.sql.connect.session import SparkSession as Remote

    server = "org.apache.spark.sql.connect.SparkConnectPlugin"
    plugins = [*(["io.sparkconfig.ConfigPlugin"] if place.plugin else []), server]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    confs = {
        "spark.plugins": ",".join(plugins), "spark.connect.grpc.binding.port": str(port),
        "spark.connect.grpc.binding.address": "127.0.0.1",
    }  # fmt: skip
    with place.session(**confs) as spark:
        jvm = spark.sparkContext._jvm

        def advance(count: int) -> None:
            for number in range(count):
                remote = Remote(f"sc://127.0.0.1:{port}/;user_id=user{number}")
                remote.conf.set("spark.shop.greeting", "hello")
                reader = remote.read.schema("a INT").option("shop", place.reference())
                assert reader.csv(f"{place.folder}/data").count() == 1
                remote.client.release_session()
                remote.client.close()

        yield jvm, advance


@contextlib.contextmanager
def starts(place: Place) -> Iterator[tuple[Any, Advance]]:
    """Applications start and stop, one after the other, in one JVM."""
    from pyspark.sql import SparkSession

    with place.session() as first:
        jvm = first.sparkContext._jvm
        confs = dict(first.sparkContext.getConf().getAll())
        first.stop()

        def advance(count: int) -> None:
            for _ in range(count):
                builder = SparkSession.builder
                for key, text in confs.items():
                    if not key.startswith(("spark.app.", "spark.driver.port")):
                        builder = builder.config(key, text)
                spark = builder.getOrCreate()
                assert spark.range(3).count() == 3
                spark.stop()

        yield jvm, advance


@contextlib.contextmanager
def wiped(place: Place) -> Iterator[tuple[Any, Advance]]:
    """All of the folder for temporary files is gone; then a new Python worker asks for a value."""
    with place.session(**{"spark.python.worker.reuse": "false"}) as spark:
        reference, plugin = place.reference(), place.plugin

        def use(number: int) -> int:
            if not plugin:
                return number
            import sparkconfig.worker

            return len(sparkconfig.worker.current(reference).reveal())

        def advance(count: int) -> None:
            for _ in range(count):
                for each in place.temporary.iterdir():
                    shutil.rmtree(each) if each.is_dir() else each.unlink()
                assert spark.sparkContext.parallelize([24], 1).map(use).collect() == [24]

        yield spark.sparkContext._jvm, advance


@contextlib.contextmanager
def killed(place: Place) -> Iterator[tuple[Any, Advance]]:
    """Drivers are killed, beside an application that goes on."""
    with place.session() as spark:
        jvm = spark.sparkContext._jvm

        def advance(count: int) -> None:
            for _ in range(count):
                _start_and_kill(place)

        yield jvm, advance


def _start_and_kill(place: Place) -> None:
    command = [
        sys.executable, "-m", "growth.run", "--child", "victim", "--folder", place.folder / "victim",
        "--plugin", str(int(place.plugin)),
    ]  # fmt: skip
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as victim:
        assert victim.stdout
        assert victim.stdout.readline() == "READY\n"
        family = psutil.Process(victim.pid).children(recursive=True)
        driver = next(each for each in family if "java" in each.name())
        os.kill(driver.pid, signal.SIGKILL)
        victim.kill()
    psutil.wait_procs(family, timeout=60)
    left = [each.cmdline() for each in family if each.is_running() and each.status() != psutil.STATUS_ZOMBIE]
    assert not left, left


def victim(place: Place) -> None:
    """The application that is killed."""
    with place.session() as spark:
        assert spark.sparkContext.parallelize([1, 2], 1).map(str).collect() == ["1", "2"]
        print("READY", flush=True)
        sys.stdin.read()  # until it is killed, or whoever started it has ended


SCENARIOS: dict[str, Scenario] = {
    "rotations": rotations,
    "queries": queries,
    "sessions": connect,
    "starts": starts,
    "wipes": wiped,
    "kills": killed,
}
