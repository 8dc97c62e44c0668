"""The listening end of Py4J in Python: loopback, a token, one entry point."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections import OrderedDict
from typing import Any, BinaryIO, ClassVar, Protocol

from py4j.java_gateway import CallbackServer, CallbackServerParameters, server_started

from sparkconfig.errors import AgentError

__all__ = ["AgentServer", "Endpoint"]

_ENTRY_POINT = "t"  # the name under which Py4J's Java side looks for an entry point
_MOST_WAITING = 1024
_NEXT_SECONDS = 0.05
_START_SECONDS = 10
# Before the token: any user of the host may connect, and Py4J reads a line to its end, in a thread for each connection.
_LONGEST_LINE = 4096
_STRANGERS_SECONDS = 10
_MOST_STRANGERS = 64


class Endpoint(Protocol):
    """What answers calls."""

    def call(self, method: str, request: str) -> str:
        """Answer one call, JSON both ways; never raises."""


class _EntryPoint:
    """The object that Py4J sees. It has one method that returns text, so the JVM needs no listener of its own."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    def call(self, method: str, request: str) -> str:
        return self._endpoint.call(method, request)

    class Java:
        """The Java interface, as Py4J wants it declared."""

        implements: ClassVar[list[str]] = ["io.sparkconfig.agent.PythonEndpoint"]


class _Strangers:
    """The connections that have not shown the token yet; of too many the oldest is dropped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sockets: OrderedDict[int, socket.socket] = OrderedDict()

    def add(self, connection: socket.socket) -> None:
        with self._lock:
            self._sockets[id(connection)] = connection
            dropped = self._sockets.popitem(last=False)[1] if len(self._sockets) > _MOST_STRANGERS else None
        if dropped is not None:
            with contextlib.suppress(OSError):  # it has gone by itself
                dropped.shutdown(socket.SHUT_RDWR)

    def remove(self, connection: socket.socket) -> None:
        with self._lock:
            self._sockets.pop(id(connection), None)


class _Lines:
    """What Py4J reads lines of: a few bytes within a few seconds, until the token was right.

    Py4J asks for three lines to check the token, and for a fourth one only if it was right.
    """

    def __init__(self, stream: BinaryIO, connection: socket.socket, strangers: _Strangers) -> None:
        self._stream = stream
        self._connection = connection
        self._strangers = strangers
        self._left = 3
        connection.settimeout(_STRANGERS_SECONDS)
        strangers.add(connection)

    def readline(self) -> bytes:
        if self._left == 0:
            self._left = -1
            self._strangers.remove(self._connection)
            self._connection.settimeout(None)
        if self._left < 0:
            return self._stream.readline()
        self._left -= 1
        line = self._stream.readline(_LONGEST_LINE)
        if not line.endswith(b"\n"):
            raise AgentError("a connection to the side process began without the token")
        return line

    def close(self) -> None:
        self._strangers.remove(self._connection)
        self._stream.close()


class _Server(CallbackServer):  # type: ignore[misc] # Py4J has no types
    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as Py4J has it
        super().__init__(*args, **kwargs)
        self._strangers = _Strangers()

    def run(self) -> None:
        """As Py4J's, which lets five connections wait, and ends when one cannot be accepted."""
        self.server_socket.listen(_MOST_WAITING)
        server_started.send(self, server=self)
        while not self.is_shutdown:
            try:
                connection, _ = self.server_socket.accept()
                made = self._create_connection(connection, connection.makefile("rb"))
            except OSError:  # shut down, or no descriptor is left until a stranger's time is over
                time.sleep(_NEXT_SECONDS)
            else:
                self.connections.add(made)
                made.start()

    def _create_connection(self, socket_instance: socket.socket, stream: BinaryIO) -> Any:  # noqa: ANN401
        return super()._create_connection(socket_instance, _Lines(stream, socket_instance, self._strangers))


class AgentServer:
    """Listens on a free loopback port and answers clients that know the token.

    Args:
        endpoint: what answers.
        token: Py4J's ``auth_token``; connections that do not begin with it are dropped.
    """

    def __init__(self, endpoint: Endpoint, *, token: str) -> None:
        self._server = _Server(
            {_ENTRY_POINT: _EntryPoint(endpoint)},
            None,
            callback_server_parameters=CallbackServerParameters(
                address="127.0.0.1", port=0, daemonize=True, daemonize_connections=True, auth_token=token
            ),
        )

    def start(self) -> int:
        """Start to listen and return the port.

        Raises:
            AgentError: the port did not open.
        """
        started = threading.Event()

        def on_start(**_: object) -> None:
            started.set()

        server_started.connect(on_start, sender=self._server)
        self._server.start()
        if not started.wait(_START_SECONDS):
            raise AgentError("the side process cannot listen on loopback")
        return int(self._server.get_listening_port())
