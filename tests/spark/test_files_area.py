"""The directory of one machine: who removes it, and what becomes of a killed process's files. Real JVMs."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from py4j.java_gateway import JavaGateway
from py4j.protocol import Py4JJavaError

from leaks.support import bare_jvm
from support.scala_objects import scala_object

pytestmark = pytest.mark.spark
SNAPSHOT = (
    '{"generation": 1, "values": {"${v:k}": {"value": "at \\u0002sparkconfig-file:aa\\u0003", "secret": false}},'
    ' "files": {"aa": {"name": "k.pem", "content": "Y2FuYXJ5"}}}'
)


@pytest.fixture(scope="module")
def living() -> Iterator[JavaGateway]:
    """A process that outlives the tests."""
    with bare_jvm() as process:
        yield process


@pytest.fixture
def first(living: JavaGateway) -> Iterator[JavaGateway]:
    yield living
    scala_object(living.jvm, "io.sparkconfig.files.LocalFiles").close()


def settings(jvm, base: Path, token: str, keep_ms: int = 60_000):
    return jvm.io.sparkconfig.files.FileSettings(str(base / f"sparkconfig-files-{token}"), True, keep_ms)


def place(jvm) -> str:
    """Write the snapshot's file and return the value with its path."""
    node = jvm.com.fasterxml.jackson.databind.ObjectMapper().readTree(SNAPSHOT)
    snapshot = jvm.io.sparkconfig.core.Snapshot.fromJson(node)
    placed = jvm.io.sparkconfig.files.LocalFiles.place(snapshot)
    return str(placed.localValues().get("${v:k}").get("value").asText())


def test_processes_share_a_directory_and_the_last_one_removes_it(first, tmp_path: Path) -> None:
    files = scala_object(first.jvm, "io.sparkconfig.files.LocalFiles")
    files.open(settings(first.jvm, tmp_path, "one"))
    value = place(first.jvm)
    path = Path(value.removeprefix("at "))
    assert (path.name, path.read_text()) == ("aa-k.pem", "canary")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    with bare_jvm() as second:
        second.jvm.io.sparkconfig.files.LocalFiles.open(settings(second.jvm, tmp_path, "one"))
        assert place(second.jvm) == value
    assert path.exists(), "the second process has ended, the first one has not"
    files.close()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_left_goes_with_the_next_one_that_starts(first, tmp_path: Path) -> None:
    living, killed, foreign = (
        tmp_path / f"sparkconfig-files-{name}" for name in ("living", "killed", "open")
    )
    first.jvm.io.sparkconfig.files.LocalFiles.open(settings(first.jvm, tmp_path, "living"))
    place(first.jvm)
    with bare_jvm() as other:
        other.jvm.io.sparkconfig.files.LocalFiles.open(settings(other.jvm, tmp_path, "killed"))
        place(other.jvm)
        os.kill(other.jvm.java.lang.ProcessHandle.current().pid(), signal.SIGKILL)
    assert (killed / "aa-k.pem").exists()
    foreign.mkdir(mode=0o755)
    with bare_jvm() as fresh:
        fresh.jvm.io.sparkconfig.files.LocalFiles.open(settings(fresh.jvm, tmp_path, "fresh"))
        place(fresh.jvm)
        assert not killed.exists()
        assert (living / "aa-k.pem").exists()
        assert foreign.exists(), "others can enter it: it is not ours"


@pytest.mark.parametrize("trap", ["link", "open"])
def test_a_directory_that_somebody_else_prepared_is_not_used(first, tmp_path: Path, trap: str) -> None:
    wanted, elsewhere = tmp_path / "sparkconfig-files-one", tmp_path / "elsewhere"
    elsewhere.mkdir()
    if trap == "link":
        wanted.symlink_to(elsewhere)
    else:
        wanted.mkdir(mode=0o755)
    first.jvm.io.sparkconfig.files.LocalFiles.open(settings(first.jvm, tmp_path, "one"))
    path = Path(place(first.jvm).removeprefix("at "))
    assert path.parent.name.startswith("sparkconfig-files-one-")
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(elsewhere.iterdir()) == []


def test_a_place_that_is_not_there_is_an_error_that_says_what_to_do(first, tmp_path: Path) -> None:
    first.jvm.io.sparkconfig.files.LocalFiles.open(settings(first.jvm, tmp_path / "no", "one"))
    with pytest.raises(Py4JJavaError) as caught:
        place(first.jvm)
    message = str(caught.value.java_exception.getMessage())
    assert str(tmp_path / "no") in message
    assert "spark.config.files.directory" in message
    assert "canary" not in message
