"""One HTTP request with the standard library: no redirects, a limit for the answer, and errors without its text."""

from __future__ import annotations

import ssl
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any

from sparkconfig.errors import ProviderError, ProviderUnavailableError
from sparkconfig.formats.flat import parsed_json
from sparkconfig.providers._kit.http import transport_failure
from sparkconfig.providers._kit.params import ParamValues

__all__ = ["Web", "WebRefusal"]

_LONGEST_ANSWER = 1024 * 1024
_PIECE = 64 * 1024


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
    """A redirect would send credentials to a place that nobody configured."""

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
            ProviderUnavailableError: no answer, or one that is too long or no JSON object.
        """
        data = urllib.parse.urlencode(form).encode() if form is not None else None
        request = urllib.request.Request(url, data, {"Accept": "application/json", **(headers or {})})  # noqa: S310 - see checked_url
        try:
            with self._opener.open(request, timeout=left) as answer:
                kind, body = answer.headers.get_content_type(), self._body(answer)
        except urllib.error.HTTPError as error:
            refusal = WebRefusal(error.code, self._object(self._quiet(error)) or {})
        except (OSError, HTTPException, ValueError) as error:
            failure = transport_failure(where, error)
            raise failure from None
        else:
            return self._parsed(where, kind, body)
        raise refusal

    def _parsed(self, where: str, kind: str, body: bytes) -> dict[str, Any]:
        if len(body) > _LONGEST_ANSWER:
            raise ProviderError(f"{where}: the answer is longer than {_LONGEST_ANSWER // 1024} KiB")
        found = self._object(body)
        if found is None:
            shown = "an HTML page" if kind == "text/html" else "something that is not a JSON object"
            raise ProviderUnavailableError(
                f"{where}: the server answered {shown}; check the URL in the params"
            )
        return found

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

    @staticmethod
    def _object(body: bytes) -> dict[str, Any] | None:
        try:
            found = parsed_json(body.decode("utf-8"))
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None
