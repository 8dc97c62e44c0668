"""An application with secrets, the fronts that clients use, and listeners of others that write what they hear."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from leaks.support import jvm_classes
from spark.options.conftest import free_port, has_connect
from sparkconfig.redaction import MASK
from support.jdbc import DERBY
from support.session import running_session
from support.shim import shim_jar

#: Nobody but Spark itself brings it into a text: by its variable substitution.
SECRET = "Canary-c11e'nt&9<7>-value"
#: Written in clear, under keys that name a secret and that Spark's own pattern does not know.
LITERAL = "Canary-in-clear-82/x+y"
#: A secret that protobuf's texts hold as octal bytes.
FOREIGN = "cänäry-ключ-鍵-7c1e"
#: A secret of several blocks, as long tokens and keys are.
LONG = "".join(f"{number * number * 7919:06x}kQzR" for number in range(1, 20))
#: Secrets by their reference, and words that a program meets elsewhere too.
WORDS = {
    "one": "inventory",
    "two": "us-east-1",
    "three": "children",
    "four": "nodeName",
    "five": "etl_service",
}
SECRETS = {"token": SECRET, "foreign": FOREIGN, "long": LONG, **WORDS}
VARIABLE = "${spark.shop.token}"
#: Statements that fail, each in another part of Spark.
BAD = {
    "parser": "SELEC 'SECRET' FRM",
    "analysis": "SELECT 'SECRET' + no_such_column FROM range(1)",
    "execution": "SELECT raise_error('it is SECRET') FROM range(1)",
    "cast": "SELECT CAST('SECRET' AS INT)",
    "location": "SELECT * FROM parquet.`/no/such/SECRET`",
}
FRONTS = ["classic", *(["connect"] if has_connect() else [])]


@dataclass
class Fronts:
    """One application, its sessions by kind, and what the listeners of others were told."""

    sessions: dict[str, Any]
    told: Path

    def heard(self, head: str) -> list[str]:
        if not self.told.exists():
            return []
        return [line for line in self.told.read_text().splitlines() if line.startswith(head)]

    def drained(self) -> None:
        self.sessions["classic"].sparkContext._jsc.sc().listenerBus().waitUntilEmpty()


@contextmanager
def running_fronts(folder: Path) -> Iterator[Fronts]:
    """Run the application in this process, with its files in a folder."""
    (folder / "shop.properties").write_text("".join(f"{key}={value}\n" for key, value in SECRETS.items()))
    port = free_port()
    conf = {
        "spark.master": "local[2]",
        "spark.ui.enabled": "true",
        "spark.plugins": "io.sparkconfig.ConfigPlugin",
        # Not spark.jars: the listeners and the plugin have to be there together, as a platform's own are.
        "spark.jars": "",
        "spark.driver.extraClassPath": f"{shim_jar()}:{jvm_classes()}",
        "spark.extraListeners": "org.apache.spark.probe.AllEvents",
        "spark.sql.queryExecutionListeners": "org.apache.spark.probe.Queries",
        "spark.sql.streaming.streamingQueryListeners": "org.apache.spark.probe.Streams",
        "spark.config.providers": "files",
        "spark.config.providers.files.class": "file",
        "spark.config.inplace.keys": "spark.shop.*",
        **{f"spark.shop.{key}": f"${{files:{folder}/shop.properties:{key}}}" for key in SECRETS},
        "spark.shop.apikey": LITERAL,
        "spark.hadoop.fs.azure.account.key.shop": LITERAL,
        # `SET -v` shows registered keys only, and this one takes any text; a session cannot set the other one.
        "spark.sql.thriftserver.scheduler.pool": LITERAL,
        "spark.ui.strictTransportSecurity": LITERAL,
        "spark.sql.ansi.enabled": "true",
        "spark.sql.catalog.derby": "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
        "spark.sql.catalog.derby.url": "jdbc:derby:memory:clients;create=true",
        "spark.sql.catalog.derby.driver": DERBY,
        "spark.sql.debug.maxToStringFields": "1000",
    }
    if has_connect():
        conf["spark.plugins"] += ",org.apache.spark.sql.connect.SparkConnectPlugin"
        conf["spark.connect.grpc.binding.port"] = str(port)
        conf["spark.connect.grpc.binding.address"] = "127.0.0.1"
    told = folder / "told"
    with running_session(conf, folder=folder, env={"PROBE_FILE": str(told)}) as spark:
        sessions = {"classic": spark}
        if has_connect():
            from pyspark.sql.connect.session import SparkSession as ConnectSession

            sessions["connect"] = ConnectSession.builder.remote(f"sc://127.0.0.1:{port}").create()
        yield Fronts(sessions, told)
        if has_connect():
            sessions["connect"].stop()


def shown(frame: Any) -> str:
    return json.dumps([row.asDict() for row in frame.collect()], ensure_ascii=False)


def masked(text: str) -> str:
    """The text, once it is known to hold the mask and no value."""
    assert "Canary-" not in text, "a value is shown"
    assert MASK in text, text
    return text


def sql(text: str) -> str:
    """The secret as part of a SQL text that a job has written itself."""
    return text.replace("SECRET", SECRET.replace("'", "\\'"))
