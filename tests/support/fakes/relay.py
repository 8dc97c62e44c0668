"""What may stand between a client and its store: something that ends TLS, and a proxy that makes tunnels.

Both pass bytes on to one port of this host, so a store that speaks no TLS gets any kind of it in front.
"""

import contextlib
import selectors
import socket
import ssl
import threading
import warnings

from support.fakes.http_server import BODY_MARK


class _Relay:
    """Accept connections, and pass bytes both ways between each one and ``port``.

    One thread for each connection: a TLS connection may not be read and written by two threads at once, and nobody
    else closes a socket, whose number the next connection would get.
    """

    def __init__(self, port):
        self._target = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.connections = 0
        self.cut = 0
        """How many of the next connections end when the store answers."""
        self._open = set()
        self._threads = []

    def __enter__(self):
        self._start(self._accept)
        return self

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        self.hang_up()
        for each in self._threads:
            each.join(10)
        self._listener.close()

    def hang_up(self):
        """End every connection that is open."""
        for each in list(self._open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _start(self, target, *arguments):
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._start(self._serve, connection)

    def _serve(self, connection):
        connection.settimeout(20)
        # A client that hangs up, or refuses our certificate, is part of the tests.
        with contextlib.suppress(OSError), self._kept(connection):
            opened = self._begin(connection)
            if opened is None:
                return
            self.connections += 1
            with (
                self._kept(opened),
                self._kept(socket.create_connection(("127.0.0.1", self._target))) as store,
            ):
                self._pass_on(opened, store)

    @contextlib.contextmanager
    def _kept(self, opened):
        self._open.add(opened)
        try:
            yield opened
        finally:
            self._open.discard(opened)
            opened.close()

    def _begin(self, connection):
        """Return the connection whose bytes are passed on, or None if it was answered here."""
        raise NotImplementedError

    def _pass_on(self, opened, store):
        cut = self.cut > 0
        self.cut -= cut
        with selectors.DefaultSelector() as selector:
            for each in (opened, store):
                selector.register(each, selectors.EVENT_READ)
            self._pump(selector, opened, store, cut=cut)

    @staticmethod
    def _pump(selector, opened, store, *, cut):
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if opened in ready:
                piece = opened.recv(65536)
                while isinstance(opened, ssl.SSLSocket) and opened.pending():
                    piece += opened.recv(65536)
                if not piece:
                    return
                store.sendall(piece)
            if store in ready:
                piece = store.recv(65536)
                opened.sendall(piece[:8] if cut else piece)
                if cut or not piece:
                    return


class TlsFront(_Relay):
    """Ends TLS in front of a store, with the certificate and the kinds of TLS that a test wants."""

    def __init__(self, port, tls, *, ciphers=None, newest=None):
        super().__init__(port)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(tls.certificate, tls.key)
        self._context.set_alpn_protocols(["h2", "http/1.1"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # the old ones, which nobody should accept
            if newest is not None:
                self._context.minimum_version = self._context.maximum_version = newest
        if ciphers is not None:
            self._context.set_ciphers(ciphers)

    def _begin(self, connection):
        return self._context.wrap_socket(connection, server_side=True)


class Tunnel(_Relay):
    """An HTTP proxy that opens tunnels (CONNECT), whatever host is asked for, or refuses with a status."""

    def __init__(self, port, status=200):
        super().__init__(port)
        self._status = status
        self.asked = []

    @property
    def url(self):
        return f"http://localhost:{self.port}"

    def _begin(self, connection):
        head = b""
        while b"\r\n\r\n" not in head:
            piece = connection.recv(1)
            if not piece:
                return None
            head += piece
        self.asked.append(head.split(b" ")[1].decode())
        if self._status == 200:
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            return connection
        body = BODY_MARK.encode()
        connection.sendall(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s" % (self._status, len(body), body))
        connection.close()
        return None
