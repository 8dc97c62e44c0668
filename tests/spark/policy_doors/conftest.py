"""The one application of these tests, under an operator's policy: local, with a Connect server inside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from spark.options.compile_sources import sources_jar
from spark.options.conftest import free_port, has_connect
from spark.policy_doors.policy import CONNECTIONS, DEFAULTS, FRONTS, PARTITIONS, RULES, SECRET, TURN
from support.policies import log_to, write_operator
from support.session import running_session
from support.shim import shim_jar


@pytest.fixture(scope="package")
def application(tmp_path_factory) -> Iterator[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("doors")
    (folder / "shop.properties").write_text(f"password={SECRET}\nadmin={SECRET}\nregion=a\n")
    (folder / "look.properties").write_text(f"{TURN}=first\n")
    conf = {"spark.master": "local[2]", "spark.ui.enabled": "false", "spark.shop.given": "b", PARTITIONS: "7"}
    conf["spark.plugins"] = "io.sparkconfig.ConfigPlugin"
    port = free_port()
    if has_connect():
        conf["spark.plugins"] += ",org.apache.spark.sql.connect.SparkConnectPlugin"
        conf["spark.connect.grpc.binding.port"] = str(port)
        conf["spark.connect.grpc.binding.address"] = "127.0.0.1"
    home = write_operator(
        folder,
        RULES,
        **DEFAULTS,
        **CONNECTIONS,
        **{"spark.config.connections.look.option.turn": f"${{files:{folder}/look.properties:{TURN}}}"},
        **{
            "spark.plugins": conf["spark.plugins"],
            "spark.config.worker.job.types": "batch, connect",
            "spark.config.worker.references": "files:*",
            "spark.config.audit.required": "true",
        },
    )
    log_to(home, folder / "driver.log")
    conf["spark.jars"] = f"{shim_jar()},{sources_jar()}"
    with running_session(conf, folder=folder, env={"SPARK_CONF_DIR": str(home)}) as spark:
        spark._jvm.sparkconfigtest.Store.setPassword(SECRET)
        found = {"classic": spark, "folder": folder, "port": port}
        if has_connect():
            from pyspark.sql.connect.session import SparkSession as ConnectSession

            found["connect"] = ConnectSession.builder.remote(f"sc://127.0.0.1:{port}").create()
        for front in FRONTS:  # a session is watched from its first statement on
            assert found[front].range(1).count() == 1
        yield found
        if has_connect():
            found["connect"].stop()


@pytest.fixture(params=FRONTS)
def spark(request, application):
    """The session of one front, usable, with the operator's values in place."""
    session = application[request.param]
    yield session
    assert session.range(3).count() == 3
    for key, text in DEFAULTS.items():
        if key.startswith("spark.sql."):
            session.conf.set(key, text)


@pytest.fixture
def classic(application):
    return application["classic"]
