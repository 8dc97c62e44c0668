"""Ops of KIP-297: ``transform``, ``provider_get``, ``allowed_paths``, ``reverse_transform``."""

from __future__ import annotations

import os
from collections.abc import Mapping, Set
from contextlib import contextmanager
from unittest import mock

from sparkconfig import ConfigData, ConfigProvider, ConfigTransformer, reverse_transform
from sparkconfig.errors import ConfigurationError
from sparkconfig.kafka import providers as kafka

ERROR_NAMES = {
    "ConfigurationError": "ConfigException",
    "UnresolvedReferenceError": "ConfigException",
    "ProviderStateError": "IllegalStateException",
}

_KINDS = {"file": kafka.FileConfigProvider, "dir": kafka.DirectoryConfigProvider}


class TableProvider(ConfigProvider):
    """Answers as a table in the case says; records each call."""

    def __init__(self, spec: Mapping[str, object]) -> None:
        self._table = spec["table"]
        self._return_all = bool(spec.get("return_all"))

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        row = self._table.get(path, self._table.get("*"))
        if row is None:
            return ConfigData({})
        if "throw" in row:
            raise ConfigurationError(row["throw"])
        if row.get("null_result"):
            return None
        data = row["data"]
        if not (self._return_all or keys is None or data is None):
            data = {key: data[key] for key in keys if key in data}
        ttls = [ttl for key, ttl in row.get("key_ttl", {}).items() if keys is None or key in keys]
        return ConfigData(data, ttl=row.get("ttl", min(ttls, default=None)))


class Recorded(ConfigProvider):
    """A provider and the calls that it got."""

    def __init__(self, inner: ConfigProvider) -> None:
        self._inner = inner
        self.calls: list[list[object]] = []

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        self.calls.append([path, sorted(keys)])
        return self._inner.get(path, keys)


def make_provider(spec: Mapping[str, object]) -> ConfigProvider:
    """Make the provider that a case's spec describes."""
    if spec["type"] == "table":
        return TableProvider(spec)
    if spec["type"] == "env":
        provider: ConfigProvider = kafka.EnvVarConfigProvider(spec.get("env"))
    else:
        provider = _KINDS[spec["type"]]()
    if spec.get("configured", True):
        provider.configure(spec.get("params") or {})
    return provider


@contextmanager
def environment(changes: Mapping[str, str | None]):
    """Set variables of the process; None unsets one."""
    with mock.patch.dict(os.environ, {name: text for name, text in changes.items() if text is not None}):
        for name in changes.keys() - {name for name, text in changes.items() if text is not None}:
            os.environ.pop(name, None)
        yield


def run(op: str, case: Mapping[str, object], process_env: Mapping[str, str | None]) -> dict[str, object]:
    """Answer one case."""
    with environment(process_env):
        return {
            "transform": _transform,
            "provider_get": _provider_get,
            "allowed_paths": _allowed_paths,
            "reverse_transform": _reverse_transform,
        }[op](case)


def _transform(case: Mapping[str, object]) -> dict[str, object]:
    providers = {
        name: Recorded(make_provider(spec)) for name, spec in case["providers"].items() if spec is not None
    }
    result = ConfigTransformer(providers, unresolved="keep").transform(case["configs"])
    ttls: dict[str, int] = {}
    for (_, path), ttl in result.ttls.items():  # Kafka's map has the path alone; of several the minimum wins
        ttls[path] = min(ttl, ttls.get(path, ttl))
    calls = {name: sorted(provider.calls) for name, provider in providers.items()}
    return {"data": result.reveal(), "ttls": ttls, "calls": calls}


def _provider_get(case: Mapping[str, object]) -> dict[str, object]:
    keys = None if case["keys"] is None else frozenset(case["keys"])
    answer = make_provider(case["provider"]).get(case["path"], keys)
    return {"data": dict(answer.data), "ttl": answer.ttl}


def _allowed_paths(case: Mapping[str, object]) -> dict[str, object]:
    return {"path": kafka.allowed_path(case["config"], case["path"])}


def _reverse_transform(case: Mapping[str, object]) -> dict[str, object]:
    raw = case["raw_connector_config"]
    return {"task_configs": [reverse_transform(raw, config) for config in case["task_configs"]]}
