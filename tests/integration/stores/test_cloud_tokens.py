"""The providers gcp-token and azure-token against token endpoints of ours: see support/fakes/token_endpoints.py."""

import datetime as dt
import json
import logging
import time
import traceback

import pytest

from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
)
from sparkconfig.providers.azure_token import AzureTokenConfigProvider
from sparkconfig.providers.gcp_token import GcpTokenConfigProvider
from sparkconfig.testing import ContractCase, ProviderContract
from support.fakes.http_server import BODY_MARK, FakeHttpServer, Fault, Response
from support.fakes.token_endpoints import EntraTokens, GoogleTokens
from support.store_faults import Faulty, StoreFaults
from support.store_transport import Secured, StoreTransport

TOKEN = "token-of-the-moment-0001"
DATA = {"access_token": TOKEN, "authorization": f"Bearer {TOKEN}"}
SKEW = 300


@pytest.fixture(autouse=True)
def _no_identity_of_this_machine(monkeypatch, tmp_path):
    for name in ("GOOGLE_APPLICATION_CREDENTIALS", "AZURE_AUTHORITY_HOST", "AZURE_CLIENT_ID", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path / "none"))


@pytest.fixture
def google(tmp_path):
    with GoogleTokens(tmp_path) as fake:
        yield fake


@pytest.fixture
def entra(tls):
    with EntraTokens(tls) as fake:
        yield fake


def gcp(fake, **params):
    provider = GcpTokenConfigProvider()
    provider.configure({"credentials.json": fake.credentials(), "attempts": "1", **_dotted(params)})
    return provider


def azure(fake, tls, **params):
    provider = AzureTokenConfigProvider()
    provider.configure({**fake.params(tls), "attempts": "1", **_dotted(params)})
    return provider


def _dotted(params):
    return {name.replace("_", "."): value for name, value in params.items()}


class TestGcpContract(ProviderContract):
    @pytest.fixture
    def case(self, google):
        google.token = TOKEN
        params, secret = {"credentials.json": google.credentials()}, ("credentials.json",)
        return ContractCase(
            GcpTokenConfigProvider, params, "devstorage.read_only", DATA, missing_path=None,
            denied_path="no-such-scope", secret_params=secret,
        )  # fmt: skip


class TestAzureContract(ProviderContract):
    @pytest.fixture
    def case(self, entra, tls):
        entra.token = TOKEN
        return ContractCase(
            AzureTokenConfigProvider, entra.params(tls), "storage.azure.com", DATA, missing_path=None,
            denied_path="no-such.example", secret_params=("client.secret",),
        )  # fmt: skip


class TestGcpFaults(StoreFaults):
    keeps_connections = False

    @pytest.fixture
    def faulty(self, google):
        google.token = TOKEN

        def maker(params):
            params = dict(params)
            url = params.pop("url", "").replace("http://no-such", "https://no-such")
            provider = GcpTokenConfigProvider()
            provider.configure({"credentials.json": google.credentials(url), **params})
            return provider

        return Faulty(google, maker, "cloud-platform", "access_token", TOKEN, "url")


class TestAzureFaults(StoreFaults):
    keeps_connections = False

    @pytest.fixture
    def faulty(self, entra, tls):
        entra.token = TOKEN

        def maker(params):
            provider = AzureTokenConfigProvider()
            provider.configure({**entra.params(tls), **params})
            return provider

        return Faulty(entra, maker, "storage.azure.com", "access_token", TOKEN, "authority.host")


class TestGcpTransport(StoreTransport):
    keeps_connections = False

    @pytest.fixture
    def secured(self, google):
        google.token = TOKEN

        def maker(address, more):
            provider = GcpTokenConfigProvider()
            provider.configure({"credentials.json": google.credentials(f"https://{address}"), **more})
            return provider

        return Secured(google.port, maker, "", "access_token", TOKEN)


class TestAzureTransport(StoreTransport):
    keeps_connections = False

    @pytest.fixture
    def secured(self, tls):
        with EntraTokens() as plain:
            plain.token = TOKEN

            def maker(address, more):
                provider = AzureTokenConfigProvider()
                params = plain.params(tls, f"https://{address}")
                provider.configure({**params, "ca.file": "", **more})
                return provider

            yield Secured(plain.port, maker, "", "access_token", TOKEN)


def refusal(provider, kind, path=""):
    """What a read fails with; nothing of an answer, and nothing of the client's exception, is in it."""
    with pytest.raises(kind) as caught:
        provider.get(path, {"access_token"})
    assert BODY_MARK not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None
    return str(caught.value)


class TestGoogle:
    def test_each_read_makes_a_token_for_its_scope(self, google):
        with gcp(google, scope="devstorage.read_write bigquery") as provider:
            answer = provider.get("", {"access_token", "nothing"})
            assert answer.data == {"access_token": "token-0001-bigquery"}
            assert answer.ttl == 2_700_000
            assert provider.get("", {"authorization"}).data == {"authorization": "Bearer token-0002-bigquery"}
            found = provider.get("devstorage.read_only", {"access_token"}).data
            assert found == {"access_token": "token-0003-devstorage.read_only"}
            with pytest.raises(ProviderError, match="name of a scope"):
                provider.get("https//x", {"access_token"})

    def test_the_key_is_in_a_file(self, google, tmp_path):
        (tmp_path / "key.json").write_text(google.credentials())
        with gcp(google, credentials_json="", credentials_file=str(tmp_path / "key.json")) as provider:
            assert provider.get("", {"access_token"}).data

    def test_the_environment_has_the_identity(self, google, tmp_path, monkeypatch):
        (tmp_path / "key.json").write_text(google.credentials())
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "key.json"))
        with gcp(google, credentials_json="") as provider:
            assert provider.get("", {"access_token"}).data == {"access_token": "token-0001-cloud-platform"}

    def test_the_metadata_server_is_asked_without_the_proxy(self, monkeypatch):
        with Metadata() as server:
            monkeypatch.setenv("GCE_METADATA_HOST", f"127.0.0.1:{server.port}")
            monkeypatch.setenv("GCE_METADATA_IP", f"127.0.0.1:{server.port}")
            monkeypatch.setenv("http_proxy", "http://localhost:9")
            _forget_the_metadata_host(monkeypatch, f"127.0.0.1:{server.port}")
            with gcp(server, credentials_json="", timeout="5s") as provider:
                answer = provider.get("", {"access_token"})
                assert answer.data == {"access_token": "of-the-machine"}
                assert answer.ttl == 900_000
                server.fault(Fault(garbage=True))
                assert "unusable" in refusal(provider, ProviderUnavailableError)
                server.fault(*[Fault(status=503)] * 3)
                assert "HTTP 503" in refusal(provider, ProviderUnavailableError)

    def test_a_machine_without_an_identity(self, google, monkeypatch):
        monkeypatch.setenv("NO_GCE_CHECK", "true")
        with gcp(google, credentials_json="") as provider:
            assert "GOOGLE_APPLICATION_CREDENTIALS" in refusal(provider, AccessDeniedError)

    @pytest.mark.parametrize("text", ["{", "[]", "{}", '{"type": "authorized_user", "refresh_token": "x"}'])
    def test_what_is_no_key(self, google, text):
        with pytest.raises(ConfigurationError, match=r"credentials\.json does not hold the key"):
            gcp(google, credentials_json=text)

    def test_a_token_endpoint_that_everybody_on_the_way_could_read(self, google):
        with gcp(google, credentials_json=google.credentials("http://tokens.example")) as provider:
            assert "https://" in refusal(provider, ProviderError)

    @pytest.mark.parametrize("skew", [SKEW, -SKEW])
    def test_impersonation_tells_an_end_instead_of_a_life(self, google, tmp_path, monkeypatch, skew):
        """Its end is a time of the server's clock, which the answer's date tells."""
        from google.auth import iam

        with Impersonation() as server:
            server.clock = skew
            monkeypatch.setattr(
                iam,
                "_IAM_ENDPOINT",
                iam._IAM_ENDPOINT.replace("https://iamcredentials.googleapis.com", server.url),
            )
            source = json.loads(google.credentials())
            identity = {
                "type": "impersonated_service_account", "source_credentials": source,
                "service_account_impersonation_url": iam._IAM_ENDPOINT.format("shop@p.iam.gserviceaccount.com"),
            }  # fmt: skip
            (tmp_path / "impersonated.json").write_text(json.dumps(identity))
            monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "impersonated.json"))
            with gcp(google, credentials_json="") as provider:
                answer = provider.get("", {"access_token"})
                assert answer.data == {"access_token": "of-another-account"}
                # The server's Date has whole seconds.
                assert abs(answer.ttl - 900_000) <= 3_000
                server.status = 403
                assert "HTTP 403" in refusal(provider, AccessDeniedError)


class Metadata(FakeHttpServer):
    """The metadata server of a machine at Google, as its documentation tells: ours."""

    def credentials(self):
        return ""

    def answer(self, request):
        if request.path.endswith("/token"):
            found = {"access_token": "of-the-machine", "expires_in": 1200, "token_type": "Bearer"}
        elif request.query.get("recursive") == "true":
            found = {"aliases": ["default"], "email": "spark@p.iam.gserviceaccount.com", "scopes": ["x"]}
        else:
            return Response(200, b"p", {"Content-Type": "text/plain", "Metadata-Flavor": "Google"})
        kind = {"Content-Type": "application/json", "Metadata-Flavor": "Google"}
        return Response(200, json.dumps(found).encode(), kind)


def _forget_the_metadata_host(monkeypatch, host):
    """google-auth reads the host when it is imported."""
    from google.auth.compute_engine import _metadata

    for name in ("_GCE_METADATA_HOST", "_METADATA_HOST"):
        if hasattr(_metadata, name):
            monkeypatch.setattr(_metadata, name, host)


class Impersonation(FakeHttpServer):
    """IAM's generateAccessToken, as its documentation tells: ours."""

    status = 200

    def answer(self, request):
        if self.status != 200:
            return Response.of({"error": {"code": self.status, "message": BODY_MARK}}, self.status)
        now = dt.datetime.now(dt.timezone.utc) + dt.timedelta(seconds=self.clock + 1200)
        end = now.strftime("%Y-%m-%dT%H:%M:%SZ")
        return Response.of({"accessToken": "of-another-account", "expireTime": end})


# Three quarters of 3600 s, less the time that the answer took.
_ABOUT_AN_HOUR = (2_640_000, 2_700_000)


class TestEntra:
    def test_each_read_makes_a_token_for_its_resource(self, entra, tls):
        with azure(entra, tls) as provider:
            answer = provider.get("", {"access_token", "nothing"})
            assert answer.data == {"access_token": "token-0001-storage.azure.com"}
            assert _ABOUT_AN_HOUR[0] < answer.ttl <= _ABOUT_AN_HOUR[1]
            found = provider.get("database.windows.net", {"authorization"}).data
            assert found == {"authorization": "Bearer token-0002-database.windows.net"}
            number = "0f5c7d4e-1111-2222-3333-444455556666"
            assert provider.get(number, {"access_token"}).data == {"access_token": f"token-0003-{number}"}
            with pytest.raises(ProviderError, match="host name or application id"):
                provider.get("a b", {"access_token"})

    def test_a_token_that_has_ended_when_it_arrives(self, entra, tls, monkeypatch):
        entra.life = 1
        at_once, now = entra.granted, time.time

        def late(scope):
            monkeypatch.setattr(time, "time", lambda: now() + 1.1)
            return at_once(scope)

        entra.granted = late
        with azure(entra, tls) as provider:
            assert "without a time to live" in refusal(provider, ProviderUnavailableError)

    @pytest.mark.parametrize(
        ("params", "named"),
        [
            ({"client_secret": ""}, r"client\.secret\.file"),
            ({"authority_host": "http://localhost"}, r"authority\.host"),
            ({"tenant_id": "a/b"}, r"authority\.host"),
        ],
    )
    def test_params_that_cannot_be(self, entra, tls, params, named):
        with pytest.raises(ConfigurationError, match=f"param {named} "):
            azure(entra, tls, **params)


@pytest.fixture(params=["gcp-token", "azure-token"])
def minted(request):
    """A fake, and a maker of providers that ask it."""
    if request.param == "gcp-token":
        google = request.getfixturevalue("google")
        return google, lambda **params: gcp(google, **params)
    entra, tls = request.getfixturevalue("entra"), request.getfixturevalue("tls")
    return entra, lambda **params: azure(entra, tls, **params)


class TestBoth:
    @pytest.mark.parametrize("life", [0, -5, "soon"])
    def test_tokens_without_a_life(self, minted, life):
        fake, make = minted
        fake.life = life
        with make() as provider:
            said = refusal(provider, ProviderUnavailableError)
        assert "without a time to live" in said or "unusable answer" in said

    @pytest.mark.parametrize("status", [400, 401, 500, 503])
    def test_pages_of_errors(self, minted, status, caplog):
        """A gateway in front of the endpoint answers with HTML of its own."""
        fake, make = minted
        page = Response(status, f"<html>{BODY_MARK}</html>".encode(), {"Content-Type": "text/html"})
        fake.granted = lambda scope: page
        with caplog.at_level(logging.DEBUG), make() as provider:
            refusal(provider, ProviderError)
        assert BODY_MARK not in caplog.text

    def test_an_answer_that_never_ends(self, google):
        google.fault(Fault(endless=True))
        with gcp(google, timeout="1s") as provider:
            refusal(provider, ProviderTimeoutError)
