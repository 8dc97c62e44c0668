"""The azure-keyvault provider against a contract fake over TLS, with a login at a fake of the token endpoint."""

import json
import logging
import time

import pytest

from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderError,
    ProviderUnavailableError,
)
from sparkconfig.providers.azure_keyvault import AzureKeyVaultConfigProvider
from sparkconfig.testing import ContractCase, ProviderContract
from support.fakes.http_server import BODY_MARK, Fault
from support.fakes.key_vault import FakeKeyVault
from support.store_faults import Faulty, StoreFaults
from support.store_transport import Secured, StoreTransport

DATA = {"username": "alice-0001", "password": "s3cret-value-77"}


@pytest.fixture
def vault(tls):
    with FakeKeyVault(tls) as fake:
        fake.put("shop-prod", json.dumps(DATA))
        for key, value in DATA.items():
            fake.put(f"whole-{key}", value)
        yield fake


@pytest.fixture
def params(vault, tls):
    return {
        "vault.url": vault.url,
        "tenant.id": vault.TENANT,
        "client.id": vault.CLIENT,
        "client.secret": vault.SECRET,
        "authority.host": vault.url,
        "verify.challenge": "false",
        "ca.file": tls.ca,
    }


def make(params, **more):
    provider = AzureKeyVaultConfigProvider()
    provider.configure({**params, **more})
    return provider


SECRET = ("client.secret",)


class TestJson(ProviderContract):
    @pytest.fixture
    def case(self, params):
        return ContractCase(
            AzureKeyVaultConfigProvider,
            params,
            "shop-prod",
            DATA,
            missing_path="absent",
            denied_path="locked",
            secret_params=SECRET,
        )


class TestWhole(ProviderContract):
    @pytest.fixture
    def case(self, params):
        params = {**params, "layout": "whole"}
        return ContractCase(
            AzureKeyVaultConfigProvider,
            params,
            "whole",
            DATA,
            missing_path="absent",
            lists_all=False,
            secret_params=SECRET,
        )


class TestFaults(StoreFaults):
    @pytest.fixture
    def faulty(self, vault, params):
        def maker(more):
            return make(params, **more)

        return Faulty(vault, maker, "shop-prod", "password", DATA["password"], "vault.url")


class TestVersions:
    def test_a_version_can_be_pinned(self, vault, params):
        first = vault.put("v", '{"password": "first-one"}')
        vault.put("v", '{"password": "second-one"}')
        with make(params) as provider:
            assert provider.get("v").data == {"password": "second-one"}
            assert provider.get(f"v?version={first}").data == {"password": "first-one"}

    def test_a_disabled_version_is_not_allowed(self, vault, params):
        vault.disabled.add(("shop-prod", ""))
        with make(params) as provider, pytest.raises(AccessDeniedError):
            provider.get("shop-prod")


class TestTtl:
    def test_it_is_the_time_until_the_expiry_date(self, vault, params):
        vault.put("ends", json.dumps(DATA), exp=int(time.time()) + 60)
        with make(params, ttl="1h") as provider:
            assert 50_000 < provider.get("ends").ttl <= 60_000
            assert provider.get("shop-prod").ttl == 3_600_000

    def test_without_expiry_there_is_none(self, params):
        with make(params) as provider:
            assert provider.get("shop-prod").ttl is None

    def test_after_it_the_secret_does_not_reload_for_ever(self, vault, params):
        vault.put("ended", json.dumps(DATA), exp=int(time.time()) - 60)
        with make(params) as provider:
            answer = provider.get("ended")
            assert answer.data == DATA
            assert answer.ttl is None


class TestValues:
    def test_huge_values_arrive_whole(self, vault, params):
        vault.put("huge", "x" * 1_000_000)
        with make(params) as provider:
            assert len(provider.get("", {"huge"}).data["huge"]) == 1_000_000

    def test_bytes_are_the_base64_that_was_written_since_secrets_are_texts(self, vault, params):
        vault.put("bytes", "/wD+AQ==")
        with make(params) as provider:
            assert provider.get("", {"bytes"}).data == {"bytes": "/wD+AQ=="}

    def test_text_that_is_not_json_says_what_to_do(self, params):
        with make(params) as provider, pytest.raises(ProviderError, match="layout=whole"):
            provider.get("whole-password")


class TestIdentity:
    def test_a_wrong_secret_is_not_allowed_and_not_shown(self, params):
        params["client.secret"] = "wrong-secret-0001"
        with make(params) as provider, pytest.raises(AccessDeniedError) as caught:
            provider.get("shop-prod")
        assert "wrong-secret-0001" not in str(caught.value)

    def test_a_revoked_token_is_replaced_and_a_revoked_client_is_not_allowed(self, vault, params):
        with make(params) as provider:
            provider.get("shop-prod")
            vault.tokens.clear()
            vault.client_secret = "another"
            with pytest.raises(AccessDeniedError):
                provider.get("shop-prod")

    def test_a_file_holds_the_secret(self, vault, params, tmp_path):
        (tmp_path / "secret").write_text(vault.SECRET + "\n")
        params = {key: value for key, value in params.items() if key != "client.secret"}
        with make(params, **{"client.secret.file": str(tmp_path / "secret")}) as provider:
            assert provider.get("shop-prod").data == DATA

    @pytest.mark.parametrize(
        ("change", "named"),
        [
            ({"vault.url": ""}, "vault.url"),
            ({"vault.url": "http://x"}, "vault.url"),
            ({"client.secret": ""}, "client.secret.file"),
        ],
    )
    def test_wrong_params_are_refused_by_name(self, params, change, named):
        with pytest.raises(ConfigurationError, match=f"param {named} "):
            make(params, **change)

    def test_a_challenge_of_another_domain_gets_no_token(self, vault, params):
        params["verify.challenge"] = "true"
        refused = pytest.raises(ProviderUnavailableError, match=r"verify\.challenge")
        with make(params) as provider, refused:
            provider.get("shop-prod")
        assert not vault.tokens


class TestLogin:
    """The identity comes from another server than the vault's; an outage there does not count as a revocation."""

    @pytest.mark.parametrize(
        "fault", [Fault(500), Fault(503), Fault(garbage=True), Fault(closed=True), Fault(silent=True)]
    )
    def test_an_outage(self, vault, params, fault, caplog):
        vault.login_faults = [fault] * 2
        logged, unheard = caplog.at_level(logging.DEBUG), pytest.raises(ProviderUnavailableError)
        with logged, make(params, attempts="2", timeout="1s") as provider, unheard as caught:
            provider.get("shop-prod")
        assert len(vault.login_faults) < 2
        assert BODY_MARK not in str(caught.value) + caplog.text

    def test_a_refusal_says_nothing_of_the_answer(self, vault, params, caplog):
        vault.client_secret = "another"
        logged, refused = caplog.at_level(logging.DEBUG), pytest.raises(AccessDeniedError)
        with logged, make(params) as provider, refused as caught:
            provider.get("shop-prod")
        assert BODY_MARK not in str(caught.value) + caplog.text


class TestTransport(StoreTransport):
    @pytest.fixture
    def secured(self):
        with FakeKeyVault(None) as fake:
            fake.put("shop-prod", json.dumps(DATA))

            def maker(address, more):
                fake.url = f"https://{address}"  # its answers name it
                login = {"tenant.id": fake.TENANT, "client.id": fake.CLIENT, "client.secret": fake.SECRET}
                where = {"vault.url": fake.url, "authority.host": fake.url, "verify.challenge": "false"}
                return make({**login, **where}, **more)

            yield Secured(fake.port, maker, "shop-prod", "password", DATA["password"])
