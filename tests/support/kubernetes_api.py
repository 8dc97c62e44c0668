"""API servers of Kubernetes that are not ours, with the arrangements of the fake: kmock's, and a real one.

SPARKCONFIG_TEST_KUBECONFIG names the kubeconfig of a real API server on which the tests may do everything. They make
the namespaces ``sparkconfig-shop`` and ``sparkconfig-locked`` there, with an account that may read the first one, and
remove them.
"""

import asyncio
import base64
import contextlib
import threading

from kubernetes import client, config
from kubernetes.client.exceptions import ApiException

SHOP, LOCKED = "sparkconfig-shop", "sparkconfig-locked"
_ACCOUNT = "sparkconfig-reader"


class _Cluster:
    """What both have in common: objects are written through the API."""

    url: str
    token = "any-token"
    ca = None

    def __init__(self, configuration):
        self._client = client.ApiClient(configuration)
        self.core = client.CoreV1Api(self._client)

    def put(self, namespace, name, values, kind="secrets", binary=None):
        """Create an object or replace its data."""
        encoded = {key: base64.b64encode(value).decode() for key, value in (binary or {}).items()}
        body = {"metadata": {"name": name, "namespace": namespace}}
        if kind == "secrets":
            raw = {key: text if isinstance(text, bytes) else text.encode() for key, text in values.items()}
            body["data"] = {key: base64.b64encode(each).decode() for key, each in raw.items()}
        else:
            body |= {"data": values, "binaryData": encoded}
        one = "secret" if kind == "secrets" else "config_map"
        try:
            found = getattr(self.core, f"read_namespaced_{one}")(name, namespace)
        except ApiException as error:
            if error.status != 404:
                raise
            getattr(self.core, f"create_namespaced_{one}")(namespace, body)
            return
        gone = {key: None for key in found.data or {} if key not in body["data"]}
        body["data"] = {**body["data"], **gone}
        getattr(self.core, f"patch_namespaced_{one}")(name, namespace, body)

    def delete(self, namespace, name, kind="secrets"):
        one = "secret" if kind == "secrets" else "config_map"
        getattr(self.core, f"delete_namespaced_{one}")(name, namespace)

    def __exit__(self, *_):
        self._client.close()


class KmockCluster(_Cluster):
    """kmock's emulator: it keeps objects and streams their changes; it knows neither rights nor selectors."""

    denies = False

    def __init__(self):
        self._started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    async def _serve(self):
        import kmock

        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        async with kmock.KubernetesEmulator() as emulator, kmock.Server(emulator) as server:
            for plural, kind in (("secrets", "Secret"), ("configmaps", "ConfigMap")):
                emulator.resources[f"v1/{plural}"] = {"kind": kind, "namespaced": True}
            self.url = str(server.url).rstrip("/")
            self._started.set()
            await self._over.wait()

    def __enter__(self):
        self._thread.start()
        assert self._started.wait(20), "kmock did not start"
        super().__init__(client.Configuration(host=self.url))
        return self

    def __exit__(self, *_):
        super().__exit__()
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(20)


class RealCluster(_Cluster):
    """An account of its own reads; who made it may do everything."""

    denies = True

    def __init__(self, kubeconfig):
        configuration = client.Configuration()
        config.load_kube_config(kubeconfig, client_configuration=configuration, persist_config=False)
        super().__init__(configuration)
        self.url, self.ca = configuration.host, configuration.ssl_ca_cert

    def __enter__(self):
        self._remove()
        rights = client.RbacAuthorizationV1Api(self._client)
        for namespace in (SHOP, LOCKED):
            with contextlib.suppress(ApiException):  # of an earlier run, still ending
                self.core.create_namespace({"metadata": {"name": namespace}})
        self.core.create_namespaced_service_account(SHOP, {"metadata": {"name": _ACCOUNT}})
        rule = {"apiGroups": [""], "resources": ["secrets", "configmaps"], "verbs": ["get", "list", "watch"]}
        rights.create_namespaced_role(SHOP, {"metadata": {"name": _ACCOUNT}, "rules": [rule]})
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": _ACCOUNT}
        account = {"kind": "ServiceAccount", "name": _ACCOUNT, "namespace": SHOP}
        binding = {"metadata": {"name": _ACCOUNT}, "roleRef": role, "subjects": [account]}
        rights.create_namespaced_role_binding(SHOP, binding)
        self.put(LOCKED, "db", {"password": "locked-0001"})
        self.token = self.new_token()
        return self

    def new_token(self):
        request = {"spec": {"expirationSeconds": 600, "audiences": []}}
        return self.core.create_namespaced_service_account_token(_ACCOUNT, SHOP, request).status.token

    def _remove(self):
        rights = client.RbacAuthorizationV1Api(self._client)
        for remove in (
            lambda: rights.delete_namespaced_role_binding(_ACCOUNT, SHOP),
            lambda: rights.delete_namespaced_role(_ACCOUNT, SHOP),
            lambda: self.core.delete_namespaced_service_account(_ACCOUNT, SHOP),
            lambda: self.core.delete_collection_namespaced_secret(SHOP),
            lambda: self.core.delete_collection_namespaced_config_map(SHOP),
            lambda: self.core.delete_collection_namespaced_secret(LOCKED),
        ):
            with contextlib.suppress(ApiException):
                remove()

    def __exit__(self, *_):
        self._remove()
        for namespace in (SHOP, LOCKED):
            with contextlib.suppress(ApiException):
                self.core.delete_namespace(namespace)
        super().__exit__()
