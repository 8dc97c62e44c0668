"""The browser reads what is on a page after its scripts have run, and what shows after a click."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from support import browser

PAGE = """<html><head><title>a title</title></head><body>
<span class="expand-details" onclick="document.body.append('after-' + 'a-click')">more</span>
<script>fetch('/rows').then(a => a.text()).then(rows => document.body.append(rows))</script>
</body></html>"""


@pytest.fixture
def site():
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"from-the-server" if self.path == "/rows" else PAGE.encode())

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.mark.skipif(browser.missing() is not None, reason=f"no browser: {browser.missing()} is missing")
def test_it_runs_scripts_and_unfolds(site, tmp_path):
    with browser.Browser(tmp_path / "profile") as opened:
        shown = opened.read(site)
    assert b"a title" in shown
    assert b"from-the-server" in shown
    assert b"after-a-click" in shown
