"""What travels to executors: snapshots are AES-GCM as `cryptography` reads it, and old values have a bound."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from leaks.support import bare_jvm
from support.scala_objects import scala_object

pytestmark = pytest.mark.spark
VALUE = "Canary-\u00e9-1"
SNAPSHOT = {"generation": 7, "values": {"${a:b}": {"value": VALUE, "secret": True}}, "redact": [VALUE]}


@pytest.fixture(scope="module")
def jvm() -> Iterator[object]:
    with bare_jvm() as gateway:
        yield gateway.jvm


@pytest.fixture(scope="module")
def key(jvm) -> bytes:
    return bytes(scala_object(jvm, "io.sparkconfig.executor.SnapshotCipher").newKey())


def _snapshot(jvm) -> object:
    mapper = jvm.com.fasterxml.jackson.databind.ObjectMapper()
    return jvm.io.sparkconfig.core.Snapshot.fromJson(mapper.readTree(json.dumps(SNAPSHOT)))


def test_python_reads_what_the_jvm_encrypts(jvm, key) -> None:
    sealed = bytes(jvm.io.sparkconfig.executor.SnapshotCipher(key).encrypt(_snapshot(jvm)))
    plain = AESGCM(key).decrypt(sealed[:12], sealed[12:], b"sparkconfig|7")
    assert json.loads(plain) == SNAPSHOT


def test_the_jvm_reads_what_python_encrypts(jvm, key) -> None:
    nonce = bytes(range(12))
    sealed = nonce + AESGCM(key).encrypt(nonce, json.dumps(SNAPSHOT).encode(), b"sparkconfig|7")
    read = jvm.io.sparkconfig.executor.SnapshotCipher(key).decrypt(7, sealed)
    assert read.generation() == 7
    assert json.loads(read.toJson().toString()) == SNAPSHOT
    assert "Canary" not in read.toString()


def test_a_block_of_another_generation_does_not_pass(jvm, key) -> None:
    sealed = bytes(jvm.io.sparkconfig.executor.SnapshotCipher(key).encrypt(_snapshot(jvm)))
    with pytest.raises(InvalidTag):
        AESGCM(key).decrypt(sealed[:12], sealed[12:], b"sparkconfig|8")
    with pytest.raises(Exception, match="AEADBadTag"):
        jvm.io.sparkconfig.executor.SnapshotCipher(key).decrypt(8, sealed)


def test_values_are_counted_for_ever_and_the_oldest_go_first(jvm) -> None:
    history = jvm.io.sparkconfig.executor.MaskHistory()

    def add(*values: str) -> None:
        sequence = jvm.scala.jdk.javaapi.CollectionConverters.asScala(list(values)).toSeq()
        history.add(sequence)

    add("a" * 1_500_000, "b" * 1_500_000)
    add("b" * 1_500_000, "c" * 1_500_000)
    found = [history.since(known) for known in range(4)]
    assert [pair._1() for pair in found] == [3] * 4
    assert [pair._2().size() for pair in found] == [2, 2, 1, 0]
