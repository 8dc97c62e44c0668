"""Secrets and ConfigMaps of a Kubernetes cluster, through its API."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Set
from typing import Any

from sparkconfig.errors import ConfigurationError, ProviderError
from sparkconfig.providers._kit.fields import BASE64_KEYS, STRUCTURED, pick, text_of
from sparkconfig.providers._kit.http import CA_FILE, PROXY, status_failure, transport_failure
from sparkconfig.providers._kit.params import Param, ParamValues
from sparkconfig.providers._kit.store import NETWORK, TTL, StoreProvider
from sparkconfig.providers.base import ChangeCallback, ConfigData
from sparkconfig.providers.kubernetes.identity import PARAMS, identify, pod_namespace
from sparkconfig.providers.kubernetes.watch import Watches

__all__ = ["KubernetesConfigProvider"]


class KubernetesConfigProvider(StoreProvider):
    """Data of one Secret or ConfigMap; changes are pushed by a watch."""

    alias = "kubernetes"
    java = ("KubernetesSecretConfigProvider", "KubernetesConfigMapConfigProvider")
    store = "Kubernetes Secrets and ConfigMaps"
    extra = "kubernetes"
    requires = ("kubernetes>=29",)
    client = "kubernetes"
    table = (
        Param("kind", "`secret` or `configmap`", default="secret", choices=("secret", "configmap")),
        Param("namespace", "namespace of paths without one; default: the pod's, else `default`"),
        *PARAMS,
        Param("watch", "`false`: do not watch, poll", default="true", choices=("true", "false")),
        STRUCTURED,
        BASE64_KEYS,
        TTL,
        *NETWORK,
        CA_FILE,
        PROXY,
    )
    paths = "`NAMESPACE/NAME`, or `NAME`; key: a key of its data. Binary values need `base64.keys`"
    ttl_rule = "`ttl`; changes are pushed by a watch (needs the rights `list` and `watch`)"
    auth = "the pod's service account, a kubeconfig (exec plugins included), or `token.file`"
    noisy_loggers = ("kubernetes.client.rest", "urllib3.connectionpool")

    def __init__(self) -> None:
        super().__init__()
        self._client: Any = None
        self._watching = True
        self._watches = Watches(self._events, self.get)

    def _open(self, values: ParamValues, seconds: float) -> None:  # noqa: ARG002 - each read has its own
        client = self._import("kubernetes.client")
        self._urllib3 = self._import("urllib3.exceptions")
        self._api_exception = client.ApiException
        self._new_watch = self._import("kubernetes.watch").Watch
        self._base64 = values.patterns(BASE64_KEYS.name)
        self._watching = values.text("watch") == "true"
        self._structured = values.text(STRUCTURED.name) == "true"
        configuration = client.Configuration()
        identify(values, configuration, self._import)
        if values.optional("ca.file"):
            configuration.ssl_ca_cert = values.text("ca.file")
        if values.optional("proxy"):
            configuration.proxy = values.text("proxy")
        configuration.retries = False  # attempts are counted in one place: _retry
        configuration.connection_pool_maxsize = 32
        self._client = client.ApiClient(configuration)
        api, kind = client.CoreV1Api(self._client), values.text("kind")
        self._is_secret = kind == "secret"
        self._read_one = api.read_namespaced_secret if self._is_secret else api.read_namespaced_config_map
        self._list_them = api.list_namespaced_secret if self._is_secret else api.list_namespaced_config_map
        self._namespace = values.optional("namespace") or pod_namespace()

    def _place(self, path: str) -> tuple[str, str]:
        namespace, slash, name = path.partition("/")
        if not slash:
            namespace, name = self._namespace, path
        if not name or not namespace or "/" in name or {namespace, name} & {".", ".."}:
            raise ConfigurationError(f"{self._where(path)}: a path is NAME or NAMESPACE/NAME")
        return namespace, name

    def _read(self, path: str, keys: Set[str] | None, left: float) -> ConfigData:
        namespace, name = self._place(path)
        found = self._read_one(name, namespace, _request_timeout=left)
        where = self._where(path)
        data = {
            key: value if isinstance(value, str) else text_of(value, key, self._base64, where)
            for key, value in self._values(found).items()
            if self._concerns(key, keys)
        }
        if self._structured:
            picked = pick(data, keys, where)
            data = {key: value for key, value in picked.items() if keys is None or key in keys}
        # Who may read a ConfigMap is another question than who may read a Secret: what it holds is not one.
        return ConfigData(data, ttl=self._ttl, plain=frozenset() if self._is_secret else frozenset(data))

    def _concerns(self, key: str, keys: Set[str] | None) -> bool:
        """Whether ``key``, or with ``json.fields`` a field of its value, was requested."""
        if keys is None or key in keys:
            return True
        return self._structured and any(each.startswith(f"{key}.") for each in keys)

    def _values(self, found: Any) -> Mapping[str, str | bytes]:  # noqa: ANN401 - a V1Secret or V1ConfigMap
        if self._is_secret:
            return {key: _decoded(value) for key, value in (found.data or {}).items()}
        binary = {key: _decoded(value) for key, value in (found.binary_data or {}).items()}
        return {**(found.data or {}), **binary}

    def _failure(self, error: Exception, path: str) -> ProviderError:
        where = self._where(path)
        if isinstance(error, self._api_exception):
            if not error.status:  # the client's way to say that TLS failed
                return transport_failure(where, self._urllib3.SSLError())
            return status_failure(where, error.status)
        if isinstance(error, self._urllib3.HTTPError):
            return transport_failure(where, error)
        return super()._failure(error, path)

    # Watching.

    @property
    def pushes(self) -> bool:
        """Whether changes are watched (param ``watch``)."""
        return self._watching

    def subscribe(self, path: str, keys: Set[str], callback: ChangeCallback) -> None:
        """Watch ``path``; the first subscription opens the watch."""
        if not self._watching:
            super().subscribe(path, keys, callback)
        self._place(path)
        self._watches.add(path, keys, callback)

    def unsubscribe(self, path: str, keys: Set[str], callback: ChangeCallback) -> None:
        """End one subscription; the last one ends the watch."""
        if not self._watching:
            super().unsubscribe(path, keys, callback)
        self._watches.remove(path, keys, callback)

    def unsubscribe_all(self) -> None:
        """End all watches."""
        if not self._watching:
            super().unsubscribe_all()
        self._watches.stop()

    def _events(self, path: str) -> tuple[Any, Iterator[Any]]:
        namespace, name = self._place(path)
        watch = self._new_watch()
        events = watch.stream(
            self._list_them,
            namespace,
            field_selector=f"metadata.name={name}",
            timeout_seconds=240,
            _request_timeout=(10, 300),
            deserialize=False,
        )
        return watch, events

    def close(self) -> None:
        """End watches and connections."""
        super().close()
        if self._watching:
            self.unsubscribe_all()
        if self._client is not None:
            self._client.close()


def _decoded(value: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error:
        raise ValueError("no base64") from None
