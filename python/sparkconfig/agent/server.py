"""The listening end of the JVM's Py4J client: loopback, a token, one entry point.

It speaks Py4J's protocol, but is not Py4J's server, which reads lines of any length from anybody and takes a third of
the side process' start to import. The JVM sends two commands here: a call of the entry point's one method, which takes
texts and returns one, and the news that it no longer uses the entry point.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections import OrderedDict
from typing import BinaryIO, Protocol

from sparkconfig._base.threads import daemon
from sparkconfig.errors import AgentError

__all__ = ["AgentServer", "Endpoint"]

_MOST_WAITING = 1024
_NEXT_SECONDS = 0.05
# Before the token: any user of the host may connect.
_LONGEST_LINE = 4096
_STRANGERS_SECONDS = 10
_MOST_STRANGERS = 64


class Endpoint(Protocol):
    """What answers calls."""

    def call(self, method: str, request: str) -> str:
        """Answer one call, JSON both ways; never raises."""


class AgentServer:
    """Listens on a free loopback port and answers clients that know the token.

    Args:
        endpoint: what answers.
        token: Py4J's ``auth_token``; connections that do not begin with it are dropped.
    """

    def __init__(self, endpoint: Endpoint, *, token: str) -> None:
        self._endpoint = endpoint
        self._greeting = f"A\n{token}\ne\n".encode()
        self._lock = threading.Lock()
        # The connections that have not shown the token yet; of too many the oldest is dropped.
        self._strangers: OrderedDict[int, socket.socket] = OrderedDict()

    def start(self) -> int:
        """Start to listen and return the port.

        Raises:
            AgentError: the port did not open.
        """
        try:
            listener = socket.create_server(("127.0.0.1", 0), backlog=_MOST_WAITING)
        except OSError as error:
            raise AgentError(f"the side process cannot listen on loopback: {error.strerror}") from None
        daemon("accept", self._accept, listener).start()
        return int(listener.getsockname()[1])

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
                self._admit(connection)
                daemon("serve", self._serve, connection).start()
            except (OSError, RuntimeError):  # no descriptor or thread is left until a stranger's time is over
                time.sleep(_NEXT_SECONDS)

    def _admit(self, connection: socket.socket) -> None:
        connection.settimeout(_STRANGERS_SECONDS)
        with self._lock:
            self._strangers[id(connection)] = connection
            dropped = (
                self._strangers.popitem(last=False)[1] if len(self._strangers) > _MOST_STRANGERS else None
            )
        if dropped is not None:
            with contextlib.suppress(OSError):  # it has gone by itself
                dropped.shutdown(socket.SHUT_RDWR)

    def _known(self, connection: socket.socket) -> None:
        with self._lock:
            self._strangers.pop(id(connection), None)

    def _serve(self, connection: socket.socket) -> None:
        # An error here is a client that has gone, was too slow, or does not speak UTF-8.
        with contextlib.suppress(OSError, ValueError), connection, connection.makefile("rb") as stream:
            try:
                given = b"".join(stream.readline(_LONGEST_LINE) for _ in range(3))
                if given != self._greeting:
                    return
            finally:
                self._known(connection)
            connection.settimeout(None)
            connection.sendall(b"!yv\n")
            while command := _command(stream):
                connection.sendall(self._answer(command).encode() + b"\n")

    def _answer(self, command: list[str]) -> str:
        match command:
            case ["c", _, "call", method, request]:
                return "!ys" + _escaped(self._endpoint.call(_text(method), _text(request)))
            case ["g", _]:
                return "!yv"
            case _:
                return "!xsThe side process has one method, which takes two texts."


def _command(stream: BinaryIO) -> list[str]:
    """Read the lines of one command; there are none when the client has gone."""
    lines = []
    while (line := stream.readline()) != b"e\n":
        if not line.endswith(b"\n"):
            return []
        lines.append(line[:-1].decode())
    return lines


def _text(part: str) -> str:
    """Undo Py4J's escapes, behind the letter that says that it is a text."""
    plain = (piece.replace(r"\n", "\n").replace(r"\r", "\r") for piece in part[1:].split(r"\\"))
    return "\\".join(plain)


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\r", r"\r").replace("\n", r"\n")
