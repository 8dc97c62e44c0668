"""A program ends its gateway while something is written: nobody asks a JVM that answers no more."""

from __future__ import annotations

import logging
import socketserver
import threading

import pytest
from py4j import java_gateway
from py4j.clientserver import ClientServer, JavaParameters, PythonParameters
from py4j.java_gateway import JavaObject

from sparkconfig.redaction import jvm


class _Gateway(socketserver.StreamRequestHandler):
    """Ours: a JVM's gateway that knows one value. Once it was ended it accepts connections, and leaves them so.

    The real one does that to a connection that comes in the moment of its end.
    """

    def handle(self) -> None:
        while command := self.rfile.readline():
            if self.server.ended.is_set():
                self.server.closing.wait()
            elif command == b"s\n":
                self.server.ended.set()
                return
            else:
                while command == b"c\n" and self.rfile.readline() != b"e\n":
                    pass
                self.wfile.write(b'!ys{"found": [0, 5], "beginning": 0}\n')


@pytest.fixture
def client(monkeypatch):
    """A client of a gateway that an application knows; its log is redacted."""
    for name in ("send_command", "shutdown_gateway"):
        monkeypatch.setattr(java_gateway.GatewayClient, name, getattr(java_gateway.GatewayClient, name))
    monkeypatch.setattr(jvm, "_calls_hooked", False)
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Gateway) as server:
        server.daemon_threads, server.block_on_close = True, False
        server.ended, server.closing = threading.Event(), threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        client = ClientServer(JavaParameters(port=server.server_address[1]), PythonParameters(port=0))
        yield client
        server.closing.set()
        server.shutdown()
        client.shutdown_callback_server()


@pytest.mark.parametrize("former", [False, True], ids=["the one", "a former one"])
def test_who_writes_while_the_gateway_ends_does_not_wait_for_it(client, monkeypatch, former):
    known = jvm._Jvm(client, JavaObject("o1", client._gateway_client))
    monkeypatch.setattr(jvm, "_known", None if former else known)
    jvm._watch_calls()
    known._elsewhere.add("salt", [0])
    shown = []

    class Redacting(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            shown.append(known._elsewhere.find(record.getMessage()))

    handler, log = Redacting(), logging.getLogger("py4j")
    level = log.level
    log.setLevel(logging.DEBUG)
    log.addHandler(handler)
    try:
        assert known._elsewhere.find("canary") == [(0, 5)]
        ending = threading.Thread(target=client.shutdown, daemon=True)
        ending.start()
        ending.join(30)
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
    assert not ending.is_alive()
    # Nobody could be asked: the whole line counts as a value.
    assert shown
    assert known._elsewhere.find("canary") == [(0, 6)]


def test_what_came_since_the_last_line_is_learned_before_the_end(client, monkeypatch):
    happened = []
    monkeypatch.setattr(java_gateway.GatewayClient, "shutdown_gateway", lambda _: happened.append("ended"))
    # Lines that other tests' handlers redact ask too, at any time.
    ending = threading.current_thread()
    monkeypatch.setattr(
        jvm, "refresh_now", lambda: threading.current_thread() is ending and happened.append("asked")
    )
    jvm._watch_calls()
    client._gateway_client.shutdown_gateway()
    assert happened == ["asked", "ended"]
