"""Values of a web service that answers JSON: for stores that need no client but HTTP."""

from __future__ import annotations

import re
from collections.abc import Set
from urllib.parse import quote, urlsplit

from sparkconfig.errors import AccessDeniedError, ProviderError
from sparkconfig.providers._kit.http import CA_FILE, PROXY, status_failure
from sparkconfig.providers._kit.params import Param, ParamValues
from sparkconfig.providers._kit.selection import SELECTION, Selection
from sparkconfig.providers._kit.store import NETWORK, TTL, StoreProvider
from sparkconfig.providers._kit.web import Web, WebRefusal
from sparkconfig.providers.base import ConfigData

__all__ = ["HttpConfigProvider"]

_HOLE = "{path}"
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")


class HttpConfigProvider(StoreProvider):
    """Sends one GET for each path and takes fields of the JSON object in the answer. Redirects are refused."""

    alias = "http"
    store = "a web service that answers JSON"
    table = (
        Param("url", "where to ask, by `https`; `{path}` behind the host is the reference's path", required=True),
        *SELECTION,
        Param("header", "name of the header that says who asks", default="Authorization"),
        Param("header.value", "its value, such as `Bearer ${vault:web:token}`", secret=True),
        Param("header.file", "file with its value, read at each request"),
        Param("header.scheme", "put in front of the value, with a blank, such as `Bearer`"),
        Param("headers", "other headers, as `Name: value`, separated by commas"),
        Param("allowed", "regular expression that each path must match as a whole", default=r"[\w][\w.@/+-]*"),
        TTL,
        *NETWORK,
        CA_FILE,
        PROXY,
    )  # fmt: skip
    paths = (
        "`${web:shop/db:password}`: field `password` of the answer for `shop/db`; `a.b` is field `b` of the object `a`."
        " A url without `{path}` takes references with an empty path, `${web::password}`"
    )
    auth = "a header, from another provider or from a file, such as a token that the platform mounts"

    def _open(self, values: ParamValues, seconds: float) -> None:  # noqa: ARG002 - each request has what is left
        self._values = values
        self._url = Web.checked_url(values, "url")
        self._takes_path = _HOLE in self._url
        if _HOLE in urlsplit(self._url).netloc or "{" in self._url.replace(_HOLE, ""):
            raise values.wrong("url", "may have {path} behind the host, and no other braces")
        self._selection = Selection(values)
        self._headers = self._others(values)
        if not _NAME.fullmatch(values.text("header")):
            raise values.wrong("header", "is not the name of a header")
        scheme = values.optional("header.scheme")
        if scheme is not None and not _NAME.fullmatch(scheme.strip()):
            raise values.wrong("header.scheme", "is not a scheme like Bearer")
        self._allowed = values.text("allowed")
        self._pattern = values.expression("allowed")
        self._web = Web(values)

    @staticmethod
    def _others(values: ParamValues) -> dict[str, str]:
        pairs = [pair.partition(":") for pair in values.patterns("headers")]
        if not all(
            colon and _NAME.fullmatch(name.strip()) and _VALUE.fullmatch(text) for name, colon, text in pairs
        ):
            raise values.wrong("headers", "must be headers like Name: value, separated by commas")
        return {name.strip(): text.strip() for name, _, text in pairs}

    def _read(self, path: str, keys: Set[str] | None, left: float) -> ConfigData:
        where = self._where(path)
        url = self._target(path, where)
        try:
            answer = self._web.json(url, where, left, headers=self._headers | self._login(where))
            failure = None
        except WebRefusal as refusal:
            failure = status_failure(where, refusal.status)
        if failure is not None:
            raise failure
        return ConfigData(self._selection.fields(answer, keys, where), ttl=self._ttl)

    def _target(self, path: str, where: str) -> str:
        """The URL for a path, which can lead neither to another host nor to another folder."""
        if not self._takes_path:
            if path:
                raise ProviderError(f"{where}: the param url has no {_HOLE}, so the path must be empty")
            return self._url
        if self._pattern.fullmatch(path) is None:
            raise AccessDeniedError(f"{where}: the path does not match the param allowed: {self._allowed}")
        if {".", ".."} & set(path.split("/")):
            raise AccessDeniedError(f"{where}: the path leads out of its folder")
        return self._url.replace(_HOLE, quote(path, safe="/"))

    def _login(self, where: str) -> dict[str, str]:
        has = self._values.optional
        text = self._values.identity("header.file") if has("header.file") else has("header.value")
        if text is None:
            return {}
        # A line end would begin another header, and the client would quote the text in its error.
        if not _VALUE.fullmatch(text):
            raise AccessDeniedError(
                f"{where}: the value of the header holds characters that no header may hold"
            )
        scheme = has("header.scheme")
        return {self._values.text("header"): f"{scheme.strip()} {text}" if scheme else text}
