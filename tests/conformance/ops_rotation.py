"""The op ``worker_transform`` of KIP-297: which restarts a worker asks for."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.ops_kip297 import environment, make_provider
from sparkconfig import ConfigTransformer, Secret
from sparkconfig.errors import ConfigurationError, SparkConfigError
from sparkconfig.kafka.reloading import ReloadingTransformer


class Asked:
    """One restart that was requested; records it and its end."""

    def __init__(self, events: list[dict[str, object]], name: str, ttl: int) -> None:
        self._events, self._name, self._ttl = events, name, ttl
        events.append({"restart": name, "ttl": ttl})

    def cancel(self) -> None:
        self._events.append({"cancel": self._name, "ttl": self._ttl})


def run(op: str, case: Mapping[str, object], process_env: Mapping[str, str | None]) -> dict[str, object]:
    """Answer one case."""
    events: list[dict[str, object]] = []
    with environment(process_env):
        providers = {name: make_provider(spec) for name, spec in case["providers"].items()}
        worker = ReloadingTransformer(
            ConfigTransformer(providers), lambda name, ttl: Asked(events, name, ttl)
        )
        steps = []
        for step in case["steps"]:
            answer = _step(worker, step)
            steps.append({**answer, "events": list(events)})
            events.clear()
    return {"steps": steps}


def _step(worker: ReloadingTransformer, step: Mapping[str, object]) -> dict[str, object]:
    if step["configs"] is None:
        return {"ok": True, "data": None}
    try:
        result = worker.transform(step["connector"], step["configs"])
    except ConfigurationError as error:
        # Kafka's is a bare enum lookup; ours says what is allowed.
        return {"ok": False, "error": {"class": "java.lang.IllegalArgumentException", "message": str(error)}}
    except SparkConfigError as error:
        return {"ok": False, "error": {"class": type(error).__name__, "message": str(error)}}
    data = {k: v.reveal() if isinstance(v, Secret) else v for k, v in result.data.items()}
    return {"ok": True, "data": data}
