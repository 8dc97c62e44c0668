"""A provider for real side processes whose faults a test chooses while the application runs."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Set
from pathlib import Path

from sparkconfig import ConfigData, ConfigProvider
from sparkconfig.errors import ProviderUnavailableError

_SLOW_SECONDS = 2.5  # longer than a caller with last good values waits
_real_time = time.time


class FaultyStoreProvider(ConfigProvider):
    """Reads a JSON file (param ``file``): ``{"mode": "up", "clock": 0, "data": {"password": "..."}}``.

    Modes: ``up``, ``down``, ``slow``, ``hang`` (until the mode changes), ``garbage``, ``flap`` (two of three reads
    fail), ``greedy`` (the answer takes a gigabyte of memory). ``clock`` shifts the process's wall clock by so many
    seconds.
    """

    def __init__(self) -> None:
        self._file = Path()
        self._reads = 0

    def configure(self, params: Mapping[str, str]) -> None:
        self._file = Path(params["file"])

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        self._reads += 1
        told = self._told()
        time.time = lambda: _real_time() + told["clock"]
        while told["mode"] == "hang":
            time.sleep(0.05)
            told = self._told()
        mode = told["mode"]
        if mode == "slow":
            time.sleep(_SLOW_SECONDS)
        if mode == "down" or (mode == "flap" and self._reads % 3):
            raise ProviderUnavailableError(f"the store of '{path}' is down")
        if mode == "garbage":
            return ["nonsense"]  # type: ignore[return-value]
        if mode == "greedy":
            bytes(1 << 30)
        # Of the same reading as the mode: what was told since then may belong to a fault.
        return ConfigData({key: text for key, text in told["data"].items() if keys is None or key in keys})

    def _told(self) -> dict:
        return json.loads(self._file.read_text())
