"""Kafka: references as values of options, and references that Kafka's clients resolve themselves (KIP-421)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException

from spark.options.conftest import FRONTS
from spark.options.doors import Doors
from spark.options.test_options_stream import run
from support.leaks import LeakFinder

pytestmark = pytest.mark.spark

USER = "sender"
PROVIDER = {
    "kafka.config.providers": "sparkconfig",
    "kafka.config.providers.sparkconfig.class": "io.sparkconfig.kafka.ReferenceConfigProvider",
}


@dataclass
class Site:
    """The broker, and the application that all doors share.

    Attributes:
        late: whether Kafka's clients resolve the reference themselves.
    """

    doors: Doors
    broker: Any
    late: bool

    @property
    def jvm(self) -> Any:
        return self.doors.classic._jvm

    def reference(self, key: str = "broker") -> str:
        written = self.doors.ref(key)
        return written.replace("${", "${sparkconfig:") if self.late else written

    def options(self, key: str = "broker") -> dict[str, str]:
        return self.broker.options(USER, self.reference(key)) | (PROVIDER if self.late else {})

    def rotate(self) -> None:
        # A double quote would end the password in the text of JAAS.
        password = f"{secrets.token_hex(8)}&<'+/%{secrets.token_hex(8)}"
        self.doors.passwords.insert(0, password)  # the last one is the database's
        self.doors.put(broker=password)
        self.broker.set_password(self.jvm, USER, password)

    def topic(self) -> str:
        name = self.doors.table("topic")
        self.broker.create_topic(self.jvm, name)
        return name

    def write(self, topic: str, *texts: str) -> None:
        frame = self.doors.spark.createDataFrame([(text,) for text in texts], "value string")
        frame.write.format("kafka").options(**self.options()).option("topic", topic).save()

    def load(self, topic: str) -> Any:
        return (
            self.doors.spark.read.format("kafka").options(**self.options()).option("subscribe", topic).load()
        )

    def read(self, topic: str) -> list[str]:
        return texts(self.doors, self.load(topic))


def texts(doors: Doors, frame: Any) -> list[str]:
    return doors.ids(frame.selectExpr("cast(value as string)"))


EACH_FRONT = pytest.mark.parametrize("site", [(front, False) for front in FRONTS], indirect=True, ids=FRONTS)
LATE = pytest.mark.parametrize("site", [("classic", True)], indirect=True, ids=["late"])
BOTH = pytest.mark.parametrize(
    "site", [("classic", False), ("classic", True)], indirect=True, ids=["value", "late"]
)


@pytest.fixture
def site(request, application, kafka) -> Site:
    """By values in options; what Kafka's clients resolve themselves follows rotations in test_kafka_cluster.py."""
    front, late = getattr(request, "param", ("classic", False))
    site = Site(application.through(front), kafka, late)
    site.rotate()
    return site


@EACH_FRONT
def test_batches(site):
    topic = site.topic()
    site.write(topic, "a", "b")
    frame = site.load(topic)
    assert texts(site.doors, frame) == ["a", "b"]
    site.rotate()
    site.broker.outlive_sessions()
    site.write(topic, "c")
    assert site.read(topic) == ["a", "b", "c"]


def test_a_named_connection(doors, kafka):
    """Batches and a stream with the connection's name, across a rotation; what it sets is nobody's to change."""
    site = Site(doors, kafka, late=False)
    doors.put(servers=kafka.servers)
    site.rotate()
    connection = {"sparkconfig.connection": "broker"}
    source, sink = site.topic(), site.topic()
    stream = doors.spark.readStream.format("kafka").options(**connection).option("subscribe", source)
    checkpoint = doors.path("checkpoint")
    for text in ("a", "b"):
        frame = doors.spark.createDataFrame([(text,)], "value string")
        frame.write.format("kafka").options(**connection).option("topic", source).save()
        writer = stream.option("startingOffsets", "earliest").load().writeStream.format("kafka")
        run(writer.options(**connection).option("topic", sink), doors, checkpoint)
        site.rotate()
        site.broker.outlive_sessions()
    read = doors.spark.read.format("kafka").options(**connection)
    assert texts(doors, read.option("subscribe", sink).load()) == ["a", "b"]
    for key in ("kafka.bootstrap.servers", "Kafka.Sasl.Jaas.Config", "kafka.ssl.truststore.location"):
        reader = doors.spark.read.format("kafka").options(**connection, subscribe=sink)
        with pytest.raises(AnalysisException, match="connection") as error:
            reader.option(key, "evil.example:9092").load().collect()
        doors.assert_hidden(str(error.value))


@EACH_FRONT
def test_streams_follow_at_their_restart(site):
    source, sink = site.topic(), site.topic()
    checkpoint = site.doors.path("checkpoint")
    reader = site.doors.spark.readStream.format("kafka").options(**site.options()).option("subscribe", source)
    frame = reader.option("startingOffsets", "earliest").load()
    for text in ("a", "b"):
        site.write(source, text)
        writer = frame.writeStream.format("kafka").options(**site.options()).option("topic", sink)
        run(writer, site.doors, checkpoint)
        site.rotate()
    assert site.read(sink) == ["a", "b"]


def test_a_sink_follows_within_a_query(site):
    source, sink = Path(site.doors.path("source")), site.topic()
    source.mkdir()
    frame = site.doors.spark.readStream.schema("value string").json(str(source))
    writer = frame.writeStream.format("kafka").options(**site.options()).option("topic", sink)
    writer = writer.option("checkpointLocation", site.doors.path("checkpoint"))
    query = writer.trigger(processingTime="100 milliseconds").start()
    try:
        for text in ("a", "b"):
            part = source / f".{text}"
            part.write_text(f'{{"value": "{text}"}}\n')
            part.rename(source / f"{text}.json")
            query.processAllAvailable()
            site.rotate()
            site.broker.outlive_sessions()
    finally:
        query.stop()
    assert site.read(sink) == ["a", "b"]


@BOTH
def test_a_missing_secret_is_named_before_anything_connects(site):
    options = {**site.options("nobody"), "topic": "t"}
    frame = site.doors.spark.range(1).selectExpr("cast(id as string) value")
    for act in (
        lambda: frame.write.format("kafka").options(**options).save(),
        lambda: site.doors.spark.read.format("kafka").options(**options, subscribe="t").load().collect(),
    ):
        with pytest.raises(AnalysisException) as error:
            act()
        message = str(error.value)
        assert "option 'kafka.sasl.jaas.config'" in message
        assert site.reference("nobody") in message
        assert "no key 'nobody'" in message
        site.doors.assert_hidden(message)


@LATE
def test_a_provider_without_its_class_is_refused(site):
    options = {**site.options(), "subscribe": "t"}
    del options["kafka.config.providers.sparkconfig.class"]
    with pytest.raises(AnalysisException, match=r"kafka\.config\.providers\.sparkconfig\.class"):
        site.doors.spark.read.format("kafka").options(**options).load().collect()


@BOTH
def test_what_travels_to_executors(site):
    topic = site.topic()
    site.write(topic, "a")
    rdd = site.load(topic)._jdf.queryExecution().toRdd()
    sent = bytes(site.jvm.org.apache.commons.lang3.SerializationUtils.serialize(rdd))
    assert topic.encode() in sent
    found = LeakFinder(site.doors.passwords).count(sent)
    # What the docs say of references as values: they are in tasks.
    assert (found == 0) is site.late
    assert (b"${sparkconfig:" in sent) is site.late
