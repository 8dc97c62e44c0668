"""The side process' port is open to every user of the host: before the token it costs little to be called."""

from __future__ import annotations

import contextlib
import resource
import socket
import subprocess
import sys
import threading

import pytest

from sparkconfig.agent import server as module
from sparkconfig.agent.server import AgentServer
from support.processes import wait_until

TOKEN = "Canary-7b11-token"


class Echo:
    def call(self, method: str, request: str) -> str:
        return f"{method} {request}"


@pytest.fixture
def port() -> int:
    return AgentServer(Echo(), token=TOKEN).start()


def call(port: int) -> bytes:
    """One call, as the JVM makes it."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        stream = connection.makefile("rwb")
        stream.write(f"A\n{TOKEN}\ne\n".encode())
        stream.flush()
        assert stream.readline() == b"!yv\n"
        stream.write(b"c\nt\ncall\nsping\nspong\ne\n")
        stream.flush()
        return stream.readline()


def ended(connection: socket.socket) -> bool:
    connection.settimeout(20)
    with contextlib.suppress(ConnectionError):
        while connection.recv(1 << 10):
            pass
    return True


@pytest.mark.parametrize(
    "first", [b"", b"A\n", b"x" * 10, b"A\n" + b"x" * 10], ids=["line", "token", "text", "long"]
)
def test_a_line_without_an_end_is_cut_and_takes_no_memory(port, first):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(first)
        with contextlib.suppress(ConnectionError, BrokenPipeError):
            for _ in range(512):
                connection.sendall(b"x" * (1 << 18))
        assert ended(connection)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000
    assert b"ping pong" in call(port)


def test_a_hundred_idle_connections_take_few_threads_and_no_call_waits(port):
    before = threading.active_count()
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
        few = before + module._MOST_STRANGERS + 8
        wait_until("the strangers to be dropped", lambda: threading.active_count() <= few, timeout=60)
        assert b"ping pong" in call(port)


def test_a_connection_that_says_nothing_ends(port, monkeypatch):
    monkeypatch.setattr(module, "_STRANGERS_SECONDS", 0.1)
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        assert ended(connection)


def test_a_connection_with_the_token_may_be_idle_and_long(port, monkeypatch):
    monkeypatch.setattr(module, "_STRANGERS_SECONDS", 0.2)
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        stream = connection.makefile("rwb")
        stream.write(f"A\n{TOKEN}\ne\n".encode())
        stream.flush()
        assert stream.readline() == b"!yv\n"
        # Longer than strangers have: nothing ends it.
        connection.settimeout(0.6)
        with pytest.raises(TimeoutError):
            connection.recv(1)
        connection.settimeout(20)
        connection.sendall(b"c\nt\ncall\nsping\ns" + b"x" * 100_000 + b"\ne\n")
        answer = b""
        while not answer.endswith(b"\n"):
            answer += connection.recv(1 << 16)
        assert len(answer) > 100_000


def test_a_wrong_token_ends_the_connection(port):
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(b"A\nwrong\ne\nc\nt\ncall\nsping\nspong\ne\n")
        assert ended(connection)


WITH_FEW_DESCRIPTORS = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
from sparkconfig.agent.server import AgentServer
class Endpoint:
    def call(self, operation, arguments):
        return operation + " " + arguments
print(AgentServer(Endpoint(), token="{TOKEN}").start(), flush=True)
sys.stdin.read()  # until the test ends it
"""


def test_a_flood_of_connections_ends_no_server():
    command = [sys.executable, "-c", WITH_FEW_DESCRIPTORS]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process,
        contextlib.ExitStack() as stack,
    ):
        stack.callback(process.kill)
        assert process.stdout is not None
        port = int(process.stdout.readline())
        with contextlib.ExitStack() as flood:
            for _ in range(300):
                flood.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
        assert b"ping pong" in call(port)
