"""The one application of these tests: local, with a Connect server inside where Spark has one."""

from __future__ import annotations

import importlib.util
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from spark.options.compile_sources import CONNECTORS, sources_jar
from spark.options.doors import ROLE, STALE_EXPIRY_S, SUBSTITUTED, TEXTS, Doors
from support.postgres import new_password
from support.session import running_session
from support.shim import kafka_jar, shim_jar
from support.spark_home import spark_home

# gRPC's handlers of fork() would break the processes that the tests start beside a Connect client.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

TESTS = Path(__file__).resolve().parents[2]
CACHE = TESTS.parent / ".cache"


def pytest_collection_modifyitems(items):
    """Spark 3.5 and 4.0 leave the sockets of collect() to the garbage collector."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))


def has_connect() -> bool:
    """Whether this Spark brings the server, and this environment the client's packages."""
    server = any((spark_home() / "jars").glob("spark-connect_*.jar"))
    return server and all(
        importlib.util.find_spec(name) for name in ("grpc", "grpc_status", "pandas", "pyarrow")
    )


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="package")
def application(postgres, pg_driver, kafka_connector, tmp_path_factory) -> Iterator[Doors]:
    """At its end no password that any test has used is in the event log."""
    folder = tmp_path_factory.mktemp("options")
    doors = Doors(folder, {}, postgres)
    postgres.create(role=ROLE, password=new_password(), database=ROLE)
    doors.rotate()
    doors.put(
        path=f"{folder}/by-reference",
        url=postgres.jdbc_url(ROLE),
        table="numbers",
        separator="|+|",
        true="true",
    )
    (folder / "events").mkdir()
    jars = [shim_jar(), kafka_jar(), sources_jar(), pg_driver, *kafka_connector]
    port = free_port()
    conf = {
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        # As the test bases of Spark, Delta and Iceberg set it: Spark then checks what rules do to plans.
        "spark.driver.extraJavaOptions": "-Dspark.testing=true -Dshop.region=eu1",
        # With that property 4.3 also tries its coming analyzer, which cannot find tables whose options hold references.
        "spark.sql.analyzer.singlePassResolver.dualRunWithLegacy": "false",
        "spark.jars": "",
        "spark.sql.extensions": "sparkconfigtest.TakingExtension",
        "spark.driver.extraClassPath": ":".join(map(str, jars)),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{folder}/events",
        "spark.eventLog.compress": "false",
        "spark.config.providers": "files,remote",
        "spark.config.providers.files.class": "file",
        "spark.config.providers.files.param.allowed.paths": str(folder),
        "spark.config.providers.remote.class": "support.flaky_store.FlakyStore",
        "spark.config.stale.expiry": f"{STALE_EXPIRY_S}s",
        "spark.config.poll.interval": "1s",
        "spark.config.substitution.enabled": "true",
        "spark.config.worker.references": "*:*",
        # Beside Connect an application is of that type.
        "spark.config.worker.job.types": "batch,connect",
        **TEXTS,
        "spark.config.resolve.prefixes": "+spark.shopdb.=shopdb.connector.",
        **dict.fromkeys(CONNECTORS.values(), doors.ref()),
        "spark.hadoop.hadoop.security.credential.provider.path": "sparkconfig:///",
        "spark.hadoop.sparkconfig.credential.store.pw": doors.ref(),
        "spark.sql.catalog.pg": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
        "spark.sql.catalog.pg.url": postgres.jdbc_url(ROLE),
        "spark.sql.catalog.pg.driver": "org.postgresql.Driver",
        "spark.sql.catalog.pg.user": ROLE,
        "spark.sql.catalog.pg.password": doors.ref(),
        # Without password: connections bring it.
        "spark.sql.catalog.named": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
        "spark.sql.catalog.named.sparkconfig.connection": "shop",
        **connections(doors),
        "spark.sql.catalog.store": "sparkconfigtest.StoreCatalog",
        "spark.sql.catalog.store.password": doors.ref(),
    }
    if has_connect():
        conf["spark.plugins"] = "io.sparkconfig.ConfigPlugin,org.apache.spark.sql.connect.SparkConnectPlugin"
        conf["spark.connect.grpc.binding.port"] = str(port)
        conf["spark.connect.grpc.binding.address"] = "127.0.0.1"
    # The side process finds the tests' own provider there.
    with running_session(conf, folder=folder, env={"PYTHONPATH": str(TESTS), **SUBSTITUTED}) as spark:
        doors.sessions["classic"] = spark
        doors.passwords.insert(0, SUBSTITUTED["SHOP_PASSWORD"])
        doors.store.setPassword(doors.passwords[-1])
        if has_connect():
            from pyspark.sql.connect.session import SparkSession as ConnectSession

            doors.sessions["connect"] = ConnectSession.builder.remote(f"sc://127.0.0.1:{port}").create()
        yield doors
        doors.classic._jsc.sc().listenerBus().waitUntilEmpty()
        events = "\n".join(path.read_text() for path in (folder / "events").rglob("*") if path.is_file())
        assert "SQLExecutionStart" in events
        doors.assert_hidden(events)
        if "connect" in doors.sessions:
            doors.sessions["connect"].stop()


def connections(doors: Doors) -> dict[str, str]:
    """Named connections: to PostgreSQL, also with everything a reference, and to the stores in memory."""
    jdbc = {"driver": "org.postgresql.Driver", "user": ROLE, "password": doors.ref()}
    found = {
        "shop": ("jdbc", {"url": doors.postgres.jdbc_url(ROLE), **jdbc}),
        "late": ("jdbc", {"url": doors.ref("url"), **jdbc}),
        "broker": (
            "kafka",
            {
                "kafka.bootstrap.servers": doors.ref("servers"),
                "kafka.security.protocol": "SASL_PLAINTEXT",
                "kafka.sasl.mechanism": "SCRAM-SHA-256",
                "kafka.sasl.jaas.config": (
                    "org.apache.kafka.common.security.scram.ScramLoginModule required"
                    f' username="sender" password="{doors.ref("broker")}";'
                ),
            },
        ),
        "memory1": ("storev1", {"password": doors.ref()}),
        "memory2": ("storev2", {"password": doors.ref(), "Region": "eu"}),
    }
    confs = {}
    for name, (kind, options) in found.items():
        confs[f"spark.config.connections.{name}.format"] = kind
        confs |= {f"spark.config.connections.{name}.option.{key}": text for key, text in options.items()}
    return confs


FRONTS = ["classic", *(["connect"] if has_connect() else [])]


#: A test of a door, what asks for `doors` through each front: of what a door is given, Connect makes the same plans.
EACH_FRONT = pytest.mark.parametrize("doors", FRONTS, indirect=True)


@pytest.fixture
def doors(request, application) -> Doors:
    """The classic session, or with `EACH_FRONT` each."""
    return application.through(getattr(request, "param", "classic"))


@pytest.fixture
def numbers(doors) -> Doors:
    """With a table in PostgreSQL."""
    doors.put(url=doors.postgres.jdbc_url(ROLE))
    doors.postgres.sql(
        "drop table if exists numbers; create table numbers(id int); insert into numbers values (1), (2), (3);"
        f'alter table numbers owner to "{ROLE}"',
        database=ROLE,
    )
    return doors
