"""The provider http, against a server of ours: what it asks, and what it makes of bad answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    SecretNotFoundError,
)
from sparkconfig.providers.http import HttpConfigProvider
from sparkconfig.testing import ContractCase, ProviderContract
from support.fakes.http_server import BODY_MARK, FakeHttpServer, Fault, Request, Response

TOKEN = "Bearer web-token-4471"


class Secrets(FakeHttpServer):
    """Ours: a service that answers JSON, as many small stores do."""

    def __init__(self, tls: Any = None) -> None:
        super().__init__(tls)
        self.fields: dict[str, object] = {
            "user": "ann",
            "password": "http-canary-1",
            "db": {"ports": [5432]},
            "no": None,
        }

    def answer(self, request: Request) -> Response:
        if request.headers.get("authorization") != TOKEN:
            return Response.of({"message": BODY_MARK}, 401)
        if request.path == "/v1/long":
            return Response.of({"data": "x" * 2_000_000})
        if request.path not in ("/v1/shop/db", "/v1/"):
            return Response.of({"message": BODY_MARK}, 404)
        return Response.of({"data": [{"fields": self.fields}], "a/b": {"c~d": {"x": "y"}}, "mark": BODY_MARK})


@pytest.fixture
def server() -> Iterator[Secrets]:
    with Secrets() as server:
        yield server


def provider(server: Secrets, **params: str) -> HttpConfigProvider:
    made = HttpConfigProvider()
    made.configure(
        {
            "url": f"{server.url}/v1/{{path}}", "pointer": "/data/0/fields", "header.value": TOKEN, "attempts": "1",
            "timeout": "2s", **{key.replace("_", "."): value for key, value in params.items()},
        }
    )  # fmt: skip
    return made


def test_fields_of_the_answer(server: Secrets) -> None:
    made = provider(server, headers="X-Team: shop, Accept-Version: 2", ttl="5s")
    answer = made.get("shop/db", {"password", "db.ports.0", "no", "nothing"})
    assert dict(answer.data) == {"password": "http-canary-1", "db.ports.0": "5432"}
    assert answer.ttl == 5_000
    assert set(made.get("shop/db").data) == {"user", "password", "db.ports.0"}
    sent = server.requests[0].headers
    assert (sent["x-team"], sent["accept-version"]) == ("shop", "2")
    server.fields["password"] = "http-canary-2"
    assert made.get("shop/db", {"password"}).data["password"] == "http-canary-2"
    assert dict(provider(server, pointer="/a~1b/c~0d").get("shop/db").data) == {"x": "y"}
    fixed = provider(server, url=f"{server.url}/v1/")
    assert fixed.get("", {"user"}).data["user"] == "ann"
    with pytest.raises(ProviderError, match="must be empty"):
        fixed.get("shop/db", {"user"})


def test_a_list_of_objects(server: Secrets) -> None:
    server.fields = {"list": [{"name": "user", "is": "ann"}, {"name": "password", "is": "http-canary-3"}]}
    made = provider(server, pointer="/data/0/fields/list", list_key="name", list_value="is")
    assert dict(made.get("shop/db").data) == {"user": "ann", "password": "http-canary-3"}
    with pytest.raises(ProviderError, match="leads to no list of objects") as error:
        provider(server, pointer="/data/0/fields", list_key="name", list_value="is").get("shop/db", {"user"})
    assert "canary" not in str(error.value)


def test_a_scheme_stands_in_front_of_the_token(server: Secrets, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN.removeprefix("Bearer "))
    made = provider(server, header_value="", header_file=str(file), header_scheme="Bearer")
    assert made.get("shop/db", {"user"}).data["user"] == "ann"


def test_a_token_in_a_file_is_read_at_each_request(server: Secrets, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    made = provider(server, header_value="", header_file=str(file))
    assert made.get("shop/db", {"user"}).data
    file.write_text("Bearer expired-8812")
    with pytest.raises(AccessDeniedError, match="HTTP 401") as error:
        made.get("shop/db", {"user"})
    assert "8812" not in str(error.value)
    file.write_text("one\r\nX-Evil: two-7719")
    with pytest.raises(AccessDeniedError, match="no header may hold") as error:
        made.get("shop/db", {"user"})
    assert "7719" not in str(error.value)
    file.unlink()
    with pytest.raises(AccessDeniedError, match=r"header\.file"):
        made.get("shop/db", {"user"})


@pytest.mark.parametrize(
    "path",
    ["../admin", "shop/../admin", "//other.example/x", "/x", "shop?x=1", "shop#x", "a%2e%2e/b", "x@y:z", "", "a\nb"],
)  # fmt: skip
def test_no_path_leads_elsewhere(server: Secrets, path: str) -> None:
    with pytest.raises(AccessDeniedError):
        provider(server).get(path, {"user"})
    assert server.requests == []
    with pytest.raises((AccessDeniedError, SecretNotFoundError)):
        provider(server, allowed=".*").get(path or "..", {"user"})
    assert all(request.target.startswith("/v1/") for request in server.requests)


@pytest.mark.parametrize(
    ("fault", "kind", "said"),
    [
        (Fault(garbage=True), ProviderUnavailableError, "an HTML page"),
        (Fault(truncated=True), ProviderUnavailableError, "not a JSON object"),
        (Fault(closed=True), ProviderUnavailableError, "cannot be reached"),
        (Fault(silent=True), ProviderTimeoutError, "in time"),
        (Fault(endless=True), ProviderTimeoutError, "in time"),
        (Fault(status=403), AccessDeniedError, "HTTP 403"),
        (Fault(status=404), SecretNotFoundError, "HTTP 404"),
        (Fault(status=429), ProviderUnavailableError, "HTTP 429"),
        (Fault(status=503), ProviderUnavailableError, "HTTP 503"),
        (Fault(status=302), ProviderError, "HTTP 302"),
    ],
)
def test_servers_that_misbehave(server: Secrets, fault: Fault, kind: type, said: str) -> None:
    made = provider(server)
    server.fault(fault)
    with pytest.raises(kind, match=said) as error:
        made.get("shop/db", {"user"})
    assert BODY_MARK not in str(error.value)
    assert made.get("shop/db", {"user"}).data
    assert error.value.__cause__ is None


def test_a_server_that_restarts_and_then_answers_slowly(server: Secrets) -> None:
    made = provider(server)
    with server.down(), pytest.raises(ProviderUnavailableError, match="cannot be reached"):
        made.get("shop/db", {"user"})
    server.fault(Fault(slow=True))
    assert made.get("shop/db", {"user"}).data["user"] == "ann"


def test_a_server_with_tls(tls: Any) -> None:
    with Secrets(tls) as server:
        made = provider(server, ca_file=str(tls.ca))
        assert made.get("shop/db", {"user"}).data["user"] == "ann"
        server.fault(Fault(endless=True))
        with pytest.raises(ProviderTimeoutError, match="in time"):
            made.get("shop/db", {"user"})
        with pytest.raises(ProviderUnavailableError, match=r"TLS failed.*ca\.file"):
            provider(server).get("shop/db", {"user"})


def test_answers_that_do_not_fit(server: Secrets) -> None:
    with pytest.raises(ProviderError, match="longer than 1024 KiB"):
        provider(server).get("long", {"user"})
    for pointer in ("/data", "/data/1", "/data/0/fields/user", "/nothing/x"):
        with pytest.raises(ProviderError, match="leads to no JSON object") as error:
            provider(server, pointer=pointer).get("shop/db", {"user"})
        assert BODY_MARK not in str(error.value)
        assert "canary" not in str(error.value)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"url": "http://db.example/{path}"}, "https"),
        ({"url": "https://{path}.example/"}, r"behind the host|https"),
        ({"url": "https://u:p@db.example/"}, "without a user"),
        ({"url": "https://db.example/{key}"}, "no other braces"),
        ({"pointer": "data"}, "begin with /"),
        ({"headers": "X-Team"}, "headers"),
        ({"headers": "X Team: 1"}, "headers"),
        ({"header": "a:b"}, "name of a header"),
        ({"header_scheme": "Bearer x"}, "is not a scheme"),
        ({"list_key": "name"}, "belong together"),
        ({"allowed": "["}, "regular expression"),
        ({"ca_file": "/nowhere"}, "certificates"),
        ({"urls": "x"}, "did you mean url"),
    ],
)
def test_params_that_cannot_be(server: Secrets, params: dict[str, str], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said) as error:
        provider(server, **params)
    assert "u:p" not in str(error.value)
    assert "4471" not in str(error.value)


class TestContract(ProviderContract):
    @pytest.fixture
    def case(self, server: Secrets) -> ContractCase:
        server.fields = {"username": "alice-0001", "password": "s3cret-value-77"}
        return ContractCase(
            HttpConfigProvider,
            {"url": f"{server.url}/v1/{{path}}", "pointer": "/data/0/fields", "header.value": TOKEN},
            "shop/db",
            dict(server.fields),
            missing_path="shop/none",
            change=server.fields.update,
            secret_params=("header.value",),
        )
