"""The crawler reads what can be reached, once, and acts on nothing."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from support.crawl import crawl

PAGES = {
    "/": '<a href="/jobs/?id=1#top">a</a> <a href="http://elsewhere.invalid/">b</a>',
    "/jobs/?id=1": (
        '<a href="/jobs/job/kill/?id=1">kill</a> <a href="../?x.sort=y">home</a> <a href="deep/?a=1&amp;b=2">c</a>'
    ),
    "/jobs/deep/?a=1&b=2": '<a href="deep/deep/">d</a>',
}


@pytest.fixture
def site():
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            body = PAGES.get(self.path, "")
            self.send_response(200 if body else 404)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()
        thread.join()


def test_reads_each_page_once_and_acts_on_none(site):
    address, asked = site

    pages = dict(crawl([address]))

    assert sorted(asked) == ["/", "/jobs/?id=1", "/jobs/deep/?a=1&b=2"]
    assert pages[f"{address}/jobs/deep/?a=1&b=2"] == PAGES["/jobs/deep/?a=1&b=2"].encode()


def test_an_unread_rest_is_an_error(site):
    with pytest.raises(RuntimeError, match="are left"):
        list(crawl([site[0]], limit=1))
