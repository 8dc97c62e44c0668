"""Calls of a side process's brain, as the driver's JVM makes them."""

from __future__ import annotations

import json
from typing import Any

from sparkconfig.agent.service import AgentService


def call(service: AgentService, method: str, **request: Any) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(service.call(method, json.dumps(request)))
    return answer
