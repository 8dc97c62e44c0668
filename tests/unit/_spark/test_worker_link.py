"""How a Python worker finds its executor and what it takes for an answer; the executor is a stand-in of ours."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sparkconfig._spark import worker_link
from sparkconfig.errors import AgentError, PolicyViolationError, UnresolvedReferenceError

TOKEN = "a-token-of-this-executor"
Answers = list[bytes]


def frame(answer: object) -> bytes:
    body = json.dumps(answer).encode()
    return struct.pack(">i", len(body)) + body


class Executor:
    """Listens in a folder, keeps what it is asked, and answers with what it was given."""

    def __init__(self, folder: Path, answers: Answers) -> None:
        folder.mkdir(mode=0o700)
        (folder / "version").write_bytes(bytes(8))
        self.folder = folder
        self.asked: list[dict[str, object]] = []
        self._answers = answers
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(str(folder / "s"))
        self._socket.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        try:
            peer, _ = self._socket.accept()
        except OSError:
            return
        with peer, peer.makefile("rb") as stream:
            for answer in self._answers:
                head = stream.read(4)
                if len(head) < 4:
                    return
                self.asked.append(json.loads(stream.read(*struct.unpack(">i", head))))
                peer.sendall(answer)

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()


Start = Callable[..., Executor]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Start an executor, and tell this process where it is."""
    started: list[Executor] = []

    def executor(*answers: object) -> Executor:
        raw = [answer if isinstance(answer, bytes) else frame(answer) for answer in answers]
        started.append(Executor(tmp_path / "executor", [frame({"ok": True}), *raw]))
        told = {"folder": str(started[-1].folder), "token": TOKEN}
        monkeypatch.setenv("SPARKCONFIG_WORKER", json.dumps(told))
        return started[-1]

    yield executor
    for each in started:
        each.close()


def test_the_token_comes_first_and_values_are_secrets(start: Start) -> None:
    values = {"a": {"value": "correct-horse"}, "b": {"value": "plain", "secret": False}}
    executor = start({"ok": True, "generation": 7, "values": values})
    link = worker_link.connect()
    generation, found = link.snapshot()
    link.close()
    assert executor.asked == [{"token": TOKEN}, {"op": "snapshot"}]
    assert generation == 7
    assert found["a"].reveal() == "correct-horse"
    assert "correct-horse" not in repr(found)
    assert found["b"] == "plain"


def test_siblings_travel_only_where_commands_name_other_keys(start: Start) -> None:
    answer = {"ok": True, "generation": 1, "values": {}, "ids": ["x", "y"], "texts": []}
    executor = start(answer)
    link = worker_link.connect()
    assert link.resolve(["${envvar:A}", "$[envVar=A]"], {"other": "key"}) == (1, {}, ["x", "y"], frozenset())
    link.close()
    first, second = executor.asked[1]["expressions"]
    assert (first["siblings"], second["siblings"]) == ({}, {"other": "key"})


@pytest.mark.parametrize("how", ["readable by others", "a link"])
def test_a_folder_that_others_could_have_made_gets_no_token(
    how: str, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executor = start()
    if how == "a link":
        (tmp_path / "link").symlink_to(executor.folder)
        told = {"folder": str(tmp_path / "link"), "token": TOKEN}
        monkeypatch.setenv("SPARKCONFIG_WORKER", json.dumps(told))
    else:
        executor.folder.chmod(0o755)
    with pytest.raises(AgentError, match="no executor"):
        worker_link.connect()
    assert executor.asked == []


@pytest.mark.parametrize(
    "answer", [b"", b"\x00\x00", struct.pack(">i", 50) + b'{"ok": true', struct.pack(">i", 9) + b"correct-h"]
)
def test_an_answer_that_breaks_off_is_no_answer(answer: bytes, start: Start) -> None:
    start(answer)
    link = worker_link.connect()
    with pytest.raises(AgentError, match="does not answer") as caught:
        link.snapshot()
    assert "correct" not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("message", "error", "told"),
    [
        (
            "2 references cannot be resolved:\n  - a: is not there\n  - b: refused",
            UnresolvedReferenceError,
            "b: refused",
        ),
        ("the operator's policy refused the reference", PolicyViolationError, "operator's policy"),
        ("the executor is stopping", AgentError, "stopping"),
        ("", AgentError, "its log may"),
    ],
)
def test_what_the_executor_refuses_is_the_same_error_as_on_the_driver(
    message: str, error: type[Exception], told: str, start: Start
) -> None:
    start({"ok": False, "message": message})
    link = worker_link.connect()
    with pytest.raises(error, match=told):
        link.resolve(["${envvar:A}"], {})
    link.close()
