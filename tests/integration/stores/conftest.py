"""Shared by the tests of secret stores."""

import pytest

from support.fakes.tls import make_tls


@pytest.fixture(scope="session")
def tls(tmp_path_factory):
    """An authority and a certificate for localhost."""
    return make_tls(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="session")
def expired_tls(tmp_path_factory):
    """The same, and the certificate has ended."""
    return make_tls(tmp_path_factory.mktemp("expired-tls"), expired=True)


@pytest.fixture(scope="module")
def moto():
    """moto's server."""
    from support.fakes.moto_server import moto_server

    with moto_server() as server:
        yield server


@pytest.fixture(autouse=True)
def _no_ambient_credentials(monkeypatch):
    """What the machine's user is allowed elsewhere plays no part here."""
    for name in (
        "VAULT_TOKEN",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "http_proxy",
        "https_proxy",
        "ALL_PROXY",
        "all_proxy",
    ):
        monkeypatch.delenv(name, raising=False)
