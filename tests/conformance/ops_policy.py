"""The ops ``override_policy`` and ``worker_overrides`` (KIP-458, KIP-1188), through the public API.

Kafka's worker puts the refused values into its exception. Ours never does; so that the cases' text can be compared
at all, Kafka's rendering is rebuilt here from the decisions.
"""

from __future__ import annotations

from sparkconfig.policy import ConfigValue, OverrideRequest
from sparkconfig.policy.loader import make_policy

ERROR_NAMES = {"ConfigurationError": "ConfigException", "OverridesRefusedError": "ConnectException"}


class OverridesRefusedError(Exception):
    """Kafka: ConnectException."""


def run(op, case, process_env):
    if op == "override_policy":
        values = evaluate(case, case["client_props"])
        return {
            "values": [
                {"name": value.name, "value": value.value, "errors": list(value.errors)}
                for value in sorted(values, key=lambda value: value.name)
            ]
        }
    prefix = case["prefix"]
    props = {
        name[len(prefix) :]: value
        for name, value in case["connector_config"].items()
        if name.startswith(prefix) and name != prefix
    }
    refused = [value for value in evaluate(case, props) if value.errors]
    if refused:
        listed = ", ".join(rendered(value) for value in refused)
        raise OverridesRefusedError(f"Client Config Overrides not allowed [{listed}]")
    return {"overrides": props}


def evaluate(case, props) -> list[ConfigValue]:
    with make_policy(case["policy"], case.get("params") or {}, {}) as policy:
        return policy.validate(OverrideRequest("n", "batch", "C", "connector", props))


def rendered(value: ConfigValue) -> str:
    text = {None: "null", True: "true", False: "false"}.get(value.value, value.value)
    return f"[{value.name},{text},[],[{', '.join(value.errors)}],true]"
