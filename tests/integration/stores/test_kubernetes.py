"""The kubernetes provider against a contract fake of the API server."""

import base64
import threading

import pytest

from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderError,
    ProviderUnavailableError,
    SecretNotFoundError,
)
from sparkconfig.providers.kubernetes import KubernetesConfigProvider
from sparkconfig.testing import ContractCase, ProviderContract
from support.fakes.kubernetes import FakeKubernetes
from support.store_faults import Faulty, StoreFaults

DATA = {"username": "alice-0001", "password": "s3cret-value-77"}


@pytest.fixture
def cluster(monkeypatch):
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with FakeKubernetes() as fake:
        fake.put("shop", "db", DATA)
        fake.put("shop", "db", DATA, kind="configmaps")
        yield fake


@pytest.fixture
def token_file(tmp_path, cluster):
    (tmp_path / "token").write_text(cluster.token)
    return tmp_path / "token"


def make(cluster, token_file, **params):
    provider = KubernetesConfigProvider()
    provider.configure({"server": cluster.url, "token.file": str(token_file), **params})
    return provider


class _Contract(ProviderContract):
    kind: str

    @pytest.fixture
    def case(self, cluster, token_file):
        params = {"server": cluster.url, "token.file": str(token_file), "kind": self.kind}
        return ContractCase(
            KubernetesConfigProvider,
            params,
            "shop/db",
            DATA,
            missing_path="shop/absent",
            denied_path="locked/db",
            change=lambda values: cluster.put("shop", "db", values, kind=self.kind + "s"),
        )


class TestSecrets(_Contract):
    kind = "secret"


class TestConfigMaps(_Contract):
    kind = "configmap"


class TestPolling(ProviderContract):
    @pytest.fixture
    def case(self, cluster, token_file):
        params = {"server": cluster.url, "token.file": str(token_file), "watch": "false"}
        return ContractCase(KubernetesConfigProvider, params, "shop/db", DATA, missing_path="shop/absent")


class TestFaults(StoreFaults):
    @pytest.fixture
    def faulty(self, cluster, token_file):
        def maker(params):
            return make(cluster, token_file, **params)

        return Faulty(cluster, maker, "shop/db", "password", DATA["password"], "server")


class TestValues:
    def test_binary_values_are_base64_where_asked(self, cluster, token_file):
        raw = bytes(range(256))
        cluster.put("shop", "mixed", {"store.jks": raw, "password": "s3cret"})
        with make(cluster, token_file, **{"base64.keys": "*.jks"}) as provider:
            answer = provider.get("shop/mixed")
            assert base64.b64decode(answer.data["store.jks"]) == raw
            assert answer.data["password"] == "s3cret"
        with make(cluster, token_file) as provider:
            assert provider.get("shop/mixed", {"password"}).data == {"password": "s3cret"}
            with pytest.raises(ProviderError, match=r"base64\.keys"):
                provider.get("shop/mixed")

    def test_binary_data_of_configmaps(self, cluster, token_file):
        cluster.put("shop", "cm", {"a": "1"}, kind="configmaps", binary={"b.bin": b"\x00\xff"})
        with make(cluster, token_file, kind="configmap", **{"base64.keys": "*.bin"}) as provider:
            assert provider.get("shop/cm").data == {"a": "1", "b.bin": base64.b64encode(b"\x00\xff").decode()}

    def test_a_value_can_be_json_with_fields_as_keys(self, cluster, token_file):
        cluster.put(
            "shop",
            "cm",
            {"db.json": '{"password": "in-json-0001"}'},
            kind="configmaps",
            binary={"b": b"\xff"},
        )
        with make(cluster, token_file, kind="configmap", **{"json.fields": "true"}) as provider:
            answer = provider.get("shop/cm", {"db.json.password", "db.json.absent"})
            assert answer.data == {"db.json.password": "in-json-0001"}

    def test_an_object_without_data_has_no_keys(self, cluster, token_file):
        cluster.put("shop", "empty", {})
        with make(cluster, token_file) as provider:
            assert provider.get("shop/empty").data == {}

    def test_huge_values_arrive_whole(self, cluster, token_file):
        cluster.put("shop", "huge", {"blob": "x" * 1_000_000})
        with make(cluster, token_file) as provider:
            assert len(provider.get("shop/huge").data["blob"]) == 1_000_000

    def test_the_default_namespace(self, cluster, token_file):
        with make(cluster, token_file, namespace="shop") as provider:
            assert provider.get("db").data == DATA

    @pytest.mark.parametrize("path", ["", "a/b/c", "../db", "shop/..", "/db"])
    def test_malformed_paths_are_refused(self, cluster, token_file, path):
        with make(cluster, token_file) as provider, pytest.raises(ConfigurationError, match="NAMESPACE/NAME"):
            provider.get(path)


class TestIdentity:
    def test_a_token_file_is_read_again(self, cluster, token_file):
        with make(cluster, token_file) as provider:
            assert provider.get("shop/db").data == DATA
            cluster.token = "another-token-000001"
            with pytest.raises(AccessDeniedError):
                provider.get("shop/db")
            token_file.write_text(cluster.token)
            assert provider.get("shop/db").data == DATA

    def test_a_kubeconfig(self, cluster, tmp_path):
        file = tmp_path / "config"
        file.write_text(
            "apiVersion: v1\nkind: Config\ncurrent-context: one\n"
            f"clusters: [{{name: c, cluster: {{server: '{cluster.url}'}}}}]\n"
            f"users: [{{name: u, user: {{token: '{cluster.token}'}}}}]\n"
            "contexts: [{name: one, context: {cluster: c, user: u}}]\n"
        )
        with KubernetesConfigProvider() as provider:
            provider.configure({"kubeconfig": str(file)})
            assert provider.get("shop/db").data == DATA

    @pytest.mark.parametrize("content", [None, "", "{{{", "kind: Config\ncurrent-context: none\n"])
    def test_an_unusable_kubeconfig_is_refused(self, cluster, tmp_path, content):
        file = tmp_path / "config"
        if content is not None:
            file.write_text(content)
        with KubernetesConfigProvider() as provider, pytest.raises(ConfigurationError, match="kubeconfig"):
            provider.configure({"kubeconfig": str(file)})

    def test_proxy(self, cluster, token_file):
        params = {
            "server": "http://kubernetes.invalid:6443",
            "proxy": cluster.url,
            "token.file": str(token_file),
        }
        with KubernetesConfigProvider() as provider:
            provider.configure(params)
            assert provider.get("shop/db").data == DATA
        assert cluster.requests[0].target.startswith("http://kubernetes.invalid:6443/")

    def test_own_authority(self, tls, tmp_path):
        with FakeKubernetes(tls) as fake:
            fake.put("shop", "db", DATA)
            (tmp_path / "token").write_text(fake.token)
            with make(fake, tmp_path / "token", **{"ca.file": tls.ca}) as provider:
                assert provider.get("shop/db").data == DATA
            with (
                make(fake, tmp_path / "token", attempts="1") as provider,
                pytest.raises(ProviderUnavailableError, match="TLS"),
            ):
                provider.get("shop/db")


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
            provider.subscribe("shop/db", {"password"}, news)
            cluster.put("shop", "db", {**DATA, "username": "bob-000001"})
            cluster.put("shop", "db", {**DATA, "password": "rotated-0001"})
            assert news.wait_for({"password": "rotated-0001"})
            assert news.got == [{"password": "rotated-0001"}]

    def test_a_change_between_two_watches_is_not_missed(self, cluster, token_file):
        news = _News()
        with make(cluster, token_file) as provider:
            provider.subscribe("shop/db", {"password"}, news)
            cluster.put("shop", "db", {"password": "rotated-0001"})
            assert news.wait_for({"password": "rotated-0001"})
            cluster.end_watches()
            cluster.put("shop", "db", {"password": "rotated-0002"})
            assert news.wait_for({"password": "rotated-0002"})

    def test_without_the_right_to_watch_it_polls(self, cluster, token_file):
        cluster.may_watch = False
        news = _News()
        with make(cluster, token_file) as provider:
            provider.subscribe("shop/db", {"password"}, news)
            cluster.put("shop", "db", {"password": "rotated-0001"})
            assert news.wait_for({"password": "rotated-0001"})

    def test_a_callback_that_fails_does_not_end_the_watch(self, cluster, token_file):
        news = _News()

        def fails(path, data):
            raise RuntimeError("on purpose")

        with make(cluster, token_file) as provider:
            provider.subscribe("shop/db", {"password"}, fails)
            provider.subscribe("shop/db", {"password"}, news)
            for number in range(2):
                cluster.put("shop", "db", {"password": f"rotated-000{number}"})
                assert news.wait_for({"password": f"rotated-000{number}"})

    def test_deletion_is_seen_by_the_next_read_and_recreation_is_pushed(self, cluster, token_file):
        news = _News()
        with make(cluster, token_file) as provider:
            provider.subscribe("shop/db", {"password"}, news)
            cluster.delete("shop", "db")
            with pytest.raises(SecretNotFoundError):
                provider.get("shop/db")
            cluster.put("shop", "db", {"password": "recreated-01"})
            assert news.wait_for({"password": "recreated-01"})

    def test_close_ends_the_threads(self, cluster, token_file):
        provider = make(cluster, token_file)
        provider.subscribe("shop/db", {"password"}, _News())
        provider.close()
        assert not [each for each in threading.enumerate() if each.name.startswith("sparkconfig-watch")]
