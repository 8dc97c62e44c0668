"""The params of the vault provider, and servers that are slow, broken or behind a proxy: what a fake alone can show."""

import contextlib
import http.server
import re
import ssl
import threading

import pytest

from sparkconfig.errors import (
    ConfigurationError,
    ProviderError,
    ProviderUnavailableError,
    SecretNotFoundError,
)
from sparkconfig.providers.vault.provider import VaultConfigProvider
from support.fakes.http_server import Fault
from support.fakes.tls import make_tls
from support.store_faults import Faulty, StoreFaults
from support.store_transport import Secured, StoreTransport
from support.vaults import DATA, make


@contextlib.contextmanager
def redirecting(tls, address):
    """A server with TLS that sends every request to another one; returns its port."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(307)
            self.send_header("Location", address + self.path)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls.certificate, tls.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class TestFaults(StoreFaults):
    @pytest.fixture
    def faulty(self, fake):
        def maker(params):
            return make(fake, **params)

        return Faulty(fake, maker, "db/prod", "password", DATA["password"], "address")


class TestParams:
    @pytest.mark.parametrize(
        ("params", "named"),
        [
            ({}, "token.file"),
            ({"auth": "approle"}, "role.id"),
            ({"auth": "approle", "role.id": "r"}, "secret.id.file"),
            ({"auth": "jwt"}, "role"),
            ({"auth": "jwt", "role": "r"}, "jwt.file"),
            ({"auth": "ldap"}, "auth"),
            ({"token": "t", "engine": "kv3"}, "engine"),
            ({"token": "t", "ttl": "soon"}, "ttl"),
        ],
    )
    def test_incomplete_params_are_refused_by_name(self, params, named):
        with VaultConfigProvider() as provider, pytest.raises(ConfigurationError, match=f"param {named} "):
            provider.configure({"address": "http://localhost:1", **params})

    def test_an_address_is_needed(self, monkeypatch):
        monkeypatch.delenv("VAULT_ADDR", raising=False)
        with VaultConfigProvider() as provider, pytest.raises(ConfigurationError, match="VAULT_ADDR"):
            provider.configure({"token": "t"})


class TestLogins:
    def test_the_path_of_a_login(self, fake, tmp_path):
        (tmp_path / "jwt").write_text(fake.jwt("jwt")[1])
        params = {"auth": "jwt", "role": "spark", "jwt.file": str(tmp_path / "jwt"), "auth.mount": "jwt/team"}
        with make(fake, **params) as provider:
            assert provider.get("db/prod").data == DATA
        assert fake.requests[0].path == "/v1/auth/jwt/team/login"

    def test_a_login_server_in_trouble_is_unavailable(self, fake):
        params = {**fake.approle(), "attempts": "2"}
        fake.fault(Fault(503), Fault(503))
        with make(fake, **params) as provider, pytest.raises(ProviderUnavailableError):
            provider.get("db/prod")


class TestTransport(StoreTransport):
    @pytest.fixture
    def secured(self, fake):
        def maker(address, params):
            return make(fake, address=f"https://{address}", **params)

        return Secured(fake.port, maker, "db/prod", "password", DATA["password"])

    def test_a_proxy_without_tls(self, fake):
        # A proxy gets the whole URL as target; the fake looks at its path alone.
        with make(fake, address="http://vault.invalid:8200", proxy=fake.url) as provider:
            assert provider.get("db/prod").data == DATA
        assert fake.requests[0].target.startswith("http://vault.invalid:8200/")

    def test_a_token_is_not_redirected_to_where_it_is_not_encrypted(self, fake, tmp_path):
        tls = make_tls(tmp_path)
        for address, served in ((f"http://127.0.0.1:{fake.port}", 0), (None, 1)):
            with redirecting(tls, address or f"https://localhost:{fake.port}") as front:
                del fake.requests[:]
                params = {"address": f"https://localhost:{front}", "ca.file": tls.ca, "attempts": "1"}
                with make(fake, **params) as provider, pytest.raises(ProviderError) as error:
                    provider.get("db/prod")
            # The second is followed, and ends at a server without TLS.
            assert ("redirects from https" in str(error.value)) is not served, str(error.value)
            assert fake.requests == []

    def test_a_missing_client_names_the_extra(self, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "hvac", None)
        with (
            VaultConfigProvider() as provider,
            pytest.raises(ConfigurationError, match=r"sparkconfig\[vault\]"),
        ):
            provider.configure({"address": "http://localhost:1", "token": "t"})


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("127.0.0.1:8200", "needs http:// or https://"),
        ("vault.example.com", "needs http:// or https://"),
        ("localhost:8200/v1", "needs http:// or https://"),
        ("htp://vault:8200", "needs http:// or https://"),
        ("https://", "needs http:// or https:// and a host"),
        ("http://vault:8200/v1", "must end before /v1"),
        ("http://vault:8200/v1/", "must end before /v1"),
    ],
)
def test_a_wrong_address_is_a_mistake_in_the_configuration_and_no_outage(address, said):
    provider = VaultConfigProvider()
    with pytest.raises(ConfigurationError, match=re.escape(said)):
        provider.configure({"address": address, "token": "t"})


@pytest.mark.parametrize(
    ("engine", "begin"),
    [
        *(("kv2", each) for each in ("MOUNT/data/", "MOUNT/", "data/", "v1/MOUNT/data/", "/MOUNT/")),
        *(("kv1", each) for each in ("MOUNT/", "v1/MOUNT/", "/MOUNT/")),
    ],
)
def test_a_path_with_mount_or_data_says_where_it_begins(fake, engine, begin):
    mount = fake.params(engine).get("mount", "secret")
    with make(fake, engine, attempts="1") as provider, pytest.raises(SecretNotFoundError) as error:
        provider.get(f"{begin.replace('MOUNT', mount)}db/nowhere", {"password"})
    assert "the path begins below it" in str(error.value)
    assert str(error.value).endswith("write 'db/nowhere'")


def test_a_path_that_is_only_missing_gets_no_advice(fake):
    with make(fake) as provider, pytest.raises(SecretNotFoundError) as error:
        provider.get("db/nowhere", {"password"})
    assert "mount" not in str(error.value)
