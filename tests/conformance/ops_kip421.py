"""The op ``resolve`` of KIP-421."""

from __future__ import annotations

from collections.abc import Mapping, Set
from functools import partial

from conformance.ops_kip297 import environment
from sparkconfig import ConfigData, ConfigProvider, Secret
from sparkconfig.errors import ConfigurationError
from sparkconfig.kafka import providers

ERROR_NAMES = {"ConfigurationError": "ConfigException"}


class Echo(ConfigProvider):
    """Answers from its own params, and keeps count of its life in ``log``."""

    def __init__(self, log: dict[str, list]) -> None:
        self._log = log

    def configure(self, params: Mapping[str, str]) -> None:
        self._params = dict(params)
        self._log["configured"].append(self._params)
        if "fail.configure" in params:
            raise ConfigurationError(str(params["fail.configure"]))

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        self._log["gets"].append(path)
        wanted = self._params.keys() if keys is None else keys
        return ConfigData({key: self._params[key] for key in wanted if key in self._params})

    def close(self) -> None:
        self._log["closed"].append(self)


def run(op: str, case: Mapping[str, object], process_env: Mapping[str, str | None]) -> dict[str, object]:
    """Answer one case."""
    log: dict[str, list] = {"configured": [], "closed": [], "gets": []}
    classes = {
        **providers.CLASSES,
        "oracle.Oracle$EchoProvider": partial(Echo, log),
        "oracle.Oracle$NotAProvider": object,
    }
    with environment(process_env):
        resolved = providers.resolve(
            case["originals"],
            case.get("provider_props"),
            automatic_config_providers=case.get("automatic_config_providers"),
            classes=classes,
        )
    plain = {key: value.reveal() if isinstance(value, Secret) else value for key, value in resolved.items()}
    return {
        "originals": plain,
        "echo_configured": log["configured"],
        "echo_closed": len(log["closed"]),
        "echo_gets": len(log["gets"]),
    }
