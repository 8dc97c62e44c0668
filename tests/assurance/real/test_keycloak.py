"""Tokens of a real Keycloak: by each grant of `oauth2`, and as logins of Vault's provider. Part of ``make real``."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from real.sources.base import CACHE
from sparkconfig.errors import AccessDeniedError
from sparkconfig.providers.oauth2 import OAuth2ConfigProvider
from sparkconfig.providers.vault.provider import VaultConfigProvider
from support.keycloak import AUDIENCE, CLIENT, Keycloak
from support.openbao import OpenBaoServer
from support.processes import Run

pytestmark = pytest.mark.timeout(1200)

WRONG = "wrong-secret-of-the-client"


@pytest.fixture(scope="module")
def keycloak(harness_run: Run) -> Iterator[Keycloak]:
    server = Keycloak(harness_run, cache=CACHE)
    yield server
    server.stop()


def made(keycloak: Keycloak, **params: str) -> OAuth2ConfigProvider:
    provider = OAuth2ConfigProvider()
    given = {name.replace("_", "."): text for name, text in params.items()}
    client = {"client.id": CLIENT, "client.secret": keycloak.secret}
    provider.configure({"token.url": keycloak.token_url, **client, **given})
    return provider


@pytest.mark.parametrize("auth", ["basic", "post"])
def test_client_credentials(keycloak: Keycloak, auth: str) -> None:
    with made(keycloak, client_auth=auth) as provider:
        first, second = (provider.get("", {"access_token", "authorization"}) for _ in range(2))
    assert first.data["access_token"] != second.data["access_token"]
    assert second.data["authorization"] == f"Bearer {second.data['access_token']}"
    # Three quarters, in milliseconds; Keycloak counts whole seconds from before its answer.
    assert (keycloak.life - 5) * 750 <= (first.ttl or 0) <= keycloak.life * 750
    claims = keycloak.claims(second.data["access_token"])
    assert claims["active"]
    assert claims["client_id"] == CLIENT


def test_a_scope_is_part_of_the_path(keycloak: Keycloak) -> None:
    with made(keycloak) as provider:
        found = provider.get("openid email", {"access_token", "id_token"}).data
        assert found["id_token"].count(".") == 2
        assert {"openid", "email"} <= set(str(keycloak.claims(found["access_token"])["scope"]).split())
        with pytest.raises(AccessDeniedError, match="invalid_scope"):
            provider.get("no-such-scope", {"access_token"})


def test_refresh_tokens_follow_one_another_until_the_user_logs_out(keycloak: Keycloak) -> None:
    login = keycloak.login()
    with made(keycloak, grant="refresh_token", refresh_token=login["refresh_token"]) as provider:
        for _ in range(2):
            found = provider.get("", {"access_token", "refresh_token"}).data
            assert set(found) == {"access_token"}
            assert keycloak.claims(found["access_token"])["username"] == "ann"
        keycloak.end_sessions(login["refresh_token"])
        with pytest.raises(AccessDeniedError, match="invalid_grant") as caught:
            provider.get("", {"access_token"})
    assert login["refresh_token"] not in str(caught.value)


def test_exchange_keeps_the_user(keycloak: Keycloak, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(keycloak.login()["access_token"])
    given = {"grant": "token_exchange", "subject_token_file": str(file), "subject_token_type": "access_token"}
    with made(keycloak, **given) as provider:
        claims = keycloak.claims(provider.get("", {"access_token"}).data["access_token"])
        assert claims["username"] == "ann"
        file.write_text("a.token.of-nobody-5521")
        with pytest.raises(AccessDeniedError) as caught:
            provider.get("", {"access_token"})
    assert "of-nobody-5521" not in str(caught.value)


def test_a_wrong_secret(keycloak: Keycloak) -> None:
    refused = pytest.raises(AccessDeniedError, match=r"unauthorized_client|invalid_client")
    with made(keycloak, client_secret=WRONG) as provider, refused as caught:
        provider.get("", {"access_token"})
    assert WRONG not in str(caught.value)


def test_tokens_log_in_to_vault(keycloak: Keycloak, openbao: OpenBaoServer, tmp_path: Path) -> None:
    """Vault reads Keycloak's keys from its discovery document, and takes tokens that are meant for it."""

    def call(path: str, body: dict[str, object]) -> None:
        headers = {"X-Vault-Token": openbao.token}
        request = urllib.request.Request(f"{openbao.url}/v1/{path}", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=30):
            pass

    call("sys/auth/keycloak", {"type": "jwt"})
    call("auth/keycloak/config", {"oidc_discovery_url": keycloak.url, "bound_issuer": keycloak.url})
    call("sys/policies/acl/keycloak", {"policy": 'path "secret/data/db/*" { capabilities = ["read"] }'})
    role = {"role_type": "jwt", "user_claim": "client_id", "bound_audiences": [AUDIENCE]}
    call("auth/keycloak/role/spark", {**role, "token_policies": ["keycloak"]})
    call("secret/data/db/prod", {"data": {"password": "value-of-keycloak-1"}})

    file = tmp_path / "jwt"
    with made(keycloak) as tokens:
        file.write_text(tokens.get("", {"access_token"}).data["access_token"])
    params = {
        "address": openbao.url, "engine": "kv2", "mount": "secret", "auth": "jwt", "auth.mount": "keycloak",
        "role": "spark", "jwt.file": str(file),
    }  # fmt: skip
    vault = VaultConfigProvider()
    vault.configure(params)
    with vault:
        assert vault.get("db/prod", {"password"}).data == {"password": "value-of-keycloak-1"}
    file.write_text(file.read_text()[:-8] + "AAAAAAAA")
    other = VaultConfigProvider()
    other.configure(params)
    with other, pytest.raises(AccessDeniedError) as caught:
        other.get("db/prod", {"password"})
    assert file.read_text() not in str(caught.value)
