"""The databricks provider against a contract fake of the secrets API. It was never run on Databricks."""

import base64

import pytest

from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderError,
    ProviderUnavailableError,
    SecretNotFoundError,
)
from sparkconfig.providers.databricks import DatabricksConfigProvider
from sparkconfig.testing import ContractCase, ProviderContract
from support.fakes.databricks import FakeDatabricks
from support.fakes.http_server import BODY_MARK, Fault
from support.store_faults import Faulty, StoreFaults
from support.store_transport import Secured, StoreTransport

DATA = {"username": "alice-0001", "password": "s3cret-value-77"}


@pytest.fixture(autouse=True)
def _no_databricks_environment(monkeypatch, tmp_path):
    for name in ("DATABRICKS_HOST", "DATABRICKS_TOKEN", "DATABRICKS_CONFIG_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DATABRICKS_CONFIG_FILE", str(tmp_path / "none"))


@pytest.fixture
def workspace():
    with FakeDatabricks() as fake:
        fake.put("shop", DATA)
        yield fake


def make(workspace, **params):
    provider = DatabricksConfigProvider()
    token = {} if {"client.id", "token.file"} & set(params) else {"token": workspace.TOKEN}
    provider.configure({"host": workspace.url, **token, **params})
    return provider


class TestContract(ProviderContract):
    @pytest.fixture
    def case(self, workspace):
        params = {"host": workspace.url, "token": workspace.TOKEN}
        return ContractCase(
            DatabricksConfigProvider,
            params,
            "shop",
            DATA,
            missing_path="absent",
            denied_path="locked",
            secret_params=("token",),
        )


class TestFaults(StoreFaults):
    @pytest.fixture
    def faulty(self, workspace):
        def maker(params):
            return make(workspace, **params)

        return Faulty(workspace, maker, "shop", "password", DATA["password"], "host")


class TestValues:
    def test_a_secret_can_hold_json(self, workspace):
        workspace.put("shop", {"db": '{"password": "in-json-0001"}'})
        with make(workspace, layout="json") as provider:
            assert provider.get("shop/db").data == {"password": "in-json-0001"}
            with pytest.raises(SecretNotFoundError):
                provider.get("shop/absent")
            with pytest.raises(ConfigurationError, match="scope and its key"):
                provider.get("shop")

    def test_binary_is_base64_where_asked(self, workspace):
        raw = bytes(range(256))
        workspace.put("files", {"a.p12": raw})
        with make(workspace, **{"base64.keys": "*.p12"}) as provider:
            assert base64.b64decode(provider.get("files").data["a.p12"]) == raw
        with make(workspace) as provider, pytest.raises(ProviderError, match=r"base64\.keys"):
            provider.get("files")

    def test_huge_values_arrive_whole(self, workspace):
        workspace.put("shop", {"huge": "x" * 131_072})
        with make(workspace) as provider:
            assert len(provider.get("shop", {"huge"}).data["huge"]) == 131_072


class TestIdentity:
    def test_a_token_file(self, workspace, tmp_path):
        (tmp_path / "token").write_text(workspace.TOKEN + "\n")
        with make(workspace, **{"token.file": str(tmp_path / "token")}) as provider:
            assert provider.get("shop").data == DATA

    def test_a_service_principal(self, workspace, tmp_path):
        workspace.clients["app-1"] = "client-secret-0001"
        (tmp_path / "secret").write_text("client-secret-0001")
        params = {"client.id": "app-1", "client.secret.file": str(tmp_path / "secret")}
        with make(workspace, **params) as provider:
            assert provider.get("shop").data == DATA

    def test_a_wrong_service_principal_is_refused_and_not_shown(self, workspace):
        params = {"client.id": "app-1", "client.secret": "wrong-secret-0001"}
        with (
            pytest.raises((AccessDeniedError, ConfigurationError)) as caught,
            make(workspace, **params) as provider,
        ):
            provider.get("shop")
        assert "wrong-secret-0001" not in str(caught.value)

    @pytest.mark.parametrize("fault", [Fault(503), Fault(garbage=True), Fault(closed=True)])
    def test_an_outage_of_the_login_is_not_a_refusal(self, workspace, fault):
        workspace.clients["app-1"] = "client-secret-0001"
        params = {"client.id": "app-1", "client.secret": "client-secret-0001", "attempts": "1"}
        with make(workspace, **params) as provider:
            workspace.login_faults = [fault] * 5
            with pytest.raises(ProviderUnavailableError) as caught:
                provider.get("shop", {"password"})
            assert BODY_MARK not in str(caught.value)
            workspace.login_faults = []
            assert provider.get("shop", {"password"}).data == {"password": DATA["password"]}

    def test_without_identity_it_says_so(self, workspace):
        with DatabricksConfigProvider() as provider, pytest.raises(ConfigurationError, match="no identity"):
            provider.configure({"host": workspace.url})

    def test_without_a_host_it_says_so(self):
        with (
            DatabricksConfigProvider() as provider,
            pytest.raises(ConfigurationError, match="host is not set"),
        ):
            provider.configure({"token": "t"})

    @pytest.mark.parametrize("params", [{"client.id": "c", "client.secret": "s", "token": "t"}])
    def test_with_two_identities_it_says_so(self, workspace, params):
        with DatabricksConfigProvider() as provider, pytest.raises(ConfigurationError, match="contradict"):
            provider.configure({"host": workspace.url, **params})

    def test_proxy(self, workspace):
        with make(workspace, host="http://workspace.invalid", proxy=workspace.url) as provider:
            assert provider.get("shop", {"password"}).data == {"password": DATA["password"]}
        assert workspace.requests[-1].target.startswith("http://workspace.invalid/")


class TestTransport(StoreTransport):
    @pytest.fixture
    def secured(self, workspace):
        def maker(address, params):
            return make(workspace, host=f"https://{address}", **params)

        return Secured(workspace.port, maker, "shop", "password", DATA["password"])
