"""A real HTTP server on loopback for contract fakes of ours, with faults that a test orders.

Fakes built on it follow a store's public API documentation. They stand in where the store itself cannot run
in a test; each says so in its docstring.
"""

import contextlib
import json
import socket
import ssl
import threading
import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote, urlsplit

BODY_MARK = "answer-text-of-the-store"
"""Stands in every body of a failure; it must never reach an error or a log."""


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: dict
    headers: dict
    body: bytes
    target: str = ""

    def json(self):
        return json.loads(self.body)


@dataclass(frozen=True)
class Response:
    status: int = 200
    body: bytes = b""
    headers: dict = field(default_factory=lambda: {"Content-Type": "application/json"})
    chunks: object = None
    """An iterator of bytes, sent as they come, instead of a body."""

    @classmethod
    def of(cls, content, status=200):
        return cls(status, json.dumps(content).encode())


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request: a status, garbage, half an answer, no answer, silence, or just slowness."""

    status: int | None = None
    garbage: bool = False
    truncated: bool = False
    closed: bool = False
    silent: bool = False
    slow: bool = False
    """The answer comes in small pieces."""
    endless: bool = False
    """Its body comes byte by byte, and never ends."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or each answer takes 40 ms
    fake: "FakeHttpServer"

    def setup(self):
        super().setup()
        self.fake.connections += 1

    def date_time_string(self, timestamp=None):
        return super().date_time_string((time.time() if timestamp is None else timestamp) + self.fake.clock)

    def _serve(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        request = Request(self.command, unquote(parts.path), query, headers, body, self.path)
        self.fake.requests.append(request)
        fault = self.fake.fault_for(request)
        try:
            self._misbehave(fault, request) if fault else self._send(self.fake.answer_in_turn(request))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _misbehave(self, fault, request):
        mark = json.dumps({"errors": [BODY_MARK], "message": BODY_MARK, "error": {"message": BODY_MARK}})
        if fault.status:
            self._send(Response(fault.status, mark.encode()))
        elif fault.garbage:
            page = f"<html>{BODY_MARK}</html>".encode()
            self._send(Response(200, page, {"Content-Type": "text/html"}))
        elif fault.silent:
            self.fake.stopping.wait(30)
            self.close_connection = True
        elif fault.endless:
            self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n{")
            while not self.fake.stopping.wait(0.05):
                self.wfile.write(b" ")
            self.close_connection = True
        elif fault.slow:
            answer = self.fake.answer(request)
            size = len(answer.body) // 8 + 1
            pieces = [answer.body[start : start + size] for start in range(0, len(answer.body), size)]
            paused = (piece for piece in pieces if not self.fake.stopping.wait(0.02))
            self._send(Response(answer.status, b"", answer.headers, paused))
        else:
            answer = self.fake.answer(request)
            cut = answer.body[: len(answer.body) // 2] if fault.truncated else b""
            if not fault.closed:
                self._send(answer, cut)
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

    def _send(self, response, body=None):
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        if response.chunks is not None:
            self._stream(response.chunks)
            return
        # The answer to HEAD tells the length of a body that it has not.
        if "Content-Length" not in response.headers:
            self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body if body is None else body)

    def _stream(self, chunks):
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in chunks:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = _serve  # noqa: N815 - names of the base class

    def log_message(self, *args):
        pass


class _Turn:
    """What happens once, in the middle of a request; ``request`` is that one."""

    def __init__(self, fits, action):
        self._fits = fits
        self._action = action
        self._lock = threading.Lock()
        self.request = None
        self.ended = Future()

    def take(self, request):
        with self._lock:
            if self.request is not None or not self._fits(request):
                return
            self.request = request
        try:
            self.ended.set_result(self._action())
        except BaseException as error:  # the test's own, in a thread of the server
            self.ended.set_exception(error)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that hangs up, or refuses our certificate, is part of the tests."""


class FakeHttpServer:
    """A context manager; subclasses implement ``answer(request) -> Response``."""

    def __init__(self, tls=None):
        self.requests = []
        self.connections = 0
        self.clock = 0.0
        """How many seconds its clock is ahead, as its answers tell."""
        self.stopping = threading.Event()
        self._faults = deque()
        self._turn = None
        self._tls = tls
        self._listen(0)
        scheme = "https" if tls else "http"
        self.port = self._server.server_address[1]
        self.url = f"{scheme}://localhost:{self.port}"

    def _listen(self, port):
        handler = type("Handler", (_Handler,), {"fake": self})
        self._server = _Server(("127.0.0.1", port), handler)
        if self._tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self._tls.certificate, self._tls.key)
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @contextlib.contextmanager
    def down(self):
        """Nobody listens at the port meanwhile; afterwards the server is there again."""
        self._end()
        try:
            yield
        finally:
            self._listen(self.port)
            self._thread.start()

    def _end(self):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, request):
        raise NotImplementedError

    @contextlib.contextmanager
    def meanwhile(self, fits, action):
        """Call ``action`` while a client waits: the answer to the first request that ``fits`` is made, and not sent.

        What ``action`` raises is raised at the end, and it is an error if no such request came.
        """
        turn = _Turn(fits, action)
        self._turn = turn
        try:
            yield turn
        finally:
            self._turn = None
        assert turn.request is not None, "no such request came"
        turn.ended.result(0)

    def answer_in_turn(self, request):
        """The answer, after what was ordered to happen before it is sent."""
        response = self.answer(request)
        if self._turn is not None:
            self._turn.take(request)
        return response

    def fault(self, *faults):
        """Order what goes wrong with each of the next requests."""
        self._faults.extend(faults)

    def clear_faults(self):
        self._faults.clear()

    def fault_for(self, request):
        """Return what goes wrong with a request, or None."""
        try:
            return self._faults.popleft()
        except IndexError:
            return None

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self._end()
