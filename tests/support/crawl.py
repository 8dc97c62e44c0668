"""Reading every page of a web application on this machine, by following its links."""

from __future__ import annotations

import html
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import parse_qsl, urldefrag, urlencode, urljoin, urlsplit

_LINK = re.compile(rb"""(?:href|src|action|data-[a-z-]*url)\s*=\s*["']([^"']+)["']""", re.IGNORECASE)
# Links that act rather than show.
_ACTIONS = re.compile(r"/kill\b|/terminate\b|/gracefulshutdown", re.IGNORECASE)
# A master answers any path with its front page, whose links are relative: /app/app/app/ would go on for ever.
_LOOP = re.compile(r"/([^/]+)/\1(?:/|$)")
# Each column of each table can be a sort order: the same rows again.
_SAME_ROWS = re.compile(r"\.(?:sort|desc|pageSize)$|^(?:sort|desc)$")


def fetch(url: str, *, timeout: float = 30.0) -> bytes:
    """The body of a page, also of an error page."""
    if not url.startswith("http://"):
        raise ValueError("only pages over HTTP")
    try:
        with urllib.request.urlopen(url, timeout=timeout) as answer:
            return bytes(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return bytes(error.read())


def crawl(
    start: Iterable[str],
    *,
    within: Callable[[str], bool] = lambda _: True,
    limit: int = 1000,
    seconds: float = 120.0,
    read: Callable[[str], bytes] = fetch,
) -> Iterator[tuple[str, bytes]]:
    """Yield the address and body of each page that can be reached from ``start`` without leaving its sites.

    Args:
        within: further restricts which addresses are followed.
        limit: pages; reaching it is an error, since a part would then be unsearched without anyone's notice.
        seconds: the time for the whole, likewise.
        read: how the body of a page is got.
    """
    waiting = [_normal(address) for address in start]
    sites = {urlsplit(address).netloc for address in waiting}
    seen = set(waiting)
    deadline = time.monotonic() + seconds
    pages = 0
    while waiting:
        address = waiting.pop()
        pages += 1
        if pages > limit or time.monotonic() > deadline:
            raise RuntimeError(f"crawling stopped after {pages} pages: {address} and others are left")
        body = read(address)
        yield address, body
        for link in _LINK.findall(body):
            target = _normal(urljoin(address, html.unescape(link.decode(errors="replace"))))
            if (
                urlsplit(target).netloc in sites
                and target not in seen
                and _followed(target)
                and within(target)
            ):
                seen.add(target)
                waiting.append(target)


def _followed(address: str) -> bool:
    path = urlsplit(address).path
    if _LOOP.search(path) or path.startswith("/static/"):
        return False
    return address.startswith("http://") and not _ACTIONS.search(address)


def _normal(address: str) -> str:
    parts = urlsplit(urldefrag(address).url)
    query = [(key, value) for key, value in parse_qsl(parts.query) if not _SAME_ROWS.search(key)]
    return parts._replace(path=parts.path or "/", query=urlencode(sorted(query))).geturl()
