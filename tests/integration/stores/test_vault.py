"""The vault provider against a contract fake, and a real Vault when VAULT_ADDR and VAULT_TOKEN are set.

A real server needs kv2 at ``secret`` and a token that may write there: ``vault server -dev`` will do.
"""

import datetime as dt
import json
import os
import urllib.request

import pytest

from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderUnavailableError,
    SecretNotFoundError,
)
from sparkconfig.providers.vault import VaultConfigProvider
from sparkconfig.testing import ContractCase, ProviderContract
from support.fakes.http_server import Fault
from support.fakes.vault import FakeVault
from support.store_faults import Faulty, StoreFaults

REAL = (os.environ.get("VAULT_ADDR"), os.environ.get("VAULT_TOKEN"))
DATA = {"username": "alice-0001", "password": "s3cret-value-77"}


@pytest.fixture
def vault(monkeypatch):
    monkeypatch.delenv("VAULT_ADDR", raising=False)
    with FakeVault() as fake:
        fake.put("db/prod", DATA)
        fake.kv1["db/prod"] = DATA
        yield fake


def make(vault, **params):
    provider = VaultConfigProvider()
    token = {} if "auth" in params or "token.file" in params else {"token": vault.ROOT}
    provider.configure({"address": vault.url, **token, **params})
    return provider


class TestKv2(ProviderContract):
    @pytest.fixture
    def case(self, vault):
        params = {"address": vault.url, "token": vault.ROOT}
        return ContractCase(
            VaultConfigProvider, params, "db/prod", DATA, denied_path="locked/x", secret_params=("token",)
        )


class TestKv1(ProviderContract):
    @pytest.fixture
    def case(self, vault):
        params = {"address": vault.url, "token": vault.ROOT, "engine": "kv1", "mount": "kv"}
        return ContractCase(
            VaultConfigProvider, params, "db/prod", DATA, denied_path="locked/x", secret_params=("token",)
        )


if all(REAL):

    class TestRealKv2(ProviderContract):
        @pytest.fixture
        def case(self):
            address, token = REAL
            request = urllib.request.Request(
                f"{address}/v1/secret/data/sparkconfig-test/db",
                json.dumps({"data": DATA}).encode(),
                {"X-Vault-Token": token},
            )
            urllib.request.urlopen(request).close()
            params = {"address": address, "token": token}
            path = "sparkconfig-test/db"
            return ContractCase(VaultConfigProvider, params, path, DATA, secret_params=("token",))


class TestFaults(StoreFaults):
    @pytest.fixture
    def faulty(self, vault):
        def maker(params):
            return make(vault, **params)

        return Faulty(vault, maker, "db/prod", "password", DATA["password"], "address")


class TestVersions:
    def test_a_version_can_be_pinned(self, vault):
        vault.put("db/prod", {"password": "second-one"})
        with make(vault) as provider:
            assert provider.get("db/prod").data == {"password": "second-one"}
            assert provider.get("db/prod?version=1").data == DATA

    @pytest.mark.parametrize("end", ["delete", "destroy"])
    def test_deleted_and_destroyed_versions_are_not_there(self, vault, end):
        getattr(vault, end)("db/prod", 1)
        with make(vault) as provider, pytest.raises(SecretNotFoundError):
            provider.get("db/prod")

    @pytest.mark.parametrize("path", ["db/prod?v=1", "db/prod?version=", "db/prod?version=1&version=2"])
    def test_malformed_pins_are_refused(self, vault, path):
        with make(vault) as provider, pytest.raises(ConfigurationError, match=r"\?version"):
            provider.get(path)

    def test_kv1_has_no_versions(self, vault):
        with make(vault, engine="kv1", mount="kv") as provider, pytest.raises(ConfigurationError):
            provider.get("db/prod?version=1")

    def test_a_version_that_ends_soon_has_a_short_ttl(self, vault):
        soon = dt.datetime.now(dt.timezone.utc) + dt.timedelta(seconds=60)
        vault.put("db/soon", DATA, deletion_time=soon.strftime("%Y-%m-%dT%H:%M:%S.123456789Z"))
        with make(vault, ttl="1h") as provider:
            assert 0 < provider.get("db/soon").ttl <= 60_000
            assert provider.get("db/prod").ttl == 3_600_000

    def test_without_an_end_there_is_no_ttl(self, vault):
        with make(vault) as provider:
            assert provider.get("db/prod").ttl is None


class TestValues:
    def test_nested_fields_have_dotted_names(self, vault):
        vault.put(
            "nested", {"db": {"port": 5432, "tls": True, "rate": 0.10}, "none": None, "hosts": ["a", "b"]}
        )
        with make(vault) as provider:
            assert provider.get("nested").data == {
                "db.port": "5432",
                "db.tls": "true",
                "db.rate": "0.1",
                "hosts.0": "a",
                "hosts.1": "b",
            }

    def test_huge_values_arrive_whole(self, vault):
        vault.put("huge", {"blob": "x" * 5_000_000})
        with make(vault) as provider:
            assert len(provider.get("huge").data["blob"]) == 5_000_000

    @pytest.mark.parametrize("path", ["../sys/raw", "a/../../x", "./a"])
    def test_a_path_cannot_leave_the_mount(self, vault, path):
        with make(vault) as provider, pytest.raises(AccessDeniedError):
            provider.get(path)
        assert not vault.requests

    def test_odd_characters_stay_in_the_path(self, vault):
        vault.put("a b/ü#%2e", DATA)
        with make(vault) as provider:
            assert provider.get("a b/ü#%2e").data == DATA


class TestAuthentication:
    def test_the_environment_gives_address_and_token(self, vault, monkeypatch):
        monkeypatch.setenv("VAULT_ADDR", vault.url)
        monkeypatch.setenv("VAULT_TOKEN", vault.ROOT)
        with VaultConfigProvider() as provider:
            provider.configure({})
            assert provider.get("db/prod").data == DATA

    def test_a_token_file_is_read_again_when_it_changes(self, vault, tmp_path):
        file = tmp_path / "token"
        file.write_text("old-token-000000\n")
        vault.tokens = {"old-token-000000"}
        with make(vault, **{"token.file": str(file)}) as provider:
            assert provider.get("db/prod").data == DATA
            vault.tokens = {"new-token-000000"}
            file.write_text("new-token-000000\n")
            assert provider.get("db/prod").data == DATA
            file.unlink()
            with pytest.raises(AccessDeniedError, match=r"token\.file"):
                provider.get("db/prod")

    def test_a_revoked_token_is_not_allowed(self, vault):
        with make(vault) as provider:
            provider.get("db/prod")
            vault.tokens = set()
            with pytest.raises(AccessDeniedError):
                provider.get("db/prod")

    def test_approle_logs_in_once_and_again_when_the_token_ends(self, vault, tmp_path):
        vault.approles["role-1"] = "secret-id-000001"
        (tmp_path / "sid").write_text("secret-id-000001\n")
        params = {"auth": "approle", "role.id": "role-1", "secret.id.file": str(tmp_path / "sid")}
        with make(vault, **params) as provider:
            for _ in range(3):
                provider.get("db/prod")
            assert _logins(vault) == 1
            vault.expire_tokens()
            assert provider.get("db/prod").data == DATA
            assert _logins(vault) == 2

    def test_logs_in_before_the_token_ends(self, vault):
        vault.approles["role-1"] = "secret-id-000001"
        params = {"auth": "approle", "role.id": "role-1", "secret.id": "secret-id-000001"}
        with make(vault, **params) as provider:
            provider.get("db/prod")
            provider._session._until = 0.0  # its three quarters are over
            provider.get("db/prod")
            assert _logins(vault) == 2

    def test_wrong_credentials_are_not_allowed_and_not_shown(self, vault):
        params = {"auth": "approle", "role.id": "role-1", "secret.id": "wrong-secret-id-1"}
        with make(vault, **params) as provider, pytest.raises(AccessDeniedError) as caught:
            provider.get("db/prod")
        assert "approle" in str(caught.value)
        assert "wrong-secret-id-1" not in str(caught.value)
        assert _logins(vault) == 1

    @pytest.mark.parametrize("method", ["kubernetes", "jwt"])
    def test_jwt_logins(self, vault, tmp_path, method):
        vault.jwts["spark"] = "the.jwt.text"
        (tmp_path / "jwt").write_text("the.jwt.text")
        params = {"auth": method, "role": "spark", "jwt.file": str(tmp_path / "jwt")}
        with make(vault, **params) as provider:
            assert provider.get("db/prod").data == DATA
        assert vault.requests[0].json() == {"role": "spark", "jwt": "the.jwt.text"}
        assert vault.requests[0].path == f"/v1/auth/{method}/login"

    def test_a_login_server_in_trouble_is_unavailable(self, vault):
        vault.approles["role-1"] = "secret-id-000001"
        params = {"auth": "approle", "role.id": "role-1", "secret.id": "secret-id-000001", "attempts": "2"}
        vault.fault(Fault(503), Fault(503))
        with make(vault, **params) as provider, pytest.raises(ProviderUnavailableError):
            provider.get("db/prod")

    def test_the_namespace_is_sent(self, vault):
        vault.namespace = "team-a"
        with make(vault, namespace="team-a") as provider:
            assert provider.get("db/prod").data == DATA
        with make(vault) as provider, pytest.raises(SecretNotFoundError):
            provider.get("db/prod")

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


def _logins(vault):
    return sum("/login" in request.path for request in vault.requests)


class TestLeases:
    def test_credentials_are_made_once_and_renewed(self, vault):
        with make(vault, engine="dynamic") as provider:
            first = provider.get("creds/shop")
            again = provider.get("creds/shop", {"password"})
            assert again.data["password"] == first.data["password"]
            assert first.lease_renewable
            assert 0 < first.ttl <= 600_000
            assert len(vault.leases) == 1

    def test_new_ones_when_the_lease_comes_to_its_end(self, vault):
        with make(vault, engine="dynamic") as provider:
            first = provider.get("creds/shop")
            vault.max_renewal = 100  # less than half of the lease is granted
            assert provider.get("creds/shop").data["password"] != first.data["password"]
            assert not vault.revoked, "the old ones may still be in use"
        assert len(vault.revoked) == 2

    def test_new_ones_when_the_lease_was_revoked(self, vault):
        with make(vault, engine="dynamic") as provider:
            first = provider.get("creds/shop")
            vault.leases.clear()
            assert provider.get("creds/shop").data["password"] != first.data["password"]

    def test_an_outage_while_renewing_is_an_outage(self, vault):
        with make(vault, engine="dynamic", attempts="1") as provider:
            provider.get("creds/shop")
            vault.fault(Fault(503))
            with pytest.raises(ProviderUnavailableError):
                provider.get("creds/shop")
            assert len(vault.leases) == 1

    def test_close_revokes_and_never_fails(self, vault):
        provider = make(vault, engine="dynamic")
        provider.get("creds/shop")
        provider.get("creds/other")
        vault.fault(Fault(503))
        provider.close()
        assert len(vault.revoked) == 1
        provider.close()

    def test_a_secret_without_lease_needs_another_engine(self, vault):
        with make(vault, engine="dynamic", mount="kv") as provider, pytest.raises(Exception, match="engine"):
            provider.get("db/prod")

    def test_threads_get_the_same_credentials(self, vault):
        from concurrent.futures import ThreadPoolExecutor

        with make(vault, engine="dynamic") as provider, ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: provider.get("creds/shop").data["password"], range(16)))
        assert len(set(answers)) == 1


class TestTransport:
    def test_own_authority(self, tls, monkeypatch):
        with FakeVault(tls) as fake:
            fake.put("db/prod", DATA)
            with make(fake, **{"ca.file": tls.ca}) as provider:
                assert provider.get("db/prod").data == DATA
            with make(fake, attempts="1") as provider, pytest.raises(ProviderUnavailableError, match="TLS"):
                provider.get("db/prod")

    def test_proxy(self, vault):
        class Proxy(FakeVault):
            pass

        with Proxy() as proxy:
            proxy.put("db/prod", {"password": "by-way-of-the-proxy"})
            params = {"address": "http://vault.invalid:8200", "proxy": proxy.url, "token": proxy.ROOT}
            with VaultConfigProvider() as provider:
                provider.configure(params)
                # A proxy gets the whole URL as target; the fake looks at its path alone.
                assert provider.get("db/prod").data == {"password": "by-way-of-the-proxy"}
            assert proxy.requests[0].target.startswith("http://vault.invalid:8200/")

    def test_a_missing_client_names_the_extra(self, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "hvac", None)
        with (
            VaultConfigProvider() as provider,
            pytest.raises(ConfigurationError, match=r"sparkconfig\[vault\]"),
        ):
            provider.configure({"address": "http://localhost:1", "token": "t"})
