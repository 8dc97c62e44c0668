"""A real Kafka broker, private to a run: one KRaft node on loopback, whose clients authenticate with SCRAM."""

from __future__ import annotations

import secrets
import socket
import time
from pathlib import Path
from typing import Any

from support.maven import maven_jars
from support.processes import Child, Run, wait_until
from support.spark_home import java, spark_home

_HOST = "127.0.0.1"
_BROKER = "3.9.2"
_MECHANISM = "SCRAM-SHA-256"
_SESSION_MS = 1000

#: Spark's version to the connector's Scala, and to the versions of connector, its token provider, kafka-clients and
#: commons-pool2. Not all versions are in all mirrors of Maven's repository, and 4.3's connector was in none when this
#: was written: those of older minor versions work. The tests use no delegation tokens.
_CONNECTORS = {
    "3.5": ("2.12", "3.5.7", "3.5.7", "3.4.1", "2.11.1"),
    "4.0": ("2.13", "4.0.2", "4.0.0", "3.9.1", "2.12.0"),
    "4.1": ("2.13", "4.1.1", "4.0.0", "3.9.1", "2.12.1"),
    "4.2": ("2.13", "4.2.0", "4.0.0", "3.9.2", "2.13.1"),
    "4.3": ("2.13", "4.2.0", "4.0.0", "3.9.2", "2.13.1"),
}


def connector_jars(run: Run, *, cache: Path) -> list[Path]:
    """The jars of ``spark-sql-kafka-0-10`` for this environment's Spark."""
    (core,) = (spark_home() / "jars").glob("spark-core_*.jar")
    spark = ".".join(core.stem.rpartition("-")[2].split(".")[:2])
    scala, connector, tokens, clients, pool = _CONNECTORS[spark]
    coordinates = [
        f"org.apache.spark:spark-sql-kafka-0-10_{scala}:{connector}",
        f"org.apache.spark:spark-token-provider-kafka-0-10_{scala}:{tokens}",
        f"org.apache.kafka:kafka-clients:{clients}",
        f"org.apache.commons:commons-pool2:{pool}",
    ]
    return maven_jars(run, f"kafka-connector-{connector}", coordinates, cache=cache, transitive=False)


class KafkaBroker:
    """A running broker.

    Attributes:
        servers: ``bootstrap.servers`` for clients with user and password. A connection lives for a second before its
            client has to log in again, so that a password that was changed is refused soon.
    """

    def __init__(self, run: Run, *, cache: Path) -> None:
        """Start it and wait until it answers.

        Raises:
            HarnessError: it cannot be started; the error names the log.
        """
        ports = _free_ports(3)
        self.servers = f"{_HOST}:{ports[0]}"
        self._inside = f"{_HOST}:{ports[1]}"
        home = run.private_dir("kafka")
        properties = {
            "process.roles": "broker,controller",
            "node.id": "1",
            "controller.quorum.voters": f"1@{_HOST}:{ports[2]}",
            "listeners": f"CLIENT://{self.servers},INSIDE://{self._inside},CONTROLLER://{_HOST}:{ports[2]}",
            "advertised.listeners": f"CLIENT://{self.servers},INSIDE://{self._inside}",
            "listener.security.protocol.map": "CLIENT:SASL_PLAINTEXT,INSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "inter.broker.listener.name": "INSIDE",
            "controller.listener.names": "CONTROLLER",
            "sasl.enabled.mechanisms": f"{_MECHANISM},OAUTHBEARER",
            # Kafka's own validator, which takes tokens that nobody has signed.
            "listener.name.client.oauthbearer.sasl.jaas.config": (
                "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;"
            ),
            "listener.name.client.oauthbearer.connections.max.reauth.ms": "3600000",
            f"listener.name.client.{_MECHANISM.lower()}.sasl.jaas.config": (
                "org.apache.kafka.common.security.scram.ScramLoginModule required;"
            ),
            f"listener.name.client.{_MECHANISM.lower()}.connections.max.reauth.ms": str(_SESSION_MS),
            "log.dirs": str(home / "data"),
            "offsets.topic.replication.factor": "1",
            "offsets.topic.num.partitions": "1",
            "transaction.state.log.replication.factor": "1",
            "transaction.state.log.min.isr": "1",
            "group.initial.rebalance.delay.ms": "0",
            "auto.create.topics.enable": "false",
            "num.network.threads": "2",
            "num.io.threads": "2",
            "log.cleaner.enable": "false",
        }
        self._properties = home / "server.properties"
        self._properties.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
        coordinates = [f"org.apache.kafka:kafka_2.13:{_BROKER}", "org.slf4j:slf4j-simple:1.7.36"]
        jars = maven_jars(run, f"kafka-broker-{_BROKER}", coordinates, cache=cache)
        self._command = [
            java(), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info", "-cp", ":".join(map(str, jars)),
        ]  # fmt: skip
        cluster = secrets.token_urlsafe(16)
        tool = [
            "kafka.tools.StorageTool",
            "format",
            "--cluster-id",
            f"A{cluster[1:]}",
            "--config",
            self._properties,
        ]
        done = run.start("kafka-format", [*self._command, *tool])
        assert done.wait(timeout=60) == 0, done.output()
        self._child: Child = run.start("kafka", [*self._command, "kafka.Kafka", self._properties])
        self._child.wait_for("Kafka Server started", timeout=40)

    def stop(self) -> None:
        """End it at once: its data goes with the run."""
        self._child.process.kill()
        self._child.stop()

    def options(self, user: str, password: str) -> dict[str, str]:
        """What a Spark reader or writer needs; ``password`` may hold a reference."""
        return {
            "kafka.bootstrap.servers": self.servers,
            "kafka.security.protocol": "SASL_PLAINTEXT",
            "kafka.sasl.mechanism": _MECHANISM,
            "kafka.sasl.jaas.config": (
                "org.apache.kafka.common.security.scram.ScramLoginModule required"
                f' username="{user}" password="{password}";'
            ),
        }

    def set_password(self, jvm: Any, user: str, password: str) -> None:
        """Make or change a user; waits until the broker knows the password.

        Args:
            jvm: of a Spark session with kafka-clients on its class path.
        """
        clients = jvm.org.apache.kafka.clients.admin
        kind = getattr(clients.ScramMechanism, _MECHANISM.replace("-", "_"))
        change = clients.UserScramCredentialUpsertion(user, clients.ScramCredentialInfo(kind, 4096), password)
        admin = self._admin(jvm)
        admin.alterUserScramCredentials([change]).all().get()
        admin.close()
        wait_until("the broker to take a password", lambda: self.accepts(jvm, user, password), timeout=30)

    def outlive_sessions(self) -> None:
        """Wait until every connection that stands now has to log in again, so that its old password is refused.

        Time alone ends a session, and the broker tells nobody: it looks at its clock when the next request comes.
        """
        time.sleep(_SESSION_MS / 1000 * 1.2)

    def token_options(self, reference: str) -> dict[str, str]:
        """What a Spark reader or writer needs to log in with tokens; ``reference`` stands without its braces."""
        return {
            "kafka.bootstrap.servers": self.servers,
            "kafka.security.protocol": "SASL_PLAINTEXT",
            "kafka.sasl.mechanism": "OAUTHBEARER",
            "kafka.sasl.login.callback.handler.class": "io.sparkconfig.kafka.ReferenceOAuthBearer",
            "kafka.sasl.jaas.config": (
                "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
                f' reference="{reference}";'
            ),
        }

    def accepts(self, jvm: Any, user: str, password: str) -> bool:
        """Whether a client with this password can log in."""
        return self.lets_in(jvm, self.options(user, password))

    def lets_in(self, jvm: Any, options: dict[str, str]) -> bool:
        """Whether a client with these options can log in."""
        from py4j.protocol import Py4JJavaError

        given = {key.removeprefix("kafka."): text for key, text in options.items()}
        admin = self._admin(jvm, **given)
        try:
            admin.describeCluster().nodes().get()
        except Py4JJavaError as error:
            if "SaslAuthenticationException" not in str(error.java_exception):
                raise
            return False
        finally:
            admin.close()
        return True

    def create_topic(self, jvm: Any, name: str, partitions: int = 1) -> None:
        """Make a topic."""
        admin = self._admin(jvm)
        optional = jvm.java.util.Optional
        topic = jvm.org.apache.kafka.clients.admin.NewTopic(name, optional.of(partitions), optional.empty())
        admin.createTopics([topic]).all().get()
        admin.close()

    def _admin(self, jvm: Any, **confs: str) -> Any:
        texts = jvm.java.util.HashMap()
        for key, text in {"bootstrap.servers": self._inside, **confs}.items():
            texts.put(key, text)
        return jvm.org.apache.kafka.clients.admin.Admin.create(texts)


def _free_ports(number: int) -> list[int]:
    sockets = [socket.socket() for _ in range(number)]
    try:
        for each in sockets:
            each.bind((_HOST, 0))
        return [int(each.getsockname()[1]) for each in sockets]
    finally:
        for each in sockets:
            each.close()
