"""The UI filter in Spark's own Jetty: what holds no value is unchanged, what holds one is whole without it."""

from __future__ import annotations

import gzip
import http.client
import json
import re

import pytest

from leaks.support import bare_jvm, jvm_classes
from leaks.values import CANARIES
from sparkconfig.redaction import MASK
from support.leaks import LeakFinder

pytestmark = pytest.mark.spark

SECRET = CANARIES["awkward"]
PAGES = ["writer", "bare-writer", "stream", "length", "latin", "bytes", "zip", "error", "partial-error",
         "redirect", "header", "throw", "reset", "empty", "large", "large-writer"]  # fmt: skip


class Probe:
    def __init__(self, jvm):
        self.jvm = jvm.probe.FilterProbe
        self.redactor = jvm.io.sparkconfig.redaction.engine.Redactor
        self.ports = {filtered: self.jvm.start(filtered) for filtered in (False, True)}

    def get(self, page, *, filtered=True, method="GET", accept="identity"):
        connection = http.client.HTTPConnection("127.0.0.1", self.ports[filtered], timeout=60)
        try:
            connection.request(method, f"/{page}", headers={"Accept-Encoding": accept})
            # An answer that breaks off is closed here, or the garbage collector finds its socket.
            with connection.getresponse() as answer:
                headers = {name: text for name, text in answer.getheaders() if name != "Date"}
                return answer.status, answer.reason, headers, answer.read()
        finally:
            connection.close()


@pytest.fixture(scope="module")
def probe():
    with bare_jvm(classes=jvm_classes()) as gateway:
        probe = Probe(gateway.jvm)
        probe.redactor.registerAll([SECRET, CANARIES["plain"]])
        yield probe


def framing_removed(answer, filtered_or_not):
    """Spark's pages say how long they are, or are sent in chunks, depending on buffers; the body counts."""
    status, reason, headers, body = answer
    port = str(filtered_or_not)
    kept = {
        n: t.replace(port, "PORT")
        for n, t in headers.items()
        if n not in ("Content-Length", "Transfer-Encoding")
    }
    # Jetty of Spark 3.5 names the servlet's object in its page of an error.
    return status, reason, kept, re.sub(rb"Pages-[0-9a-f]+", b"", body).replace(port.encode(), b"PORT")


@pytest.mark.parametrize("accept", ["identity", "gzip"])
@pytest.mark.parametrize("page", [*PAGES, "static/bootstrap.min.css", "static/webui.css"])
def test_without_a_value_an_answer_is_unchanged(probe, page, accept):
    probe.jvm.show("harmless & < text")
    plain = framing_removed(probe.get(page, filtered=False, accept=accept), probe.ports[False])
    ours = framing_removed(probe.get(page, accept=accept), probe.ports[True])
    assert ours[:3] == plain[:3]
    if plain[2].get("Content-Encoding") == "gzip":
        assert gzip.decompress(ours[3]) == gzip.decompress(plain[3])
    elif page != "throw":  # its stack trace names the filter
        assert ours[3] == plain[3]


@pytest.mark.parametrize("page", [page for page in PAGES if page != "zip"])
def test_with_a_value_an_answer_is_whole_without_it(probe, page):
    probe.jvm.show(SECRET if page not in ("stream", "header") else CANARIES["plain"])
    finder = LeakFinder([SECRET, CANARIES["plain"]])
    status, reason, headers, body = probe.get(page, filtered=False)
    leaks = finder.count(body + f"{reason} {headers}".encode())
    assert leaks or page == "empty", "the page shows nothing"
    status2, reason, headers, body = probe.get(page)
    assert status2 == status
    if "Content-Length" in headers:
        assert int(headers["Content-Length"]) == len(body)
    assert finder.count(body + f"{reason} {headers}".encode()) == 0
    if body and page not in ("redirect",):
        assert body.decode("latin-1").count(MASK) >= 1
    if page == "stream":
        assert json.loads(body) == f"{MASK}ä"
    if page in ("large", "large-writer"):
        assert body.count(MASK.encode()) == 280
        assert body.count(b"x") == 280_000 * 61


def test_gzip_of_the_container_works(probe):
    probe.jvm.show(SECRET + " filler" * 2000)
    status, _, headers, body = probe.get("writer", accept="gzip")
    assert (status, headers["Content-Encoding"]) == (200, "gzip")
    assert MASK in gzip.decompress(body).decode()


@pytest.mark.parametrize("page", ["gzip", "br", "later"])
def test_an_answer_that_cannot_be_searched_is_withheld(probe, page):
    probe.jvm.show("harmless")
    status, _, _, body = probe.get(page)
    assert status == 500
    assert b"harmless" not in body


def test_head_has_no_body(probe):
    probe.jvm.show("harmless")
    assert probe.get("length", method="HEAD")[3] == b""
    plain = probe.get("length", method="HEAD", filtered=False)[2]
    assert probe.get("length", method="HEAD")[2] == plain
