"""One HTTP request with the standard library: no redirects, limits for time and length, and errors without its text."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, cast

from sparkconfig.errors import ProviderError, ProviderUnavailableError
from sparkconfig.formats.flat import parsed_json
from sparkconfig.providers._kit.http import transport_failure
from sparkconfig.providers._kit.params import ParamValues

__all__ = ["Web", "WebAnswer", "WebRefusal"]

_LONGEST_ANSWER = 1024 * 1024
_PIECE = 64 * 1024


@dataclass(frozen=True)
class WebAnswer:
    """What a server answered, with any status.

    Attributes:
        status: HTTP's.
        headers: of the answer.
        body: as it came, at most a little over 1 MiB.
    """

    status: int
    headers: Message = field(repr=False)
    body: bytes = field(repr=False)

    @property
    def object(self) -> dict[str, Any] | None:
        """The JSON object that the body is, or None."""
        try:
            found = parsed_json(self.body.decode("utf-8"))
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    def checked(self, where: str) -> dict[str, Any]:
        """Return the JSON object that the body is; ``where`` names provider and path in errors.

        Raises:
            ProviderUnavailableError: it is not a JSON object.
            ProviderError: it is too long.
        """
        if len(self.body) > _LONGEST_ANSWER:
            raise ProviderError(f"{where}: the answer is longer than {_LONGEST_ANSWER // 1024} KiB")
        found = self.object
        if found is None:
            html = self.headers.get_content_type() == "text/html"
            shown = "an HTML page" if html else "something that is not a JSON object"
            raise ProviderUnavailableError(
                f"{where}: the server answered {shown}; check the URL in the params"
            )
        return found


class WebRefusal(Exception):  # noqa: N818 - it is a status, and the caller says what it means
    """The server answered with a status of 300 or more.

    Attributes:
        status: HTTP's.
        answer: the JSON object of the answer, or an empty one.
    """

    def __init__(self, status: int, answer: Mapping[str, Any]) -> None:
        super().__init__(status)
        self.status = status
        self.answer = answer


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect would send credentials to a place that is not configured."""

    def redirect_request(self, *arguments: Any, **more: Any) -> None:  # noqa: ANN401, ARG002 - urllib's signature
        return None


class _Deadline:
    """Cuts a request's connection when its time is over: a timeout of urllib's begins anew with each byte."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._sockets: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._cut)
        self._timer.daemon = True

    def __enter__(self) -> _Deadline:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    @property
    def over(self) -> bool:
        return time.monotonic() >= self._end

    def watched(self, kind: type[HTTPConnection]) -> Callable[..., HTTPConnection]:
        """Return what makes a connection of a kind whose socket is cut in time."""

        def make(*arguments: Any, **more: Any) -> HTTPConnection:  # noqa: ANN401 - urllib's
            connection = kind(*arguments, **more)
            connect = connection.connect

            def connected() -> None:
                connect()
                self._sockets.append(connection.sock)
                if self.over:
                    self._cut()

            connection.connect = connected  # type: ignore[method-assign]
            return connection

        return make

    def _cut(self) -> None:
        for each in self._sockets:
            with contextlib.suppress(OSError):  # it is closed
                # Not TLS's own shutdown, which another thread must not call.
                socket.socket.shutdown(each, socket.SHUT_RDWR)


class _Request(urllib.request.Request):
    """A request that knows until when it may take."""

    deadline: _Deadline


class _Http(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> HTTPResponse:
        return self.do_open(cast("_Request", req).deadline.watched(HTTPConnection), req)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(context=context)
        self._trust = context

    def https_open(self, req: urllib.request.Request) -> HTTPResponse:
        make = cast("_Request", req).deadline.watched(HTTPSConnection)
        return self.do_open(make, req, context=self._trust)


class Web:
    """Sends requests.

    Args:
        values: the params of the provider; `ca.file` and `proxy` count.
    """

    def __init__(self, values: ParamValues) -> None:
        ca_file, proxy = values.optional("ca.file"), values.optional("proxy")
        try:
            context = ssl.create_default_context(cafile=ca_file)
        except (OSError, ssl.SSLError):
            context = None
        if context is None:
            raise values.wrong("ca.file", "does not name a file with certificates", ca_file)
        proxies = urllib.request.ProxyHandler({"http": proxy, "https": proxy} if proxy else None)
        self._opener = urllib.request.build_opener(_NoRedirects, proxies, _Http, _Https(context))
        # What is asked without TLS is this machine or a cloud's metadata server, and neither is behind a proxy.
        self._direct = urllib.request.build_opener(_NoRedirects, urllib.request.ProxyHandler({}), _Http)

    @staticmethod
    def checked_url(values: ParamValues, name: str) -> str:
        """Return a param that is a URL: `https`, or `http` on this machine.

        Raises:
            ConfigurationError: it is not one.
        """
        url = values.text(name).strip()
        try:
            parts = urllib.parse.urlsplit(url)
            host = parts.hostname or ""
        except ValueError:
            parts, host = urllib.parse.SplitResult("", "", "", "", ""), ""
        local = host in {"localhost", "127.0.0.1", "::1"}
        if (
            not host
            or not (parts.scheme == "https" or (parts.scheme == "http" and local))
            or "@" in parts.netloc
        ):
            raise values.wrong(name, "must be an https:// URL without a user (http:// on this machine only)")
        return url

    def json(
        self,
        url: str,
        where: str,
        left: float,
        *,
        headers: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Return the JSON object that the server answers.

        Args:
            url: where to.
            where: names provider and path in errors.
            left: seconds.
            headers: of the request.
            form: what is posted; None: a GET.

        Raises:
            WebRefusal: the status is 300 or more.
            ProviderTimeoutError: the answer is not complete in time.
            ProviderUnavailableError: no answer, or one that is not a JSON object.
            ProviderError: the answer is too long.
        """
        data = urllib.parse.urlencode(form).encode() if form is not None else None
        answer = self.answer(
            url, where, left, headers={"Accept": "application/json", **(headers or {})}, body=data
        )
        if answer.status >= 300:
            raise WebRefusal(answer.status, answer.object or {})
        return answer.checked(where)

    def answer(
        self,
        url: str,
        where: str,
        left: float,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        method: str | None = None,
    ) -> WebAnswer:
        """Return what the server answers; arguments and errors as for :meth:`json`, but every status is an answer."""
        request = _Request(url, body, dict(headers or {}), method=method)
        opener = self._opener if request.type == "https" else self._direct
        failure: Exception
        with _Deadline(left) as request.deadline:
            try:
                with opener.open(request, timeout=left) as answer:
                    found = WebAnswer(answer.status, answer.headers, self._body(answer))
                if not request.deadline.over:
                    return found
                failure = transport_failure(where, TimeoutError())
            except urllib.error.HTTPError as error:
                return WebAnswer(error.code, error.headers, self._quiet(error))
            except (OSError, HTTPException, ValueError) as error:
                failure = transport_failure(where, TimeoutError() if request.deadline.over else error)
        raise failure

    @staticmethod
    def _body(answer: Any) -> bytes:  # noqa: ANN401 - urllib's
        pieces, size = [], 0
        while size <= _LONGEST_ANSWER and (piece := answer.read(_PIECE)):
            pieces.append(piece)
            size += len(piece)
        return b"".join(pieces)

    def _quiet(self, error: Any) -> bytes:  # noqa: ANN401 - an HTTPError
        try:
            with error:
                return self._body(error)
        except (OSError, HTTPException):
            return b""
