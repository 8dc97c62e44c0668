"""The listening end of Py4J in Python: loopback, a token, one entry point."""

from __future__ import annotations

import threading
from typing import ClassVar, Protocol

from py4j.java_gateway import CallbackServer, CallbackServerParameters, server_started

from sparkconfig.errors import AgentError

__all__ = ["AgentServer", "Endpoint"]

_ENTRY_POINT = "t"  # the name under which Py4J's Java side looks for an entry point
_START_SECONDS = 10


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


class AgentServer:
    """Listens on a free loopback port and answers clients that know the token.

    Args:
        endpoint: what answers.
        token: Py4J's ``auth_token``; connections that do not begin with it are dropped.
    """

    def __init__(self, endpoint: Endpoint, *, token: str) -> None:
        self._server = CallbackServer(
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
