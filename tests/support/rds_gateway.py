"""A stand-in for a database of Amazon RDS with IAM authentication: a PostgreSQL whose passwords are signed tokens.

The check of a token is ours, after AWS's documentation of Signature Version 4; whoever passes it speaks with a real
PostgreSQL.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import hmac
import socket
import socketserver
import struct
import threading
from types import TracebackType
from urllib.parse import parse_qsl

from support.postgres import PostgresServer
from support.rotation import provider_confs

_ENCRYPTION_REQUESTS = (80877103, 80877104)
_PASSWORD = b"R" + struct.pack("!ii", 8, 3)
#: The address from which the gateway comes to the server, which knows a role without password from there alone.
_OWN_ADDRESS = "127.0.0.2"
_NAME = "rds_shop"


class RdsGateway(socketserver.ThreadingTCPServer):
    """Asks for a password in clear, as RDS does, and takes it only if these keys signed it for here, now.

    Attributes:
        tokens: with which connections were let in, in their order.
        refused: how many connections came with another.
    """

    USER, REGION, KEY = "iam_reader", "eu-west-1", "AKIAEXAMPLE000000001"
    SECRET = "secret-key/of+the+role-0000000000000001"
    SESSION = "session/token+of=the-role" * 24
    daemon_threads = True

    def __init__(self, postgres: PostgresServer) -> None:
        """Make the database with a table ``orders`` of 100 rows."""
        super().__init__(("127.0.0.1", 0), _Connection)
        self.postgres = postgres
        self.tokens: list[str] = []
        self.refused = 0
        postgres.sql(f'CREATE ROLE "{self.USER}" LOGIN')
        postgres.create_orders(_NAME)
        postgres.trust(database=_NAME, role=self.USER, address=_OWN_ADDRESS)

    def __enter__(self) -> RdsGateway:
        threading.Thread(target=self.serve_forever, name="rds-gateway", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.shutdown()
        self.server_close()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def provider(self, name: str, place: str) -> dict[str, str]:
        """The confs of a provider that signs; the key's secret parts are ``secret`` and ``session`` at a place."""
        params = {
            "region": self.REGION,
            "access.key.id": self.KEY,
            "secret.access.key": f"${{{place}:secret}}",
            "session.token": f"${{{place}:session}}",
        }
        return provider_confs(name, "aws-rds-iam", params)

    def options(self, provider: str) -> dict[str, str]:
        """Of a JDBC reader."""
        return {
            "url": f"jdbc:postgresql://127.0.0.1:{self.port}/{_NAME}",
            "dbtable": "orders",
            "user": self.USER,
            "password": f"${{{provider}:127.0.0.1:{self.port}:{self.USER}}}",
            "driver": "org.postgresql.Driver",
        }

    def problem(self, token: str, user: str, *, later: float = 0) -> str:
        """Why the token is not good for a login as ``user``, so many seconds from now; ``""``: it is."""
        place, _, query = token.partition("/?")
        told = dict(parse_qsl(query))
        expected = {
            "Action": "connect", "DBUser": user, "X-Amz-Algorithm": "AWS4-HMAC-SHA256", "X-Amz-Expires": "900",
            "X-Amz-SignedHeaders": "host", "X-Amz-Security-Token": self.SESSION,
        }  # fmt: skip
        wrong = [name for name, text in expected.items() if told.get(name) != text]
        if wrong or place != f"127.0.0.1:{self.port}":
            return f"it is for something else: {wrong or 'another place'}"
        made = dt.datetime.strptime(told["X-Amz-Date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=dt.timezone.utc)
        age = (dt.datetime.now(dt.timezone.utc) - made).total_seconds() + later
        if not -300 <= age <= 900:
            return "it has expired"
        scope = f"{told['X-Amz-Date'][:8]}/{self.REGION}/rds-db/aws4_request"
        if told["X-Amz-Credential"] != f"{self.KEY}/{scope}":
            return "it is signed by another key"
        signed = [part for part in sorted(query.split("&")) if not part.startswith("X-Amz-Signature=")]
        nothing = hashlib.sha256(b"").hexdigest()
        request = "\n".join(["GET", "/", "&".join(signed), f"host:{place}", "", "host", nothing])
        digest = hashlib.sha256(request.encode()).hexdigest()
        key = f"AWS4{self.SECRET}".encode()
        for part in [*scope.split("/"), f"AWS4-HMAC-SHA256\n{told['X-Amz-Date']}\n{scope}\n{digest}"]:
            key = hmac.digest(key, part.encode(), "sha256")
        return "" if hmac.compare_digest(key.hex(), told["X-Amz-Signature"]) else "its signature is wrong"


class _Connection(socketserver.BaseRequestHandler):
    server: RdsGateway

    def handle(self) -> None:
        startup = self._packet()
        while struct.unpack("!i", startup[4:8])[0] in _ENCRYPTION_REQUESTS:
            self.request.sendall(b"N")
            startup = self._packet()
        names = startup[8:].split(b"\0")
        user = dict(zip(names[::2], names[1::2], strict=False))[b"user"].decode()
        self.request.sendall(_PASSWORD)
        assert self._bytes(1) == b"p"
        token = self._packet()[4:-1].decode()
        if self.server.problem(token, user):
            self.server.refused += 1
            # RDS's words.
            text = f'SFATAL\0VFATAL\0C28000\0MPAM authentication failed for user "{user}"\0\0'.encode()
            self.request.sendall(b"E" + struct.pack("!i", len(text) + 4) + text)
            return
        self.server.tokens.append(token)
        place = (self.server.postgres.host, self.server.postgres.port)
        with socket.create_connection(place, source_address=(_OWN_ADDRESS, 0)) as upstream:
            upstream.sendall(startup)
            answers = threading.Thread(target=_pass_on, args=(upstream, self.request), daemon=True)
            answers.start()
            _pass_on(self.request, upstream)
            answers.join()

    def _packet(self) -> bytes:
        """A message whose first four bytes are its length."""
        head = self._bytes(4)
        return head + self._bytes(struct.unpack("!i", head)[0] - 4)

    def _bytes(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            more = self.request.recv(size - len(found))
            if not more:
                raise ConnectionError("the client has gone")
            found += more
        return found


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    """Everything until the end, and the end."""
    with contextlib.suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
