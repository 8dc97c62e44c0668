"""A forwarder in front of a server that is not ours: it records requests, and adds faults that the server has not."""

import http.client
from urllib.parse import urlsplit

from support.fakes.http_server import FakeHttpServer, Response


class FaultProxy(FakeHttpServer):
    """Forwards every request as it is, its Host header included, since that is signed."""

    def __init__(self, upstream: str, tls: object = None) -> None:
        super().__init__(tls)
        self._upstream = urlsplit(upstream)

    def answer(self, request):
        connection = http.client.HTTPConnection(self._upstream.hostname, self._upstream.port, timeout=20)
        try:
            connection.putrequest(request.method, request.target, skip_host=True, skip_accept_encoding=True)
            for name, value in request.headers.items():
                connection.putheader(name, value)
            connection.endheaders(request.body)
            answer = connection.getresponse()
            own = {"connection", "transfer-encoding", "date", "server"}
            if request.method != "HEAD":
                own.add("content-length")
            headers = {name: value for name, value in answer.getheaders() if name.lower() not in own}
            return Response(answer.status, answer.read(), headers)
        finally:
            connection.close()
