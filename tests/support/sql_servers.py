"""Servers of SQL that several users share, under an operator's file: Thrift and Connect."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from support.policies import records, write_operator
from support.processes import Child, Run
from support.session import QUIET
from support.shim import shim_jar
from support.spark_home import spark_environment, spark_home


class Site:
    """The operator's file, and programs of Spark's own that find it."""

    def __init__(self, run: Run, folder: Path, rules: Mapping[str, Any], **settings: str) -> None:
        self.run = run
        self.folder = folder
        self.home = write_operator(folder, rules, **settings)

    def reference(self, key: str) -> str:
        return f"${{files:{self.folder}/shop.properties:{key}}}"

    def decisions(self) -> list[tuple[str, str]]:
        """What was decided about sessions so far, with the name."""
        found = records(self.folder) if (self.folder / "audit.jsonl").exists() else []
        return [(each["decision"], each["subject"]) for each in found if each["scope"] == "session"]

    def start(
        self, name: str, program: list[str | Path], *, env: Mapping[str, str] | None = None, **confs: str
    ) -> Child:
        own = self.folder / name
        own.mkdir()
        all_confs = {
            **QUIET,
            "spark.master": "local[1]",
            "spark.ui.enabled": "false",
            "spark.jars": str(shim_jar()),
            "spark.plugins": "io.sparkconfig.ConfigPlugin",
            "spark.sql.warehouse.dir": f"{own}/warehouse",
            **confs,
        }
        # The operator's value is in place where a job sets none.
        del all_confs["spark.sql.shuffle.partitions"]
        file = own / "job.conf"
        file.write_text("".join(f"{key} {text}\n" for key, text in all_confs.items()))
        return self.run.start(
            f"policy-{name}",
            [spark_home() / "bin" / program[0], "--properties-file", file, *program[1:]],
            env={**spark_environment(self.home, own), "PYSPARK_PYTHON": sys.executable, **(env or {})},
            cwd=own,
        )


THRIFT = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"
CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
CONNECT_CONFS = {"spark.connect.grpc.binding.port": "0", "spark.connect.grpc.binding.address": "127.0.0.1"}


def hive(folder: Path) -> dict[str, str]:
    """Confs of a metastore of one's own."""
    return {
        "spark.hadoop.hive.exec.scratchdir": f"{folder}/scratch",
        "spark.hadoop.hive.exec.local.scratchdir": f"{folder}/local-scratch",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder}/metastore;create=true",
    }


def thrift_confs(folder: Path) -> dict[str, str]:
    return {
        **hive(folder),
        "spark.hadoop.hive.server2.thrift.port": "0",
        "spark.hadoop.hive.server2.thrift.bind.host": "127.0.0.1",
        "spark.hadoop.hive.server2.logging.operation.log.location": f"{folder}/operations",
    }


def thrift_port(server: Child) -> int:
    return int(server.wait_for(r"Starting ThriftBinaryCLIService on port (\d+)", timeout=240)[1])


def connect_address(server: Child) -> str:
    port = server.wait_for(r"Spark Connect server started at: \S*?:(\d+)", timeout=240)[1]
    return f"sc://127.0.0.1:{port}"


@contextlib.contextmanager
def connect_server(site: Site, name: str, **more: str) -> Iterator[tuple[str, Child]]:
    """A Connect server's address and its process."""
    command = ["spark-submit", "--class", CONNECT, "spark-internal"]
    server = site.start(name, command, **CONNECT_CONFS, **more)
    yield connect_address(server), server
    server.stop()


@contextlib.contextmanager
def thrift_server(site: Site, name: str, secret: str, **more: str) -> Iterator[tuple[str, Any]]:
    """A Thrift server's URL for JDBC and its process; its log must not hold the secret."""
    confs = {**thrift_confs(site.folder / name), **more}
    server = site.start(name, ["spark-submit", "--class", THRIFT, "spark-internal"], **confs)
    yield f"jdbc:hive2://127.0.0.1:{thrift_port(server)}/default", server
    server.stop()
    assert secret not in server.output()
