"""The vault provider against a real OpenBao, and against a contract fake where requests and faults are what counts.

See tests/support/real_vault.py for what the server has to be like.
"""

import pytest

from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderUnavailableError,
    SecretNotFoundError,
)
from sparkconfig.providers.vault.provider import VaultConfigProvider
from sparkconfig.testing import ContractCase, ProviderContract
from support.fakes.http_server import Fault
from support.vaults import DATA, make


class TestKv2(ProviderContract):
    @pytest.fixture
    def case(self, vault):
        params, denied = vault.params(), "locked/x"
        return ContractCase(
            VaultConfigProvider, params, "db/prod", DATA, denied_path=denied, secret_params=("token",)
        )


class TestKv1(ProviderContract):
    @pytest.fixture
    def case(self, vault):
        params, denied = vault.params("kv1"), "locked/x"
        return ContractCase(
            VaultConfigProvider, params, "db/prod", DATA, denied_path=denied, secret_params=("token",)
        )


class TestVersions:
    def test_a_version_can_be_pinned(self, vault):
        vault.put("versions", DATA)
        vault.put("versions", {"password": "second-one"})
        with make(vault) as provider:
            assert provider.get("versions").data == {"password": "second-one"}
            assert provider.get("versions?version=1").data == DATA
            with pytest.raises(SecretNotFoundError):
                provider.get("versions?version=9")

    @pytest.mark.parametrize("end", ["delete", "destroy"])
    def test_deleted_and_destroyed_versions_are_not_there(self, vault, end):
        vault.put(f"ends/{end}", DATA)
        getattr(vault, end)(f"ends/{end}", 1)
        with make(vault) as provider, pytest.raises(SecretNotFoundError):
            provider.get(f"ends/{end}")

    @pytest.mark.parametrize("path", ["db/prod?v=1", "db/prod?version=", "db/prod?version=1&version=2"])
    def test_malformed_pins_are_refused(self, fake, path):
        with make(fake) as provider, pytest.raises(ConfigurationError, match=r"\?version"):
            provider.get(path)

    def test_kv1_has_no_versions(self, fake):
        with make(fake, "kv1") as provider, pytest.raises(ConfigurationError):
            provider.get("db/prod?version=1")

    def test_a_version_that_ends_soon_has_a_short_ttl(self, vault):
        vault.put("db/soon", DATA, seconds=60)
        with make(vault, ttl="1h") as provider:
            assert 0 < provider.get("db/soon").ttl <= 60_000
            assert provider.get("db/prod").ttl == 3_600_000

    def test_without_an_end_there_is_no_ttl(self, vault):
        with make(vault) as provider:
            assert provider.get("db/prod").ttl is None


class TestValues:
    def test_nested_fields_have_dotted_names(self, vault):
        fields = {"db": {"port": 5432, "tls": True, "rate": 0.5}, "none": None, "hosts": ["a", "b"]}
        vault.put("nested", fields)
        with make(vault) as provider:
            assert provider.get("nested").data == {
                "db.port": "5432",
                "db.tls": "true",
                "db.rate": "0.5",
                "hosts.0": "a",
                "hosts.1": "b",
            }

    def test_huge_values_arrive_whole(self, vault):
        size = 900_000  # an entry of its storage has a limit
        vault.put("huge", {"blob": "x" * size})
        with make(vault) as provider:
            assert len(provider.get("huge").data["blob"]) == size

    def test_a_binary_value_is_the_base64_that_was_written(self, vault):
        written = "/wD+AQ=="
        vault.put("binary", {"store.jks": written})
        with make(vault) as provider:
            assert provider.get("binary").data == {"store.jks": written}

    @pytest.mark.parametrize("path", ["../sys/raw", "a/../../x", "./a"])
    def test_a_path_cannot_leave_the_mount(self, fake, path):
        with make(fake) as provider, pytest.raises(AccessDeniedError):
            provider.get(path)
        assert not fake.requests

    def test_odd_characters_stay_in_the_path(self, vault):
        vault.put("a b/ü#%2e", DATA)
        with make(vault) as provider:
            assert provider.get("a b/ü#%2e").data == DATA


class TestAuthentication:
    def test_the_environment_gives_address_and_token(self, vault, monkeypatch):
        monkeypatch.setenv("VAULT_ADDR", vault.url)
        monkeypatch.setenv("VAULT_TOKEN", vault.ROOT)
        others = {key: text for key, text in vault.params().items() if key not in ("address", "token")}
        with VaultConfigProvider() as provider:
            provider.configure(others)
            assert provider.get("db/prod").data == DATA

    def test_a_token_file_is_read_again_when_it_changes(self, vault, tmp_path):
        file, old, new = tmp_path / "token", vault.new_token(), vault.new_token()
        file.write_text(f"{old}\n")
        with make(vault, **{"token.file": str(file)}) as provider:
            assert provider.get("db/prod").data == DATA
            vault.revoke_token(old)
            with pytest.raises(AccessDeniedError):
                provider.get("db/prod")
            file.write_text(f"{new}\n")
            assert provider.get("db/prod").data == DATA
            file.unlink()
            with pytest.raises(AccessDeniedError, match=r"token\.file"):
                provider.get("db/prod")

    def test_approle_logs_in_once_and_again_when_the_token_ends(self, vault, tmp_path):
        params = vault.approle()
        (tmp_path / "sid").write_text(params.pop("secret.id") + "\n")
        with make(vault, **params, **{"secret.id.file": str(tmp_path / "sid")}) as provider:
            for _ in range(3):
                provider.get("db/prod")
            assert provider._session.logins == 1
            vault.end_logins()
            assert provider.get("db/prod").data == DATA
            assert provider._session.logins == 2

    def test_its_token_is_renewed_since_a_secret_id_may_be_good_for_one_login(self, vault):
        with make(vault, **vault.approle(max_seconds=7200, uses=1)) as provider:
            provider.get("db/prod")
            end = provider._session.end
            provider._session._until = 0.0  # its three quarters are over
            assert provider.get("db/prod").data == DATA
            assert provider._session.logins == 1
            assert provider._session.end >= end

    def test_a_token_that_cannot_be_renewed_for_long_is_replaced(self, vault):
        with make(vault, **vault.approle(seconds=120, max_seconds=120)) as provider:
            provider.get("db/prod")
            vault.approle(seconds=50, max_seconds=50)  # from here on, a renewal grants less than half
            provider._session._until = 0.0  # its three quarters are over
            assert provider.get("db/prod").data == DATA
            assert provider._session.logins == 2

    def test_a_token_that_has_ended_is_replaced(self, vault):
        with make(vault, **vault.approle(seconds=3, max_seconds=3)) as provider:
            provider.get("db/prod")
            ended, logins = provider._client.token, provider._session.logins
            vault.approle()
            vault.await_end_of_token(ended)
            provider._session._until = float("inf")  # as if this machine's clock were late
            assert provider.get("db/prod").data == DATA
            assert provider._session.logins == logins + 1

    def test_a_denied_path_costs_no_login(self, vault):
        with make(vault, **vault.approle()) as provider:
            for _ in range(3):
                with pytest.raises(AccessDeniedError):
                    provider.get("locked/x")
            assert provider.get("db/prod").data == DATA
            assert provider._session.logins == 1

    def test_close_revokes_the_token_of_a_login_and_leaves_a_given_one(self, vault):
        provider = make(vault, **vault.approle())
        provider.get("db/prod")
        token = provider._client.token
        provider.close()
        with make(vault, token=token) as other, pytest.raises(AccessDeniedError):
            other.get("db/prod")
        make(vault).close()
        with make(vault) as other:
            assert other.get("db/prod").data == DATA

    def test_wrong_credentials_are_not_allowed_and_not_shown(self, vault):
        params = {**vault.approle(), "secret.id": "wrong-secret-id-1"}
        with make(vault, **params) as provider:
            with pytest.raises(AccessDeniedError) as caught:
                provider.get("db/prod")
            assert provider._session.logins == 0
        assert "approle" in str(caught.value)
        assert "wrong-secret-id-1" not in str(caught.value)

    @pytest.mark.parametrize("method", ["kubernetes", "jwt"])
    def test_jwt_logins(self, vault, tmp_path, method):
        params, text = vault.jwt(method)
        (tmp_path / "jwt").write_text(f"{text}\n")
        with make(vault, **params, **{"jwt.file": str(tmp_path / "jwt")}) as provider:
            assert provider.get("db/prod").data == DATA
        (tmp_path / "jwt").write_text(f"{text}x")
        with (
            make(vault, **params, **{"jwt.file": str(tmp_path / "jwt")}) as provider,
            pytest.raises(AccessDeniedError),
        ):
            provider.get("db/prod")

    def test_a_namespace(self, vault):
        name = vault.make_namespace()
        with make(vault, namespace=name) as provider:
            assert provider.get("db/prod").data == DATA


class TestLeases:
    """Credentials of a database; with a real server those of a real PostgreSQL."""

    def test_credentials_are_made_once_and_renewed(self, vault):
        vault.make_role("shop")
        with make(vault, "dynamic") as provider:
            first = provider.get("creds/shop")
            again = provider.get("creds/shop", {"password"})
            assert again.data["password"] == first.data["password"]
            assert 0 < first.ttl <= 600_000
            assert vault.opens(first.data)

    def test_close_revokes_them(self, vault):
        vault.make_role("shop")
        with make(vault, "dynamic") as provider:
            first = provider.get("creds/shop").data
            assert vault.opens(first)
        assert not vault.opens(first)

    def test_close_revokes_those_of_a_login(self, vault):
        vault.make_role("shop")
        with make(vault, "dynamic", **vault.approle()) as provider:
            first = provider.get("creds/shop").data
            assert vault.opens(first)
        assert not vault.opens(first)

    def test_new_ones_when_a_renewal_grants_less_than_half(self, vault):
        vault.make_role("ending", seconds=120, max_seconds=120)
        with make(vault, "dynamic") as provider:
            first = provider.get("creds/ending").data
            assert provider.get("creds/ending").data == first
            vault.make_role("ending", seconds=50, max_seconds=50)
            second = provider.get("creds/ending").data
            assert second["password"] != first["password"]
            assert vault.opens(first), "the old ones may still be in use"
            assert vault.opens(second)
        assert not vault.opens(first)
        assert not vault.opens(second)

    def test_new_ones_when_the_lease_has_ended(self, vault):
        vault.make_role("ended", seconds=2, max_seconds=2)
        with make(vault, "dynamic") as provider:
            first = provider.get("creds/ended").data
            vault.make_role("ended")
            vault.await_end_of_lease(provider._leases.by_path["creds/ended"].id)
            assert not vault.opens(first)
            second = provider.get("creds/ended").data
            assert second["password"] != first["password"]
            assert vault.opens(second)

    def test_new_ones_when_the_lease_was_revoked(self, vault):
        vault.make_role("shop")
        with make(vault, "dynamic") as provider:
            first = provider.get("creds/shop").data
            vault.end_leases()
            assert not vault.opens(first)
            second = provider.get("creds/shop").data
            assert second["password"] != first["password"]
            assert vault.opens(second)

    def test_new_ones_with_a_new_token_since_a_lease_ends_with_the_one_that_made_it(self, vault):
        vault.make_role("shop")
        with make(vault, "dynamic", **vault.approle()) as provider:
            first = provider.get("creds/shop").data
            vault.end_logins()
            second = provider.get("creds/shop").data
            assert second["password"] != first["password"]
            assert vault.opens(second)
            provider._session._until, provider._session._renewable = 0.0, False
            third = provider.get("creds/shop").data
            assert third["password"] != second["password"], (
                "the second ones end with a token that is not renewed"
            )
            assert vault.opens(third)

    def test_the_ttl_ends_with_the_token(self, vault):
        vault.make_role("shop")
        with make(vault, "dynamic", **vault.approle(seconds=60, max_seconds=60)) as provider:
            assert 0 < provider.get("creds/shop").ttl <= 60_000

    def test_without_the_right_to_renew_they_serve_until_a_quarter_is_left(self, fake):
        fake.make_role("shop")
        fake.may_renew = False
        with make(fake, "dynamic") as provider:
            first = provider.get("creds/shop")
            assert provider.get("creds/shop").data == first.data
            provider._leases.by_path["creds/shop"].until -= 500
            assert provider.get("creds/shop").data != first.data

    def test_an_outage_while_renewing_is_an_outage(self, fake):
        fake.make_role("shop")
        with make(fake, "dynamic", attempts="1") as provider:
            provider.get("creds/shop")
            fake.fault(Fault(503))
            with pytest.raises(ProviderUnavailableError):
                provider.get("creds/shop")
            assert len(fake.leases) == 1

    def test_close_never_fails(self, fake):
        fake.make_role("shop")
        fake.make_role("other")
        provider = make(fake, "dynamic")
        provider.get("creds/shop")
        provider.get("creds/other")
        fake.fault(Fault(503))
        provider.close()
        assert len(fake.revoked) == 1
        provider.close()

    def test_a_secret_without_lease_needs_another_engine(self, vault):
        mount = vault.MOUNTS["kv1"]
        with make(vault, "dynamic", mount=mount) as provider, pytest.raises(Exception, match="engine"):
            provider.get("db/prod")

    def test_threads_get_the_same_credentials(self, vault):
        from concurrent.futures import ThreadPoolExecutor

        vault.make_role("shop")
        with make(vault, "dynamic") as provider, ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: provider.get("creds/shop").data["password"], range(16)))
        assert len(set(answers)) == 1
