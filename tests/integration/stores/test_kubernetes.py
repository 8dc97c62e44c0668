"""The kubernetes provider against a contract fake of the API server, kmock, and a real API server if one is named.

See tests/support/kubernetes_api.py for the real one. What only a fake can be asked for (faults, a watch that is cut)
runs against the fake.
"""

import base64
import os
import sys
import threading

import pytest

from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderError,
    SecretNotFoundError,
)
from sparkconfig.providers.kubernetes.provider import KubernetesConfigProvider
from sparkconfig.testing import ContractCase, ProviderContract
from support.fakes.kubernetes import FakeKubernetes
from support.kubernetes_api import LOCKED, SHOP, KmockCluster, RealCluster
from support.store_faults import Faulty, StoreFaults
from support.store_transport import Secured, StoreTransport

DATA = {"username": "alice-0001", "password": "s3cret-value-77"}


KUBECONFIG = os.environ.get("SPARKCONFIG_TEST_KUBECONFIG")
KINDS = ["fake", *(["kmock"] if sys.version_info >= (3, 11) else []), *(["real"] if KUBECONFIG else [])]


@pytest.fixture(autouse=True)
def _outside(monkeypatch):
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)


@pytest.fixture(scope="module")
def kmock():
    with KmockCluster() as made:
        yield made


@pytest.fixture(scope="module")
def real():
    with RealCluster(KUBECONFIG) as made:
        yield made


@pytest.fixture
def fake():
    with FakeKubernetes() as made:
        yield _filled(made)


def _filled(cluster):
    for kind in ("secrets", "configmaps"):
        cluster.put(SHOP, "db", DATA, kind=kind)
    return cluster


@pytest.fixture(params=KINDS)
def cluster(request):
    made = request.getfixturevalue(request.param)
    return made if request.param == "fake" else _filled(made)


@pytest.fixture
def token_file(tmp_path):
    return tmp_path / "token"


def params_of(cluster, token_file):
    token_file.write_text(cluster.token)
    ca = {"ca.file": cluster.ca} if cluster.ca else {}
    return {"server": cluster.url, "token.file": str(token_file), **ca}


def make(cluster, token_file, **params):
    provider = KubernetesConfigProvider()
    provider.configure({**params_of(cluster, token_file), **params})
    return provider


class _Contract(ProviderContract):
    kind: str

    @pytest.fixture
    def case(self, cluster, token_file):
        return ContractCase(
            KubernetesConfigProvider,
            {**params_of(cluster, token_file), "kind": self.kind},
            f"{SHOP}/db",
            DATA,
            missing_path=f"{SHOP}/absent",
            denied_path=f"{LOCKED}/db" if cluster.denies else None,
            change=lambda values: cluster.put(SHOP, "db", values, kind=self.kind + "s"),
        )


class TestSecrets(_Contract):
    kind = "secret"


class TestConfigMaps(_Contract):
    kind = "configmap"


class TestPolling(ProviderContract):
    @pytest.fixture
    def case(self, fake, token_file):
        params = {**params_of(fake, token_file), "watch": "false"}
        return ContractCase(
            KubernetesConfigProvider, params, f"{SHOP}/db", DATA, missing_path=f"{SHOP}/absent"
        )


class TestFaults(StoreFaults):
    @pytest.fixture
    def faulty(self, fake, token_file):
        def maker(params):
            return make(fake, token_file, **params)

        return Faulty(fake, maker, f"{SHOP}/db", "password", DATA["password"], "server")


class TestValues:
    def test_binary_values_are_base64_where_asked(self, cluster, token_file):
        raw = bytes(range(256))
        cluster.put(SHOP, "mixed", {"store.jks": raw, "password": "s3cret"})
        with make(cluster, token_file, **{"base64.keys": "*.jks"}) as provider:
            answer = provider.get(f"{SHOP}/mixed")
            assert base64.b64decode(answer.data["store.jks"]) == raw
            assert answer.data["password"] == "s3cret"
        with make(cluster, token_file) as provider:
            assert provider.get(f"{SHOP}/mixed", {"password"}).data == {"password": "s3cret"}
            with pytest.raises(ProviderError, match=r"base64\.keys"):
                provider.get(f"{SHOP}/mixed")

    def test_binary_data_of_configmaps(self, cluster, token_file):
        cluster.put(SHOP, "cm-binary", {"a": "1"}, kind="configmaps", binary={"b.bin": b"\x00\xff"})
        with make(cluster, token_file, kind="configmap", **{"base64.keys": "*.bin"}) as provider:
            assert provider.get(f"{SHOP}/cm-binary").data == {
                "a": "1",
                "b.bin": base64.b64encode(b"\x00\xff").decode(),
            }

    def test_a_value_can_be_json_with_fields_as_keys(self, cluster, token_file):
        cluster.put(
            SHOP,
            "cm",
            {"db.json": '{"password": "in-json-0001"}'},
            kind="configmaps",
            binary={"b": b"\xff"},
        )
        with make(cluster, token_file, kind="configmap", **{"json.fields": "true"}) as provider:
            answer = provider.get(f"{SHOP}/cm", {"db.json.password", "db.json.absent"})
            assert answer.data == {"db.json.password": "in-json-0001"}

    @pytest.mark.parametrize(("kind", "plain"), [("secrets", set()), ("configmaps", {"zone"})])
    def test_what_a_configmap_holds_is_plain(self, cluster, token_file, kind, plain):
        cluster.put(SHOP, "zones", {"zone": "inventory", "other": "x"}, kind=kind)
        with make(cluster, token_file, kind=kind.removesuffix("s")) as provider:
            assert provider.get(f"{SHOP}/zones", {"zone"}).plain == plain

    def test_an_object_without_data_has_no_keys(self, cluster, token_file):
        cluster.put(SHOP, "empty", {})
        with make(cluster, token_file) as provider:
            assert provider.get(f"{SHOP}/empty").data == {}

    def test_huge_values_arrive_whole(self, cluster, token_file):
        cluster.put(SHOP, "huge", {"blob": "x" * 700_000})
        with make(cluster, token_file) as provider:
            assert len(provider.get(f"{SHOP}/huge").data["blob"]) == 700_000

    def test_the_default_namespace(self, cluster, token_file):
        with make(cluster, token_file, namespace=SHOP) as provider:
            assert provider.get("db").data == DATA

    @pytest.mark.parametrize("path", ["", "a/b/c", "../db", "shop/..", "/db"])
    def test_malformed_paths_are_refused(self, fake, token_file, path):
        with make(fake, token_file) as provider, pytest.raises(ConfigurationError, match="NAMESPACE/NAME"):
            provider.get(path)


class TestIdentity:
    def test_a_token_file_is_read_again(self, cluster, token_file):
        if not cluster.denies:
            pytest.skip("kmock checks no tokens; the fake API server and a real one do")
        with make(cluster, token_file) as provider:
            assert provider.get(f"{SHOP}/db").data == DATA
            token_file.write_text("another-token-000001")
            with pytest.raises(AccessDeniedError):
                provider.get(f"{SHOP}/db")
            token_file.write_text(cluster.token)
            assert provider.get(f"{SHOP}/db").data == DATA

    def test_a_kubeconfig(self, cluster, tmp_path):
        authority = f", certificate-authority: '{cluster.ca}'" if cluster.ca else ""
        file = tmp_path / "config"
        file.write_text(
            "apiVersion: v1\nkind: Config\ncurrent-context: one\n"
            f"clusters: [{{name: c, cluster: {{server: '{cluster.url}'{authority}}}}}]\n"
            f"users: [{{name: u, user: {{token: '{cluster.token}'}}}}]\n"
            "contexts: [{name: one, context: {cluster: c, user: u}}]\n"
        )
        with KubernetesConfigProvider() as provider:
            provider.configure({"kubeconfig": str(file)})
            assert provider.get(f"{SHOP}/db").data == DATA

    @pytest.mark.parametrize("content", [None, "", "{{{", "kind: Config\ncurrent-context: none\n"])
    def test_an_unusable_kubeconfig_is_refused(self, tmp_path, content):
        file = tmp_path / "config"
        if content is not None:
            file.write_text(content)
        with KubernetesConfigProvider() as provider, pytest.raises(ConfigurationError, match="kubeconfig"):
            provider.configure({"kubeconfig": str(file)})

    def test_proxy(self, fake, token_file):
        params = {
            **params_of(fake, token_file),
            "server": "http://kubernetes.invalid:6443",
            "proxy": fake.url,
        }
        with KubernetesConfigProvider() as provider:
            provider.configure(params)
            assert provider.get(f"{SHOP}/db").data == DATA
        assert fake.requests[0].target.startswith("http://kubernetes.invalid:6443/")


class TestTransport(StoreTransport):
    @pytest.fixture
    def secured(self, fake, token_file):
        def maker(address, params):
            return make(fake, token_file, server=f"https://{address}", **params)

        return Secured(fake.port, maker, f"{SHOP}/db", "password", DATA["password"])


class _News:
    """A callback that keeps what it got and lets a test wait for it."""

    def __init__(self):
        self.got = []
        self._more = threading.Condition()

    def __call__(self, path, data):
        with self._more:
            self.got.append(dict(data.data))
            self._more.notify_all()

    def wait_for(self, wanted):
        with self._more:
            return self._more.wait_for(lambda: wanted in self.got, timeout=20)


class TestWatch:
    def test_only_subscribed_keys_are_pushed(self, cluster, token_file):
        news = _News()
        with make(cluster, token_file) as provider:
            provider.subscribe(f"{SHOP}/db", {"password"}, news)
            cluster.put(SHOP, "db", {**DATA, "username": "bob-000001"})
            cluster.put(SHOP, "db", {**DATA, "password": "rotated-0001"})
            assert news.wait_for({"password": "rotated-0001"})
            assert news.got == [{"password": "rotated-0001"}]

    def test_a_change_between_two_watches_is_not_missed(self, fake, token_file):
        news = _News()
        with make(fake, token_file) as provider:
            provider.subscribe(f"{SHOP}/db", {"password"}, news)
            fake.put(SHOP, "db", {"password": "rotated-0001"})
            assert news.wait_for({"password": "rotated-0001"})
            fake.end_watches()
            fake.put(SHOP, "db", {"password": "rotated-0002"})
            assert news.wait_for({"password": "rotated-0002"})

    def test_without_the_right_to_watch_it_polls(self, fake, token_file):
        fake.may_watch = False
        news = _News()
        with make(fake, token_file) as provider:
            provider.subscribe(f"{SHOP}/db", {"password"}, news)
            fake.put(SHOP, "db", {"password": "rotated-0001"})
            assert news.wait_for({"password": "rotated-0001"})

    def test_a_callback_that_fails_does_not_end_the_watch(self, cluster, token_file):
        news = _News()

        def fails(path, data):
            raise RuntimeError("on purpose")

        with make(cluster, token_file) as provider:
            provider.subscribe(f"{SHOP}/db", {"password"}, fails)
            provider.subscribe(f"{SHOP}/db", {"password"}, news)
            for number in range(2):
                cluster.put(SHOP, "db", {"password": f"rotated-000{number}"})
                assert news.wait_for({"password": f"rotated-000{number}"})

    def test_deletion_is_seen_by_the_next_read_and_recreation_is_pushed(self, cluster, token_file):
        news = _News()
        with make(cluster, token_file) as provider:
            provider.subscribe(f"{SHOP}/db", {"password"}, news)
            cluster.delete(SHOP, "db")
            with pytest.raises(SecretNotFoundError):
                provider.get(f"{SHOP}/db")
            cluster.put(SHOP, "db", {"password": "recreated-01"})
            assert news.wait_for({"password": "recreated-01"})

    def test_close_ends_the_threads(self, cluster, token_file):
        provider = make(cluster, token_file)
        provider.subscribe(f"{SHOP}/db", {"password"}, _News())
        provider.close()
        assert not [each for each in threading.enumerate() if each.name.startswith("sparkconfig-watch")]
