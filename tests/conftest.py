"""Fixtures that start real parts once for all tests that ask for them: see `support`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

if TYPE_CHECKING:
    from support.cluster import SparkCluster
    from support.kafka_broker import KafkaBroker
    from support.openbao import OpenBaoServer
    from support.postgres import PostgresServer
    from support.processes import Run
    from support.scheduling import SharedApplications

# Spark starts "python3" of the PATH otherwise, which has none of this environment's packages.
os.environ["PYSPARK_PYTHON"] = sys.executable
# Most JVMs of the tests live for seconds, in which the optimizing compiler costs more than it gains.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1")
# gRPC (Connect, Secret Manager) otherwise restarts its threads in the child between fork and exec, where they fail.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"


def pytest_configure(config: pytest.Config) -> None:
    if SPARK < (4, 3):
        # These pysparks leave the socket of each collect() to the garbage collector.
        socket = r"ignore:Exception ignored in. <socket\.socket:pytest.PytestUnraisableExceptionWarning"
        config.addinivalue_line("filterwarnings", socket)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> SharedApplications | None:
    """With ``--dist loadfile``, files that share an application go to one process."""
    from support.scheduling import SharedApplications

    return SharedApplications(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    others = [item for item in items if not _is_of_this_spark(item)]
    if others:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if _is_of_this_spark(item)]
    if hasattr(config, "workerinput"):  # one of several processes
        from support.scheduling import longest_first

        longest_first(items)


def _is_of_this_spark(item: pytest.Item) -> bool:
    ranges = [mark.kwargs for mark in item.iter_markers("sparks")]
    return all(
        _numbers(each.get("since", "0.0")) <= SPARK < _numbers(each.get("before", "9.0")) for each in ranges
    )


def _numbers(spark: str) -> tuple[int, int]:
    major, minor = spark.split(".")[:2]
    return int(major), int(minor)


# The hooks of an application would stay in the process of the tests; what tests them starts one of its own.
mock.patch("sparkconfig.redaction.install").start()

SPARK = _numbers(version("pyspark"))
CACHE = Path(__file__).resolve().parent.parent / ".cache"


@pytest.fixture(scope="session")
def harness_run() -> Iterator[Run]:
    """The directory and the processes of this test session; nothing of it outlives the session."""
    from support.processes import Run

    with Run() as run:
        yield run


@pytest.fixture(scope="session")
def postgres(harness_run: Run) -> Iterator[PostgresServer]:
    """A private PostgreSQL (TCP, scram-sha-256); make your own role and database with ``postgres.create``."""
    from support.postgres import PostgresServer

    server = PostgresServer(harness_run, cache=CACHE)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def openbao(harness_run: Run) -> Iterator[OpenBaoServer]:
    """A private OpenBao, Vault's API, in memory; make mounts and roles of your own with ``RealVault.of(request)``."""
    from support.openbao import OpenBaoServer

    server = OpenBaoServer(harness_run)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def cluster(harness_run: Run) -> Iterator[SparkCluster]:
    """A standalone master and two workers with one core each, authenticated and encrypted."""
    from support.cluster import SparkCluster

    spark = SparkCluster(harness_run, workers=2)
    yield spark
    spark.stop()


@pytest.fixture(scope="session")
def pg_driver(harness_run: Run) -> Path:
    """The jar of PostgreSQL's JDBC driver."""
    from support.jdbc import postgresql_driver

    return postgresql_driver(harness_run, cache=CACHE)


@pytest.fixture(scope="session")
def kafka_connector(harness_run: Run) -> list[Path]:
    """The jars of Spark's Kafka connector, kafka-clients among them."""
    from support.kafka_broker import connector_jars

    return connector_jars(harness_run, cache=CACHE)


@pytest.fixture(scope="session")
def kafka(harness_run: Run) -> Iterator[KafkaBroker]:
    """A private Kafka broker (SCRAM); make your own user with ``kafka.set_password``."""
    from support.kafka_broker import KafkaBroker

    broker = KafkaBroker(harness_run, cache=CACHE)
    yield broker
    broker.stop()


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This project's wheel; with ``SPARKCONFIG_DIST=dist`` that of ``make dist``."""
    from support.distribution import build

    given = os.environ.get("SPARKCONFIG_DIST")
    folder = Path(given) if given else tmp_path_factory.mktemp("dist")
    if not given:
        build(folder)
    (found,) = folder.glob("*.whl")
    return found
