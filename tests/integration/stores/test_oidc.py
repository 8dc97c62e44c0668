"""oauth2 against an OpenID Connect server that is not ours: oidc-provider-mock, in a process of its own."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from sparkconfig.errors import AccessDeniedError
from sparkconfig.providers.oauth2 import OAuth2ConfigProvider

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("oidc_provider_mock") is None, reason="oidc-provider-mock is not installed here"
)

CLIENT = {"client.id": "shop", "client.secret": "secret-of-the-shop"}
BACK = "https://shop.example/back"


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_arguments, **_more):
        return None


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Its address."""
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            found = (re.search(r"(http://[\w.]+:\d+)", line) for line in process.stdout)
            url = next(match[1] for match in found if match)
            threading.Thread(target=process.stdout.read, daemon=True).start()  # a full pipe would stop it
            yield url
        finally:
            process.terminate()


def refresh_token(url: str) -> str:
    """The refresh token of a user who logs in with a browser, as this is one: once for each application."""
    asked = urlencode(
        {"client_id": "shop", "redirect_uri": BACK, "response_type": "code", "scope": "openid", "state": "x"}
    )
    opener = urllib.request.build_opener(_NoRedirects)
    with pytest.raises(urllib.error.HTTPError) as sent:
        opener.open(f"{url}/oauth2/authorize?{asked}", urlencode({"sub": "ann"}).encode())
    assert sent.value.code == 302
    (code,) = parse_qs(urlsplit(sent.value.headers["Location"]).query)["code"]
    sent.value.close()
    form = {
        "grant_type": "authorization_code", "code": code, "redirect_uri": BACK, "client_id": "shop",
        "client_secret": CLIENT["client.secret"],
    }  # fmt: skip
    with urllib.request.urlopen(f"{url}/oauth2/token", urlencode(form).encode()) as answer:
        return json.load(answer)["refresh_token"]


def made(url: str, **params: str) -> OAuth2ConfigProvider:
    provider = OAuth2ConfigProvider()
    given = {name.replace("_", "."): text for name, text in params.items()}
    provider.configure({"token.url": f"{url}/oauth2/token", **CLIENT, **given})
    return provider


def subject(url: str, authorization: str) -> str:
    """Whose token it is, as the server says."""
    request = urllib.request.Request(f"{url}/userinfo", headers={"Authorization": authorization})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["sub"]


def test_tokens_by_a_refresh_token(server: str) -> None:
    with made(server, grant="refresh_token", refresh_token=refresh_token(server)) as provider:
        first, second = (provider.get("", {"authorization"}) for _ in range(2))
        assert first.ttl == 2_700_000
        assert first.data != second.data
        assert subject(server, second.data["authorization"]) == "ann"


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"grant": "refresh_token", "refresh_token": "refresh-token-of-nobody"}, "invalid_grant"),
        # The server takes them in a header only, and has no client credentials at all.
        ({"grant": "refresh_token", "refresh_token": "x", "client_auth": "post"}, "invalid_client"),
        ({}, "unsupported_grant_type"),
    ],
)
def test_what_the_server_refuses(server: str, params: dict[str, str], code: str) -> None:
    with made(server, **params) as provider, pytest.raises(AccessDeniedError, match=code) as caught:
        provider.get("", {"access_token"})
    assert "of-nobody" not in str(caught.value)
