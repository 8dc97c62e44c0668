"""How the Kubernetes provider finds the API server, and proves who it is."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sparkconfig.providers._kit.params import Param, ParamValues

__all__ = ["PARAMS", "identify", "pod_namespace"]

_POD_NAMESPACE = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")

PARAMS = (
    Param(
        "kubeconfig",
        "kubeconfig file; unset: the pod's service account, else `KUBECONFIG`, `~/.kube/config`",
    ),
    Param("context", "context of the kubeconfig file"),
    Param("server", "URL of the API server, instead of a kubeconfig; goes with `token.file`"),
    Param("token.file", "file with a bearer token, read again whenever it changes"),
)


def identify(values: ParamValues, configuration: Any, import_: Callable[[str], Any]) -> None:  # noqa: ANN401
    """Fill the client's ``configuration`` with the server and the identity.

    Raises:
        ConfigurationError: neither the params nor the machine name a cluster.
    """
    config, yaml = import_("kubernetes.config"), import_("yaml")
    if values.optional("server"):
        configuration.host = values.text("server").rstrip("/")
        if values.optional("token.file"):

            def refresh(settings: Any) -> None:  # noqa: ANN401 - called by the client before each request
                settings.api_key["authorization"] = "Bearer " + values.identity("token.file")

            configuration.api_key["authorization"] = "Bearer " + values.file_text("token.file")
            configuration.refresh_api_key_hook = refresh
        return
    try:
        if os.environ.get("KUBERNETES_SERVICE_HOST") and not values.optional("kubeconfig"):
            config.load_incluster_config(configuration)
            return
        config.load_kube_config(
            config_file=values.optional("kubeconfig"),
            context=values.optional("context"),
            client_configuration=configuration,
            persist_config=False,
        )
    except (config.ConfigException, yaml.YAMLError, OSError, ValueError, KeyError, TypeError) as error:
        kind = type(error).__name__
    else:
        return
    raise values.wrong(
        "kubeconfig", f"names no usable cluster, and this is not a pod with a service account ({kind})"
    )


def pod_namespace() -> str:
    """Return the namespace of this pod, ``default`` outside of one."""
    try:
        return _POD_NAMESPACE.read_text(encoding="ascii").strip() or "default"
    except OSError:
        return "default"
