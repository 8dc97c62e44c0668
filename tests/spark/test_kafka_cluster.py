"""Kafka's clients on executors of a cluster, where a task is tried again, with jars that came with the application."""

from __future__ import annotations

import base64
import json
import secrets
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from support.leaks import LeakFinder
from support.one_task import PausedRows, one_task
from support.processes import wait_until
from support.rotation import replace_file
from support.scala_objects import scala_object
from support.session import running_session
from support.shim import kafka_jar, shim_jar

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    # Spark 3.5 and 4.0 leave the sockets of collect() to the garbage collector.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

USER = "cluster-sender"
TOKEN_SECONDS = 8
PROVIDER = "io.sparkconfig.kafka.ReferenceConfigProvider"
ALLOWED = f"-Dorg.apache.kafka.automatic.config.providers={PROVIDER}"


@dataclass
class Site:
    """The application, the broker and the file that holds the password."""

    spark: Any
    broker: Any
    store: Path
    used: list[str] = field(default_factory=list, repr=False)

    @property
    def jvm(self) -> Any:
        return self.spark._jvm

    def options(self, **more: str) -> dict[str, str]:
        return {
            **self.broker.options(USER, f"${{sparkconfig:files:{self.store}:broker}}"),
            "kafka.config.providers": "sparkconfig",
            "kafka.config.providers.sparkconfig.class": PROVIDER,
            **more,
        }

    def rotate(self) -> None:
        """The store is changed; from now on the broker refuses the old password, also on connections that stand."""
        password = secrets.token_hex(12)
        self.used.append(password)
        part = self.store.with_suffix(".part")
        part.write_text(f"broker={password}\n")
        part.replace(self.store)
        scala_object(self.jvm, "io.sparkconfig.driver.DriverApi").refresh()
        self.broker.set_password(self.jvm, USER, password)
        self.broker.outlive_sessions()

    def write(self, topic: str, *texts: str) -> None:
        frame = self.spark.createDataFrame([(text,) for text in texts], "value string")
        frame.write.format("kafka").options(**self.options(topic=topic)).save()

    def read(self, topic: str, **more: str) -> list[str]:
        reader = self.spark.read.format("kafka").options(**self.options(subscribe=topic, **more))
        return sorted(row[0] for row in reader.load().selectExpr("cast(value as string)").collect())


@pytest.fixture(scope="module")
def site(cluster, kafka, kafka_connector, tmp_path_factory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("kafka")
    site = Site(None, kafka, folder / "store.properties")
    conf = {
        **cluster.application(),
        "spark.app.name": "kafka",
        "spark.jars": ",".join(map(str, [shim_jar(), kafka_jar(), *kafka_connector])),
        "spark.driver.extraJavaOptions": ALLOWED,
        "spark.executor.extraJavaOptions": ALLOWED,
        "spark.config.providers": "files",
        "spark.config.providers.files.class": "file",
        # No poll brings the news in time.
        "spark.config.poll.interval": "1h",
        # All of these tests, on executors too, under a rule that says where every value may go.
        "spark.config.override.policy": "Rules",
        "spark.config.override.policy.param.definition": json.dumps(
            {
                "references": [{"type": "allow", "provider": "*", "formats": "kafka", "to": kafka.servers}],
                "rules": [
                    {"key": key, "type": "unlimited"}
                    for key in ("spark.*.extraJavaOptions", "spark.authenticate*", "spark.ssl.*")
                ],
            }
        ),
    }
    with running_session(conf, folder=folder) as session:
        site.spark = session
        site.rotate()
        yield site


def test_batches_follow_a_rotation(site):
    site.broker.create_topic(site.jvm, "batches", partitions=2)
    site.write("batches", "a", "b")
    assert site.read("batches") == ["a", "b"]
    site.rotate()
    site.write("batches", "c", "d")
    assert site.read("batches") == ["a", "b", "c", "d"]


def test_other_brokers_get_nothing(site):
    """Neither past a door, nor from Kafka's own question for a client that nobody has looked at."""
    with pytest.raises(Exception, match="the rule names other destinations"):
        site.read(
            "batches", **{"kafka.bootstrap.servers": site.broker.servers.replace("127.0.0.1", "localhost")}
        )
    for params, said in (
        ({}, "not one of the options kafka.bootstrap.servers"),
        ({"brokers": "evil.example:9092"}, "the rule names other destinations"),
        ({"brokers": site.broker.servers}, None),
    ):
        provider = site.jvm.io.sparkconfig.kafka.ReferenceConfigProvider()
        provider.configure(params)
        if said is None:
            assert provider.get("files", {f"{site.store}:broker"}).data().size() == 1
        else:
            with pytest.raises(Exception, match=said):
                provider.get("files", {f"{site.store}:broker"})


def test_a_group_of_ones_own_keeps_no_consumer_with_the_old_password(site):
    site.broker.create_topic(site.jvm, "groups")
    site.write("groups", "a")
    group = {"kafka.group.id": "ours"}
    assert site.read("groups", **group) == ["a"]
    site.rotate()
    assert site.read("groups", **group) == ["a"]


def test_a_running_stream_follows_a_rotation(site, tmp_path):
    for topic in ("stream-in", "stream-out"):
        site.broker.create_topic(site.jvm, topic, partitions=2)
    reader = site.spark.readStream.format("kafka").options(**site.options(subscribe="stream-in"))
    writer = reader.option("startingOffsets", "earliest").load().writeStream.format("kafka")
    writer = writer.options(
        **site.options(topic="stream-out", checkpointLocation=str(tmp_path / "checkpoint"))
    )
    query = writer.trigger(processingTime="200 milliseconds").start()
    run = query.runId
    expected = []
    try:
        for text in ("a", "b", "c"):
            expected.append(text)
            site.write("stream-in", text)
            wait_until(f"row {text}", lambda: site.read("stream-out") == expected, timeout=60, interval=0.3)
            site.rotate()
        assert query.exception() is None
        assert query.runId == run
    finally:
        query.stop()


def token(life: float) -> str:
    """A token that nobody has signed, and that Kafka's own validator takes until its end."""
    now = time.time()
    parts = ({"alg": "none"}, {"sub": USER, "iat": now, "exp": int(now + life), "jti": secrets.token_hex(8)})
    texts = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts)
    return ".".join([*texts, ""])


def test_a_running_stream_logs_in_with_tokens_that_live_for_seconds(site, tmp_path):
    site.broker.create_topic(site.jvm, "tokens-in", partitions=2)
    for topic in ("tokens-out", "tokens-long"):
        site.broker.create_topic(site.jvm, topic)
    file, made = site.store.with_name("tokens.properties"), []
    stop = threading.Event()

    def mint() -> None:
        made.append(token(TOKEN_SECONDS))
        replace_file(file, f"first={made[0]}\ntoken={made[-1]}\n")

    def read(frame) -> set[str]:
        return {row[0] for row in frame.selectExpr("string(value)").collect()}

    def keep_minting() -> None:
        while not stop.wait(TOKEN_SECONDS / 4):
            mint()

    def write_long() -> None:
        frame = long.frame.selectExpr("string(id) value")
        with one_task(site.spark.sparkContext):
            frame.write.format("kafka").options(**options, topic="tokens-long").save()

    mint()
    options = site.broker.token_options(f"files:{file}:token")
    # Long before the end of a token, so that a busy machine misses none.
    options |= {
        "kafka.sasl.login.refresh.window.factor": "0.5",
        "kafka.sasl.login.refresh.window.jitter": "0",
    }
    held = site.spark.read.format("kafka").options(**options, subscribe="tokens-out").load()
    kept = site.spark.read.format("kafka").options(**options, subscribe="tokens-long").load()
    # One task writes with the first token and, when that has ended, goes on with a later one.
    long = PausedRows(site.spark, tmp_path, [1], [2])
    reader = site.spark.readStream.format("kafka").options(
        **options, subscribe="tokens-in", startingOffsets="earliest"
    )
    # The value alone: a column 'partition' would say where its row goes, and the second topic has one partition.
    writer = reader.load().select("value").writeStream.format("kafka").options(**options, topic="tokens-out")
    minting = threading.Thread(target=keep_minting)
    minting.start()
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint"))
    pool = ThreadPoolExecutor(1)
    writing = pool.submit(write_long)
    wait_until("the first row of the long task", lambda: writing.done() or read(kept) == {"1"}, timeout=60)
    assert not writing.done()
    query = writer.trigger(processingTime="200 milliseconds").start()
    begun, expected = time.monotonic(), []
    try:
        # Producers and consumers are pooled: they log in again by themselves.
        while len(expected) < 3 or time.monotonic() - begun < 1.5 * TOKEN_SECONDS:
            expected.append(str(len(expected)))
            row = (expected[-1], len(expected) % 2)
            frame = site.spark.createDataFrame([row], "value string, partition int")
            frame.write.format("kafka").options(**options, topic="tokens-in").save()
            # Kafka's sink writes at least once.
            wait_until(f"row {expected[-1]}", lambda: set(expected) == read(held), timeout=60, interval=0.3)
        assert query.exception() is None
        assert site.broker.lets_in(site.jvm, options)
        long.go_on()
        writing.result(60)
        assert read(kept) == {"1", "2"}
    finally:
        long.go_on()
        pool.shutdown()
        site.used.extend(made)
        stop.set()
        minting.join()
        query.stop()


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("files:{file}:none", r"tokens\.properties:none"),
        ("files:{file}:first", r"tokens\.properties:first}: the token has expired"),
        ("nobody::token", "unknown provider 'nobody'"),
        # Without the policy: "without its".
        ("${{files:{file}:first}}", "holds another login module"),
    ],
)
def test_tokens_that_are_not_there(site, reference, said):
    options = site.broker.token_options(reference.format(file=site.store.with_name("tokens.properties")))
    with pytest.raises(Exception, match=said) as error:
        site.spark.read.format("kafka").options(**options, subscribe="tokens-in").load().collect()
    assert LeakFinder(site.used).count(str(error.value).encode()) == 0


@pytest.mark.sparks(since="4.0")  # 3.5 has kafka-clients 3.4, which cannot restrict the classes of providers
def test_a_class_that_kafka_may_not_load_is_refused(site):
    options = site.options(subscribe="batches", **{"fetchOffset.numRetries": "1"})
    options["kafka.config.providers.sparkconfig.class"] = (
        "org.apache.kafka.common.config.provider.FileConfigProvider"
    )
    with pytest.raises(Exception, match=r"FileConfigProvider is not allowed"):
        site.spark.read.format("kafka").options(**options).load().collect()


def test_no_executor_log_shows_a_password(site, cluster):
    text = b"".join(path.read_bytes() for path in cluster.executor_logs())
    assert b"sasl.jaas.config = [hidden]" in text
    assert LeakFinder(site.used).count(text) == 0
