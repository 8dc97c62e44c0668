"""The gcp-secretmanager provider against a contract fake, over its real transport: gRPC with TLS."""

import base64
import json
import logging
import traceback
from functools import partial

import grpc
import pytest

from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    SecretNotFoundError,
)
from sparkconfig.providers.gcp_secretmanager import GcpSecretManagerConfigProvider
from sparkconfig.testing import ContractCase, ProviderContract
from support.fakes.http_server import BODY_MARK, Fault
from support.fakes.secret_manager import FakeSecretManager, FakeTokens, service_account_file
from support.store_transport import Secured, StoreTransport

DATA = {"username": "alice-0001", "password": "s3cret-value-77"}
Code = grpc.StatusCode


@pytest.fixture(scope="module")
def account(tmp_path_factory):
    return service_account_file(tmp_path_factory.mktemp("gcp"), FakeSecretManager.PROJECT)


@pytest.fixture
def manager(tls, monkeypatch):
    for name in ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "no_proxy", "grpc_proxy"):
        monkeypatch.delenv(name, raising=False)
    with FakeSecretManager(tls) as fake:
        fake.put("shop-prod", json.dumps(DATA))
        for key, value in DATA.items():
            fake.put(f"whole-{key}", value)
        yield fake


@pytest.fixture
def params(manager, tls, account):
    return {"endpoint": manager.endpoint, "ca.file": tls.ca, "credentials.file": account}


def make(params, **more):
    provider = GcpSecretManagerConfigProvider()
    provider.configure({**params, **more})
    return provider


class TestJson(ProviderContract):
    @pytest.fixture
    def case(self, params):
        kind = GcpSecretManagerConfigProvider
        return ContractCase(kind, params, "shop-prod", DATA, missing_path="absent", denied_path="locked")


class TestWhole(ProviderContract):
    @pytest.fixture
    def case(self, params):
        kind, params = GcpSecretManagerConfigProvider, {**params, "layout": "whole"}
        return ContractCase(kind, params, "whole", DATA, missing_path="absent", lists_all=False)


class TestFaults:
    def failed(self, manager, provider, kind, *codes):
        manager.fault(*codes)
        with pytest.raises(kind) as caught:
            provider.get("shop-prod")
        text = "".join(traceback.format_exception(caught.value))
        assert BODY_MARK not in text
        assert caught.value.__context__ is None
        assert "shop-prod" in str(caught.value)
        return str(caught.value)

    @pytest.mark.parametrize("code", [Code.UNAVAILABLE, Code.INTERNAL, Code.RESOURCE_EXHAUSTED, Code.UNKNOWN])
    def test_a_store_in_trouble_is_asked_again_but_not_for_ever(self, manager, params, code, caplog):
        with caplog.at_level(logging.DEBUG), make(params, attempts="2") as provider:
            manager.fault(code)
            assert provider.get("shop-prod").data == DATA
            self.failed(manager, provider, ProviderUnavailableError, code, code)
        assert BODY_MARK not in caplog.text
        assert DATA["password"] not in caplog.text

    @pytest.mark.parametrize("code", [Code.PERMISSION_DENIED, Code.UNAUTHENTICATED])
    def test_not_allowed_is_not_asked_again(self, manager, params, code):
        with make(params) as provider:
            self.failed(manager, provider, AccessDeniedError, code)
        assert len(manager.requests) == 1

    def test_silence_ends_at_the_deadline(self, manager, params):
        with make(params, timeout="500ms") as provider:
            self.failed(manager, provider, ProviderTimeoutError, None, None)

    def test_a_name_that_is_not_possible(self, manager, params):
        with make(params) as provider:
            self.failed(manager, provider, ProviderError, Code.INVALID_ARGUMENT)

    @pytest.mark.parametrize("endpoint", ["no-such-host.invalid:9", "localhost:9"])
    def test_a_server_that_is_not_there(self, params, endpoint):
        params |= {"endpoint": endpoint, "attempts": "1", "timeout": "2s"}
        with make(params) as provider, pytest.raises(ProviderUnavailableError):
            provider.get("shop-prod")


class TestTransport(StoreTransport):
    @pytest.fixture
    def secured(self, manager, account):
        def maker(address, more):
            return make({"endpoint": address, "credentials.file": account}, **more)

        return Secured(manager.plain_port, maker, "shop-prod", "password", DATA["password"], proxy=None)


class TestVersions:
    def test_a_version_can_be_pinned(self, manager, params):
        manager.put("v", '{"password": "first-one"}')
        manager.put("v", '{"password": "second-one"}')
        with make(params) as provider:
            assert provider.get("v").data == {"password": "second-one"}
            assert provider.get("v?version=1").data == {"password": "first-one"}
            with pytest.raises(SecretNotFoundError):
                provider.get("v?version=9")

    @pytest.mark.parametrize("state", ["disabled", "destroyed"])
    def test_a_disabled_or_destroyed_version_is_not_there(self, manager, params, state):
        manager.states["shop-prod", 1] = state
        with make(params) as provider, pytest.raises(SecretNotFoundError, match="disabled or destroyed"):
            provider.get("shop-prod")

    def test_other_projects_and_regions(self, manager, params):
        with make(params, project="other", location="europe-west1") as provider:
            with pytest.raises(SecretNotFoundError):
                provider.get("shop-prod")
            assert provider.get(f"projects/{manager.PROJECT}/secrets/shop-prod").data == DATA
        assert (
            manager.requests[0] == "projects/other/locations/europe-west1/secrets/shop-prod/versions/latest"
        )


class TestValues:
    def test_binary_is_base64_where_asked(self, manager, params):
        raw = bytes(range(256))
        manager.put("store", raw)
        with make(params, **{"base64.keys": "store"}) as provider:
            assert base64.b64decode(provider.get("", {"store"}).data["store"]) == raw
        with make(params) as provider, pytest.raises(ProviderError, match=r"base64\.keys"):
            provider.get("", {"store"})

    def test_huge_values_arrive_whole(self, manager, params):
        manager.put("huge", "x" * 3_000_000)
        with make(params) as provider:
            assert len(provider.get("", {"huge"}).data["huge"]) == 3_000_000


class TestIdentity:
    def test_the_environment_gives_the_credentials(self, params, account, monkeypatch):
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", account)
        params = {key: value for key, value in params.items() if key != "credentials.file"}
        with make(params) as provider:
            assert provider.get("shop-prod").data == DATA

    def test_workload_identity_federation_logs_in_and_may_be_refused(
        self, manager, params, monkeypatch, tmp_path, caplog
    ):
        """Credentials other than a service account's log in; what the login server says decides."""
        params = {key: value for key, value in params.items() if key != "credentials.file"}
        with FakeTokens() as tokens:
            monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", tokens.write_federated(tmp_path))
            make_here = partial(make, params, project=manager.PROJECT, attempts="1")
            with caplog.at_level(logging.DEBUG), make_here() as provider:
                assert provider.get("shop-prod").data == DATA
                assert provider.get("shop-prod").data == DATA
                assert len(tokens.requests) == 1, "a login is good for many reads"
            tokens.refuse = True
            with make_here() as provider, pytest.raises(AccessDeniedError) as caught:
                provider.get("shop-prod")
            assert BODY_MARK not in "".join(traceback.format_exception(caught.value)) + caplog.text
            tokens.refuse = False
            for fault in (Fault(503), Fault(closed=True)):
                tokens.fault(*[fault] * 9)
                with make_here() as provider, pytest.raises(ProviderUnavailableError) as caught:
                    provider.get("shop-prod")
                assert BODY_MARK not in "".join(traceback.format_exception(caught.value)) + caplog.text
                tokens.clear_faults()

    @pytest.mark.parametrize("content", [None, "", "{}", '{"type": "service_account"}'])
    def test_unusable_credentials_are_refused(self, params, tmp_path, content):
        file = tmp_path / "bad.json"
        if content is not None:
            file.write_text(content)
        with pytest.raises(ConfigurationError, match=r"credentials\.file"):
            make(params, **{"credentials.file": str(file)})
