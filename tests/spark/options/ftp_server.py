"""An FTP server that writes down which password it was given, and lets nobody in; Hadoop itself has a client."""

from __future__ import annotations

import socketserver
import threading


class Logins(socketserver.ThreadingTCPServer):
    """Listens on all of 127/8: tests use an address each, as Hadoop's keys of FTP end in the host."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("0.0.0.0", 0), _Login)
        self.seen: dict[str, list[str]] = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def close(self) -> None:
        self.shutdown()
        self.server_close()


class _Login(socketserver.StreamRequestHandler):
    server: Logins

    def handle(self) -> None:
        self.wfile.write(b"220 ready\r\n")
        for line in self.rfile:
            word, _, rest = line.decode().strip().partition(" ")
            if word == "PASS":
                self.server.seen.setdefault(self.request.getsockname()[0], []).append(rest)
                self.wfile.write(b"530 no\r\n")
                return
            self.wfile.write(b"331 more\r\n" if word == "USER" else b"200 ok\r\n")
