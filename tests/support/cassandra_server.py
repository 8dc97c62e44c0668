"""A Cassandra of one node, from Maven's ``cassandra-all``, with passwords and rights."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.maven import maven_jars
from support.postgres import free_port, new_password
from support.processes import HarnessError, Run, wait_until
from support.spark_home import java

VERSION = "5.0.5"
_HOST = "127.0.0.1"
# What the distribution's conf/jvm17-server.options has.
_EXPORTS = (
    "java.base/jdk.internal.misc", "java.base/jdk.internal.ref", "java.base/sun.nio.ch", "java.rmi/sun.rmi.registry",
    "java.management.rmi/com.sun.jmx.remote.internal.rmi", "java.rmi/sun.rmi.server",
    "java.rmi/sun.rmi.transport.tcp", "java.sql/java.sql",
)  # fmt: skip
_OPENS = (
    "java.base/java.lang", "java.base/java.lang.module", "java.base/java.lang.reflect", "java.base/java.io",
    "java.base/java.nio", "java.base/java.util", "java.base/java.util.concurrent",
    "java.base/java.util.concurrent.atomic", "java.base/jdk.internal.loader", "java.base/jdk.internal.ref",
    "java.base/jdk.internal.reflect", "java.base/jdk.internal.math", "java.base/jdk.internal.module",
    "java.base/jdk.internal.util.jar", "java.base/sun.nio.ch", "jdk.management/com.sun.management.internal",
)  # fmt: skip
_CONF = """\
cluster_name: sparkconfig
num_tokens: 1
partitioner: org.apache.cassandra.dht.Murmur3Partitioner
authenticator: PasswordAuthenticator
authorizer: CassandraAuthorizer
roles_validity: 0ms
permissions_validity: 0ms
credentials_validity: 0ms
listen_address: {host}
rpc_address: {host}
storage_port: {storage}
native_transport_port: {port}
seed_provider:
  - class_name: org.apache.cassandra.locator.SimpleSeedProvider
    parameters: [{{seeds: "{host}:{storage}"}}]
endpoint_snitch: SimpleSnitch
commitlog_sync: periodic
commitlog_sync_period: 10000ms
commitlog_disk_access_mode: legacy
data_file_directories: [{home}/data]
commitlog_directory: {home}/commitlog
saved_caches_directory: {home}/saved
hints_directory: {home}/hints
"""
_LOGGING = """\
<configuration>
  <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d %level %logger %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="OUT"/></root>
</configuration>
"""


class CassandraServer:
    """The server and its administrator, whose password is new."""

    def __init__(self, run: Run, *, cache: Path) -> None:
        """Start it and wait until the administrator is let in.

        Raises:
            HarnessError: it does not come up; its log says why.
        """
        self._run = run
        self.host, self.port, self._jmx = _HOST, free_port(), free_port()
        home = run.private_dir("cassandra")
        text = _CONF.format(host=_HOST, storage=free_port(), port=self.port, home=home)
        conf = run.private_file("cassandra/cassandra.yaml", text)
        run.private_file("cassandra/logback.xml", _LOGGING)
        jars = maven_jars(
            run, f"cassandra-{VERSION}", [f"org.apache.cassandra:cassandra-all:{VERSION}"], cache=cache
        )
        self._java = [
            java(), "-XX:+UseSerialGC", *(f"--add-exports={each}=ALL-UNNAMED" for each in _EXPORTS),
            *(f"--add-opens={each}=ALL-UNNAMED" for each in _OPENS), "-Djdk.attach.allowAttachSelf=true",
            f"-Dcassandra.storagedir={home}", f"-Dcassandra.config={conf.as_uri()}",
            "-cp", ":".join(map(str, [home, *jars])),
        ]  # fmt: skip
        flags = [
            "-Xmx512m", "-Dcassandra-foreground=yes", f"-Dcassandra.jmx.local.port={self._jmx}",
            "-Dcassandra.superuser_setup_delay_ms=0", "-Dcassandra.skip_wait_for_gossip_to_settle=0",
        ]  # fmt: skip
        main = "org.apache.cassandra.service.CassandraDaemon"
        server = run.start("cassandra", [self._java[0], *flags, *self._java[1:], main])
        server.wait_for("Created default superuser role", timeout=120)
        self._admin = "cassandra", "cassandra"
        password = new_password()
        self.cql("CREATE ROLE boss WITH PASSWORD=%s AND LOGIN=true AND SUPERUSER=true", password)
        self._admin = "boss", password
        self.cql("DROP ROLE cassandra")

    def cql(self, statement: str, *values: str) -> list[Any]:
        """The rows of a statement of the administrator's."""
        with self._session(*self._admin) as session:
            return list(session.execute(statement, values))

    def lets_in(self, user: str, password: str) -> bool:
        from cassandra.cluster import NoHostAvailable

        try:
            with self._session(user, password):
                return True
        except NoHostAvailable as error:
            if "AuthenticationFailed" not in repr(error):
                raise
            return False

    def connections(self, user: str) -> int:
        """How many there are now."""
        rows = self.cql("SELECT username FROM system_views.clients")
        return sum(row.username == user for row in rows)

    def cut(self) -> None:
        """End all connections of clients, and take new ones."""
        for command in ("disablebinary", "enablebinary"):
            tool = ["org.apache.cassandra.tools.NodeTool", "-h", _HOST, "-p", str(self._jmx), command]
            done = self._run.start(f"nodetool-{command}", [*self._java, *tool])
            if done.wait(timeout=60) != 0:
                raise HarnessError(f"nodetool {command} failed: {done.output()[-1000:]}")
        wait_until("Cassandra to take connections", self._answers, timeout=60)

    def _answers(self) -> bool:
        from cassandra.cluster import NoHostAvailable

        try:
            return bool(self.cql("SELECT key FROM system.local"))
        except NoHostAvailable:
            return False

    @contextmanager
    def _session(self, user: str, password: str) -> Iterator[Any]:
        from cassandra.auth import PlainTextAuthProvider
        from cassandra.cluster import Cluster

        login = PlainTextAuthProvider(user, password)
        cluster = Cluster([_HOST], port=self.port, auth_provider=login, connect_timeout=30)
        try:
            yield cluster.connect()
        finally:
            cluster.shutdown()
