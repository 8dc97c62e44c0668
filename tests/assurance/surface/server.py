"""A Connect or Thrift server with the shipped policy, and what it may hold back: a store, a variable, a connection."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from sparkconfig.cli.main import main
from sparkconfig.policy.rules.document import read
from support.processes import Run
from support.spark_home import java
from support.sql_servers import Site, hive
from support.verdicts import REFUSED
from surface.canary import Canary

ROOT = Path(__file__).resolve().parents[3]
USER = "eve"
_MAIN = {
    "connect": "org.apache.spark.sql.connect.service.SparkConnectServer",
    "thrift": "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2",
}
_STARTED = r"(?:Spark Connect server started at: \S*?:|Starting ThriftBinaryCLIService on port )(\d+)"
#: Of pages, what a user of the server reads: the operator's own view of confs is not among them.
_PAGES = ("jobs", "stages", "storage", "environment", "executors", "SQL", "connect", "sqlserver", "config")
_STORE, _HIDDEN = "spark.config.providers.sealed", "spark.config.connections.hidden"


def rules(policy: Path, canary: Canary) -> dict[str, Any]:
    """The shipped rules; ``canary.lake`` is the lake."""
    document: dict[str, Any] = json.loads(json.dumps(dict(read(policy).data)))
    for rule in document["rules"]:
        if rule["key"] == "path":
            rule["pattern"] = ".*"  # "paths" decides alone
    document["paths"].append({"type": "allow", "path": f"file:{canary.lake}/*"})
    return document


def _store(folder: Path, secret: str) -> dict[str, str]:
    """A sealed file with a secret that no rule gives to users, and a connection that needs it."""
    file, key = f"{folder}/shop.sealed", f"{folder}/shop.key"
    where = ["--file", file, "--key-file", key]
    with mock.patch.dict(os.environ, {"CANARY_VALUE": secret}):
        assert main(["seal", "create", "--new-key", *where]) == 0
        assert main(["seal", "set", *where, "private/login:password", "--from-env", "CANARY_VALUE"]) == 0
    return {
        "spark.config.providers": "files,sealed", f"{_STORE}.class": "sealed",
        f"{_STORE}.param.file": file, f"{_STORE}.param.key.file": key,
        f"{_HIDDEN}.format": "jdbc", f"{_HIDDEN}.option.url": "jdbc:derby:memory:hidden;create=true",
        f"{_HIDDEN}.option.password": "${sealed:private/login:password}",
    }  # fmt: skip


#: Seconds for one answer; a query that takes longer goes on without us.
PATIENCE = 20


class Answer(NamedTuple):
    """What came back: ``refused`` by the policy, ``failed`` otherwise, or ``answered``; and its text."""

    kind: str
    text: str


def refusal(text: str) -> Answer:
    return Answer("refused" if "42501" in text or REFUSED.search(text) else "failed", text)


class Server:
    """A server of one kind, in a process of its own."""

    def __init__(self, run: Run, kind: str, policy: Path, canary: Canary, class_path: Sequence[Path]) -> None:
        self.kind = kind
        self.canary = canary
        site = Site(run, canary.folder, rules(policy, canary), **_store(canary.folder, canary.text("secret")))
        own = canary.folder / kind
        drivers = sorted((ROOT / ".cache" / "jars").rglob("postgresql-*.jar"))
        confs = {"spark.master": "local[2]", "spark.driver.memory": "2g", "spark.ui.enabled": "true"}
        if kind == "thrift":
            confs |= {
                **hive(own), "spark.hadoop.hive.server2.thrift.port": "0",
                "spark.hadoop.hive.server2.thrift.bind.host": "127.0.0.1",
                "spark.hadoop.hive.server2.logging.operation.log.location": f"{own}/operations",
            }  # fmt: skip
        else:
            confs |= {
                "spark.connect.grpc.binding.port": "0", "spark.connect.grpc.binding.address": "127.0.0.1",
                "spark.sql.catalogImplementation": "in-memory",
            }  # fmt: skip
        options = f"-Dcanary={canary.text('property')} -XX:TieredStopAtLevel=1"
        env = {
            "CANARY": canary.text("variable"), "JDK_JAVA_OPTIONS": options,
            "SPARK_DIST_CLASSPATH": ":".join(map(str, [canary.classes, *drivers[:1], *class_path])),
        }  # fmt: skip
        program: list[str | Path] = ["spark-submit", "--class", _MAIN[kind], "spark-internal"]
        self.process = site.start(kind, program, env=env, **confs)
        self.port = int(self.process.wait_for(_STARTED, timeout=300)[1])

    def afterwards(self) -> str:
        """What the server's log and its pages show."""
        files = (self.process.log, *self.canary.folder.glob(f"{self.kind}/**/*.log"))
        texts = [file.read_text("utf-8", "replace") for file in files]
        port = self.process.wait_for(r"service 'SparkUI' on port (\d+)", timeout=1)[1]
        for page in _PAGES:
            with (
                contextlib.suppress(OSError),
                urllib.request.urlopen(f"http://127.0.0.1:{port}/{page}/", timeout=20) as answer,
            ):
                texts.append(answer.read().decode("utf-8", "replace"))
        # The property is a conf of this server, which its pages show.
        return "\n".join(texts).replace(self.canary.text("property"), "")

    def properties(self) -> list[str]:
        """The system properties of the server's JVM; spark-submit's shells end as this process."""
        command = [str(Path(java()).with_name("jcmd")), str(self.process.pid), "VM.system_properties"]
        found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60).stdout
        return found.replace("\\:", ":").splitlines()
