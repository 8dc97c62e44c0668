"""One HTTP request with the standard library: no redirects, limits for time and length, and errors without its text."""

from __future__ import annotations

import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from http.client import HTTPException
from typing import Any

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
        self._opener = urllib.request.build_opener(
            _NoRedirects, proxies, urllib.request.HTTPSHandler(context=context)
        )
        # What is asked without TLS is this machine or a cloud's metadata server, and neither is behind a proxy.
        self._direct = urllib.request.build_opener(_NoRedirects, urllib.request.ProxyHandler({}))

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
        ends = time.monotonic() + left
        request = urllib.request.Request(url, body, dict(headers or {}), method=method)  # noqa: S310 - checked_url
        opener = self._opener if request.type == "https" else self._direct
        try:
            with opener.open(request, timeout=left) as answer:
                return WebAnswer(answer.status, answer.headers, self._body(answer, ends))
        except urllib.error.HTTPError as error:
            return WebAnswer(error.code, error.headers, self._quiet(error, ends))
        except (OSError, HTTPException, ValueError) as error:
            failure = transport_failure(where, error)
        raise failure

    @staticmethod
    def _body(answer: Any, ends: float) -> bytes:  # noqa: ANN401 - urllib's
        """What has come in time: the socket's own timeout begins anew with each byte."""
        pieces, size = [], 0
        while size <= _LONGEST_ANSWER and (piece := answer.read1(_PIECE)):
            pieces.append(piece)
            size += len(piece)
            if time.monotonic() >= ends:
                raise TimeoutError
        return b"".join(pieces)

    def _quiet(self, error: Any, ends: float) -> bytes:  # noqa: ANN401 - an HTTPError
        try:
            with error:
                return self._body(error, ends)
        except (OSError, HTTPException):
            return b""
