"""Vaults with the same secrets: a real server, and a contract fake for what a real one cannot be asked for."""

import pytest

from support.fakes.vault import FakeVault
from support.real_vault import RealVault
from support.vaults import filled


@pytest.fixture(autouse=True)
def _no_address(monkeypatch):
    monkeypatch.delenv("VAULT_ADDR", raising=False)


@pytest.fixture(scope="module")
def server(request):
    with RealVault.of(request) as real:
        if real.local:
            real.postgres = request.getfixturevalue("postgres")
        yield real


@pytest.fixture
def fake():
    with FakeVault() as fake:
        yield filled(fake)


@pytest.fixture
def vault(server):
    server.ROOT = server.new_token()
    return filled(server)
