"""moto's STS, with the refusals and the clock that moto cannot be asked for."""

import datetime as dt
import re
from urllib.parse import parse_qsl

from support.fakes.fault_proxy import FaultProxy
from support.fakes.http_server import BODY_MARK, Response


class Sts(FaultProxy):
    """A forwarder in front of moto; its ``requests`` are what moto gets.

    Attributes:
        refusal: AWS's code with which everybody is refused, or None.
    """

    refusal: str | None = None

    def answer(self, request):
        if self.refusal:
            text = (
                '<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type>'
                f"<Code>{self.refusal}</Code><Message>{BODY_MARK}</Message></Error></ErrorResponse>"
            )
            return Response(403, text.encode(), {"Content-Type": "text/xml"})
        answer = super().answer(request)
        return Response(
            answer.status, re.sub(rb"(?<=<Expiration>)[^<]+", self._shifted, answer.body), answer.headers
        )

    def asked(self):
        """The fields of each request."""
        return [dict(parse_qsl(request.body.decode())) for request in self.requests]

    def _shifted(self, found: re.Match[bytes]) -> bytes:
        end = dt.datetime.fromisoformat(found[0].decode().replace("Z", "+00:00"))
        return (end + dt.timedelta(seconds=self.clock)).strftime("%Y-%m-%dT%H:%M:%SZ").encode()
