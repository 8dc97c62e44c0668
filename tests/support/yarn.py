"""A real YARN with a real HDFS, private to a run: two nodes that run containers, on loopback, from Maven."""

from __future__ import annotations

import io
import os
import shutil
import sys
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol
from xml.sax.saxutils import escape

from support.maven import maven_jars
from support.postgres import free_port
from support.processes import Child, Run
from support.spark_home import java, spark_environment

VERSION = "3.5.0"
_HOST = "127.0.0.1"
_COORDINATES = [
    f"org.apache.hadoop:{name}:{VERSION}"
    for name in (
        "hadoop-yarn-server-resourcemanager", "hadoop-yarn-server-nodemanager", "hadoop-yarn-server-timelineservice",
        "hadoop-yarn-client", "hadoop-common", "hadoop-hdfs",
    )
]  # fmt: skip


class Within(Protocol):
    """Where a daemon starts, such as a `support.node.Node`."""

    def command(self, user: str) -> tuple[str, ...]:
        """What its command line begins with."""


class Yarn:
    """The daemons and their folder, in which everything lies that they and their containers write.

    Attributes:
        files: ``fs.defaultFS``.
        pages: the start pages of the daemons, the resource manager's last.
        managers: the node managers.
    """

    def __init__(
        self, run: Run, *, cache: Path, name: str, nodes: Sequence[Within], owner: tuple[str, int],
    ) -> None:  # fmt: skip
        """Start HDFS, then YARN, and wait until both nodes are there.

        Args:
            name: of its folder in the run.
            nodes: where the two node managers start.
            owner: the user that they run as there, by name and number; containers have the same.

        Raises:
            HarnessError: a daemon does not come up; the error names its log.
        """
        self._run, self._name = run, name
        self._children: list[Child] = []
        self.home = run.private_dir(name)
        self.home.chmod(0o755)
        self.conf = self.home / "conf"
        self._jars = maven_jars(run, f"hadoop-yarn-{VERSION}", _COORDINATES, cache=cache)
        # Without these folders the daemons of HDFS do not start their pages.
        for name in ("conf", "tmp", "stubs/webapps/hdfs", "stubs/webapps/datanode"):
            (self.home / name).mkdir(parents=True)
        (self.home / "tmp").chmod(0o1777)
        self._java = [
            java(), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
        ]  # fmt: skip
        ports = {name: f"{_HOST}:{free_port()}" for name in _ADDRESSES}
        self.files = f"hdfs://{ports['dfs.namenode.rpc-address']}"
        self.pages = [f"http://{ports[name]}/" for name in _PAGES]
        self._write(self.conf, ports)
        for number in range(1, len(_NODES) + 1):
            self._write_node(number, owner[1])
        formatted = self._start("format", "hdfs.server.namenode.NameNode", "-format", "-nonInteractive")
        assert formatted.wait(timeout=60) == 0, formatted.output()
        self._start("namenode", "hdfs.server.namenode.NameNode")
        self._start("datanode", "hdfs.server.datanode.DataNode").wait_for(
            "Successfully sent block report", timeout=90
        )
        resources = self._start("resourcemanager", "yarn.server.resourcemanager.ResourceManager")
        self.managers = [
            self._start(
                f"nodemanager-{number}", "yarn.server.nodemanager.NodeManager",
                before=nodes[number - 1].command(owner[0]), conf=self._node(number) / "conf",
            )
            for number in range(1, len(_NODES) + 1)
        ]  # fmt: skip
        resources.wait_for("(?s)" + "Node Transitioned from NEW to RUNNING.*" * len(_NODES), timeout=90)

    def stop(self) -> None:
        """End the daemons, the newest first."""
        for child in reversed(self._children):
            child.stop()

    def start(self, name: str, command: Sequence[str | Path], env: Mapping[str, str] | None = None) -> Child:
        """Start a program with this cluster in its environment."""
        env = {
            **spark_environment(self.conf, self.home / "tmp"),
            "HADOOP_CONF_DIR": str(self.conf),
            "PYSPARK_PYTHON": sys.executable,
            **(env or {}),
        }
        return self._run.start(name, command, env=env)

    def hdfs(self, name: str, *arguments: str) -> str:
        """The output of a command of ``hdfs dfs``."""
        return self.hadoop(name, "fs.FsShell", *arguments)

    def hadoop(self, name: str, main: str, *arguments: str, env: Mapping[str, str] | None = None) -> str:
        """The output of one of Hadoop's programs."""
        child = self._start(name, main, *arguments, env=env)
        assert child.wait(timeout=60) == 0, child.output()
        return child.output()

    def written(self) -> Iterator[tuple[str, bytes]]:
        """Every file of the daemons and their containers by its name below `home`; archives also by their members.

        The files of HDFS are among them, as blocks. Jars, and files that are not of a job, such as Python's, are not.
        """
        for path in self.home.rglob("*"):
            if path.suffix in (".jar", ".py", ".pyc") or path.is_symlink() or not path.is_file():
                continue
            body, name = path.read_bytes(), path.relative_to(self.home).as_posix()
            yield name, body
            if body.startswith(b"PK"):
                with zipfile.ZipFile(io.BytesIO(body)) as archive:
                    for member in archive.namelist():
                        if not member.endswith((".class", ".py", "/")):
                            yield f"{name}/{member}", archive.read(member)

    def _start(
        self, name: str, main: str, *arguments: str, before: Sequence[str] = (), conf: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Child:  # fmt: skip
        places = ":".join(map(str, [conf or self.conf, self.home / "stubs", *self._jars]))
        command = [*before, *self._java, "-cp", places, f"org.apache.hadoop.{main}", *arguments]
        user = {} if before else {"HADOOP_USER_NAME": os.environ.get("USER", "root")}
        child = self._run.start(f"{self._name}-{name}", command, env={**user, **(env or {})})
        self._children.append(child)
        return child

    def _node(self, number: int) -> Path:
        return self.home / f"node-{number}"

    def _write_node(self, number: int, owner: int) -> None:
        """Write the configuration of a node manager, and make its folders."""
        home = self._node(number)
        for name in ("local", "logs"):
            (home / name).mkdir(parents=True)
            os.chown(home / name, owner, owner)
        ports = {name: f"{_NODES[number - 1]}:{free_port()}" for name in _NODE_ADDRESSES}
        self.pages.insert(-1, f"http://{ports['yarn.nodemanager.webapp.address']}/")
        confs = {
            **self._yarn_site,
            "yarn.nodemanager.local-dirs": f"{home}/local",
            "yarn.nodemanager.log-dirs": f"{home}/logs",
            **ports,
        }
        shutil.copytree(self.conf, home / "conf")
        (home / "conf" / "yarn-site.xml").write_text(hadoop_xml(confs))

    def _write(self, conf: Path, ports: Mapping[str, str]) -> None:
        home = self.home
        self._yarn_site = {
            # What is killed starts once more, if the application wants that, too.
            "yarn.resourcemanager.am.max-attempts": "2",
            # What containers had stays, to be searched.
            "yarn.nodemanager.delete.debug-delay-sec": "3600",
            "yarn.nodemanager.resource.memory-mb": "4096",
            "yarn.nodemanager.resource.cpu-vcores": "3",
            "yarn.nodemanager.vmem-check-enabled": "false",
            "yarn.nodemanager.pmem-check-enabled": "false",
            "yarn.nodemanager.disk-health-checker.enable": "false",
            # A node looks at its start all the same, and has no directories left on a disk that is 90 % full.
            "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": "100",
            "yarn.scheduler.minimum-allocation-mb": "128",
            "yarn.timeline-service.enabled": "false",
            **{key: address for key, address in ports.items() if key.startswith("yarn")},
        }
        files = {
            "core-site": {"fs.defaultFS": self.files, "hadoop.tmp.dir": str(home / "tmp")},
            "hdfs-site": {
                "dfs.replication": "1",
                "dfs.namenode.name.dir": f"file://{home}/name",
                "dfs.datanode.data.dir": f"file://{home}/data",
                "dfs.permissions.superusergroup": "root",
                **{key: address for key, address in ports.items() if key.startswith("dfs")},
            },
            "yarn-site": self._yarn_site,
            "capacity-scheduler": {
                "yarn.scheduler.capacity.root.queues": "default",
                "yarn.scheduler.capacity.root.default.capacity": "100",
                "yarn.scheduler.capacity.maximum-am-resource-percent": "1.0",
                # Cores count too: with two of three cores each, two executors never share a node.
                "yarn.scheduler.capacity.resource-calculator": (
                    "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator"
                ),
            },
        }
        for name, confs in files.items():
            (conf / f"{name}.xml").write_text(hadoop_xml(confs))
        # Of the daemons; Spark has Log4j 2.
        (conf / "log4j.properties").write_text(_LOGGING)


def hadoop_xml(confs: Mapping[str, str]) -> str:
    """A file of confs, as Hadoop and Hive have them."""
    text = "".join(
        f"<property><name>{key}</name><value>{escape(value)}</value></property>"
        for key, value in confs.items()
    )
    return f"<configuration>{text}</configuration>"


_LOGGING = """\
log4j.rootLogger=INFO, console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d %p %c: %m%n
"""
#: The addresses of the node managers.
_NODES = (_HOST, "127.0.0.2")
_PAGES = ("dfs.namenode.http-address", "yarn.resourcemanager.webapp.address")
_ADDRESSES = (
    "dfs.namenode.rpc-address", "dfs.namenode.http-address", "dfs.datanode.address", "dfs.datanode.http.address",
    "dfs.datanode.ipc.address", "yarn.resourcemanager.address", "yarn.resourcemanager.scheduler.address",
    "yarn.resourcemanager.resource-tracker.address", "yarn.resourcemanager.admin.address",
    "yarn.resourcemanager.webapp.address",
)  # fmt: skip
_NODE_ADDRESSES = (
    "yarn.nodemanager.address", "yarn.nodemanager.localizer.address", "yarn.nodemanager.webapp.address",
)  # fmt: skip
