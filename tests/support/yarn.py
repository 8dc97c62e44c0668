"""A real YARN with a real HDFS, private to a run: one node of each on loopback, from Maven."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from support.maven import maven_jars
from support.postgres import free_port
from support.processes import Child, Run
from support.spark_home import java, spark_environment, spark_home

VERSION = "3.5.0"
_HOST = "127.0.0.1"
_COORDINATES = [
    f"org.apache.hadoop:{name}:{VERSION}"
    for name in (
        "hadoop-yarn-server-resourcemanager", "hadoop-yarn-server-nodemanager", "hadoop-yarn-server-timelineservice",
        "hadoop-yarn-client", "hadoop-common", "hadoop-hdfs",
    )
]  # fmt: skip


class Yarn:
    """The daemons and their folder, in which everything lies that they and their containers write.

    Attributes:
        files: ``fs.defaultFS``.
        pages: the start pages of the daemons, the resource manager's last.
    """

    def __init__(self, run: Run, *, cache: Path) -> None:
        """Start HDFS, then YARN, and wait until a node is there.

        Raises:
            HarnessError: a daemon does not come up; the error names its log.
        """
        self._run = run
        self.home = run.private_dir("yarn")
        self.conf = self.home / "conf"
        jars = maven_jars(run, f"hadoop-yarn-{VERSION}", _COORDINATES, cache=cache)
        # Without these folders the daemons of HDFS do not start their pages.
        for name in ("conf", "tmp", "stubs/webapps/hdfs", "stubs/webapps/datanode"):
            (self.home / name).mkdir(parents=True)
        self._java = [
            java(), "-Xmx256m", "-XX:+UseSerialGC", "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "-cp", ":".join(map(str, [self.conf, self.home / "stubs", *jars])),
        ]  # fmt: skip
        ports = {name: f"{_HOST}:{free_port()}" for name in _ADDRESSES}
        self.files = f"hdfs://{ports['dfs.namenode.rpc-address']}"
        self.pages = [f"http://{ports[name]}/" for name in _PAGES]
        self._write(ports)
        formatted = self._start("format", "hdfs.server.namenode.NameNode", "-format", "-nonInteractive")
        assert formatted.wait(timeout=60) == 0, formatted.output()
        self._start("namenode", "hdfs.server.namenode.NameNode")
        self._start("datanode", "hdfs.server.datanode.DataNode").wait_for(
            "Successfully sent block report", timeout=90
        )
        resources = self._start("resourcemanager", "yarn.server.resourcemanager.ResourceManager")
        self._start("nodemanager", "yarn.server.nodemanager.NodeManager")
        resources.wait_for("Node Transitioned from NEW to RUNNING", timeout=90)

    def submit(self, name: str, application: Sequence[str | Path], *, properties: Mapping[str, str]) -> Child:
        """Start ``spark-submit`` with the confs in a file."""
        file = self._run.private_file(
            f"yarn/{name}.properties", "".join(f"{key} {text}\n" for key, text in properties.items())
        )
        command = [
            spark_home() / "bin" / "spark-submit",
            "--master",
            "yarn",
            "--properties-file",
            file,
            *application,
        ]
        return self.start(name, command)

    def start(self, name: str, command: Sequence[str | Path]) -> Child:
        """Start a program with this cluster in its environment."""
        env = {
            **spark_environment(self.conf, self.home / "tmp"),
            "HADOOP_CONF_DIR": str(self.conf),
            "PYSPARK_PYTHON": sys.executable,
        }
        return self._run.start(name, command, env=env)

    def hdfs(self, name: str, *arguments: str) -> str:
        """The output of a command of ``hdfs dfs``."""
        child = self._start(name, "fs.FsShell", *arguments)
        assert child.wait(timeout=60) == 0, child.output()
        return child.output()

    def _start(self, name: str, main: str, *arguments: str) -> Child:
        command = [*self._java, f"org.apache.hadoop.{main}", *arguments]
        return self._run.start(
            f"yarn-{name}", command, env={"HADOOP_USER_NAME": os.environ.get("USER", "root")}
        )

    def _write(self, ports: Mapping[str, str]) -> None:
        home = self.home
        files = {
            "core-site": {"fs.defaultFS": self.files, "hadoop.tmp.dir": str(home / "tmp")},
            "hdfs-site": {
                "dfs.replication": "1",
                "dfs.namenode.name.dir": f"file://{home}/name",
                "dfs.datanode.data.dir": f"file://{home}/data",
                "dfs.permissions.superusergroup": "root",
            },
            "yarn-site": {
                "yarn.resourcemanager.am.max-attempts": "1",
                "yarn.nodemanager.local-dirs": f"{home}/local",
                "yarn.nodemanager.log-dirs": f"{home}/logs",
                # What containers had stays, to be searched.
                "yarn.nodemanager.delete.debug-delay-sec": "3600",
                "yarn.nodemanager.resource.memory-mb": "6144",
                "yarn.nodemanager.resource.cpu-vcores": "4",
                "yarn.nodemanager.vmem-check-enabled": "false",
                "yarn.nodemanager.pmem-check-enabled": "false",
                "yarn.nodemanager.disk-health-checker.enable": "false",
                "yarn.scheduler.minimum-allocation-mb": "128",
                "yarn.timeline-service.enabled": "false",
            },
            "capacity-scheduler": {
                "yarn.scheduler.capacity.root.queues": "default",
                "yarn.scheduler.capacity.root.default.capacity": "100",
                "yarn.scheduler.capacity.maximum-am-resource-percent": "1.0",
            },
        }
        for key, address in ports.items():
            files["hdfs-site" if key.startswith("dfs") else "yarn-site"][key] = address
        for name, confs in files.items():
            text = "".join(
                f"<property><name>{key}</name><value>{escape(value)}</value></property>"
                for key, value in confs.items()
            )
            (self.conf / f"{name}.xml").write_text(f"<configuration>{text}</configuration>")
        # Of the daemons; Spark has Log4j 2.
        (self.conf / "log4j.properties").write_text(_LOGGING)


_LOGGING = """\
log4j.rootLogger=INFO, console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d %p %c: %m%n
"""
_PAGES = (
    "dfs.namenode.http-address",
    "yarn.nodemanager.webapp.address",
    "yarn.resourcemanager.webapp.address",
)
_ADDRESSES = (
    "dfs.namenode.rpc-address", "dfs.namenode.http-address", "dfs.datanode.address", "dfs.datanode.http.address",
    "dfs.datanode.ipc.address", "yarn.resourcemanager.address", "yarn.resourcemanager.scheduler.address",
    "yarn.resourcemanager.resource-tracker.address", "yarn.resourcemanager.admin.address",
    "yarn.resourcemanager.webapp.address", "yarn.nodemanager.address", "yarn.nodemanager.localizer.address",
    "yarn.nodemanager.webapp.address",
)  # fmt: skip
