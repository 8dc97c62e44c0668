"""What every store that is reached through TLS must do: subclass, give the fixture ``secured``."""

import hashlib
import ssl
import traceback
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from sparkconfig.errors import ProviderError, ProviderUnavailableError
from support.fakes.http_server import BODY_MARK
from support.fakes.relay import TlsFront, Tunnel

# Both are in SP 800-52 for TLS 1.2, and TLS 1.3's AES suites are the same algorithms.
FIPS_CIPHERS = "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384"
OLD = "DEFAULT@SECLEVEL=0"


@dataclass(frozen=True)
class Secured:
    """A store's port without TLS, and how to make a provider that reads from ``localhost:PORT`` with TLS.

    Attributes:
        port: the store's own port, which speaks no TLS.
        make: gets ``host:port`` and extra params; returns a provider.
        path: a path that exists.
        key: a key there.
        value: its value.
        proxy: the param that names a proxy; None: the environment variable https_proxy does.
    """

    port: int
    make: Callable[[str, dict], Any]
    path: str
    key: str
    value: str
    proxy: str | None = "proxy"


class StoreTransport:
    keeps_connections = True
    """False for what asks a few times an hour."""

    @pytest.fixture
    def secured(self):
        raise NotImplementedError

    @pytest.fixture(autouse=True)
    def _no_proxies(self, monkeypatch):
        for name in (
            "no_proxy",
            "NO_PROXY",
            "grpc_proxy",
            "no_grpc_proxy",
            "REQUESTS_CA_BUNDLE",
            "AWS_CA_BUNDLE",
        ):
            monkeypatch.delenv(name, raising=False)

    @contextmanager
    def reading(self, secured, address, **params):
        with secured.make(address, {"attempts": "1", "timeout": "5s", **params}) as provider:
            yield provider

    def works(self, secured, provider):
        answer = provider.get(secured.path, {secured.key})
        assert set(answer.data) == {secured.key}
        assert answer.data[secured.key] == secured.value, "another value"

    def fails(self, secured, provider, kind=ProviderUnavailableError):
        with pytest.raises(kind) as caught:
            provider.get(secured.path, {secured.key})
        text = "".join(traceback.format_exception(caught.value))
        assert BODY_MARK not in text
        assert secured.value not in text
        assert caught.value.__context__ is None, "the client's exception must be gone"
        return str(caught.value)

    def test_own_authority_over_one_connection(self, secured, tls):
        with TlsFront(secured.port, tls) as front:
            with self.reading(secured, f"localhost:{front.port}", **{"ca.file": tls.ca}) as provider:
                self.works(secured, provider)
                used = front.connections
                for _ in range(3):
                    self.works(secured, provider)
                assert not self.keeps_connections or front.connections == used, "connections are kept"
            with self.reading(secured, f"localhost:{front.port}") as provider:
                assert "ca.file" in self.fails(secured, provider)

    def test_a_certificate_that_has_ended(self, secured, expired_tls):
        with (
            TlsFront(secured.port, expired_tls) as front,
            self.reading(secured, f"localhost:{front.port}", **{"ca.file": expired_tls.ca}) as provider,
        ):
            self.fails(secured, provider)

    def test_through_a_proxy(self, secured, tls, monkeypatch):
        with TlsFront(secured.port, tls) as front, Tunnel(front.port) as tunnel:
            params = self.by(tunnel, secured, monkeypatch)
            with self.reading(secured, "localhost:9", **{"ca.file": tls.ca}, **params) as provider:
                self.works(secured, provider)
            assert "localhost:9" in tunnel.asked

    def test_a_certificate_for_another_name(self, secured, tls, monkeypatch):
        with TlsFront(secured.port, tls) as front, Tunnel(front.port) as tunnel:
            params = self.by(tunnel, secured, monkeypatch)
            with self.reading(secured, "elsewhere.invalid:443", **{"ca.file": tls.ca}, **params) as provider:
                self.fails(secured, provider)
            assert tunnel.asked

    def test_a_proxy_that_refuses(self, secured, tls, monkeypatch):
        with Tunnel(secured.port, status=407) as tunnel:
            params = self.by(tunnel, secured, monkeypatch)
            with self.reading(secured, "localhost:9", **{"ca.file": tls.ca}, **params) as provider:
                self.fails(secured, provider, ProviderError)

    def by(self, tunnel, secured, monkeypatch):
        """Return the params of a proxy, or set the environment variable."""
        if secured.proxy:
            return {secured.proxy: tunnel.url}
        monkeypatch.setenv("https_proxy", tunnel.url)
        return {}

    def test_connections_that_are_cut(self, secured, tls):
        with (
            TlsFront(secured.port, tls) as front,
            self.reading(secured, f"localhost:{front.port}", **{"ca.file": tls.ca}) as provider,
        ):
            front.cut = 10
            self.fails(secured, provider)
        with (
            TlsFront(secured.port, tls) as front,
            self.reading(secured, f"localhost:{front.port}", **{"ca.file": tls.ca}, attempts="5") as provider,
        ):
            self.works(secured, provider)
            front.cut = 1
            front.hang_up()
            self.works(secured, provider)

    @pytest.mark.parametrize("newest", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
    def test_algorithms_of_fips_140_are_enough(self, secured, tls, newest, monkeypatch):
        _refuse_md5(monkeypatch)
        with (
            TlsFront(secured.port, tls, ciphers=FIPS_CIPHERS, newest=newest) as front,
            self.reading(secured, f"localhost:{front.port}", **{"ca.file": tls.ca}) as provider,
        ):
            self.works(secured, provider)

    def test_old_tls_is_refused(self, secured, tls):
        with (
            TlsFront(secured.port, tls, ciphers=OLD, newest=ssl.TLSVersion.TLSv1_1) as front,
            self.reading(secured, f"localhost:{front.port}", **{"ca.file": tls.ca}) as provider,
        ):
            self.fails(secured, provider)


def _refuse_md5(monkeypatch):
    """Let MD5 fail as it does where OpenSSL is in FIPS mode."""
    md5 = hashlib.md5

    def fails(*arguments, usedforsecurity=True):
        if usedforsecurity:
            raise ValueError("unsupported")
        return md5(*arguments, usedforsecurity=False)

    monkeypatch.setattr(hashlib, "md5", fails)
