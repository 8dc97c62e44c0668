"""What holds for all unit tests: the settings of Hypothesis, and no operator."""

from __future__ import annotations

import sys

import pytest
from hypothesis import HealthCheck, settings

# A machine that is busy with other work must not count as a fault.
settings.register_profile("unit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# For `tests/assurance/mutation/run.py`: the same few examples for each mutant.
settings.register_profile(
    "mutation", settings.get_profile("unit"), max_examples=25, derandomize=True, database=None
)
settings.load_profile("unit")


@pytest.fixture(autouse=True)
def _no_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file of an operator of this machine counts in no test."""
    for name in ("SPARK_HOME", "SPARK_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)


def pytest_sessionstart() -> None:
    """Forget what was computed before: mutants run in forks of a process that has run all tests."""
    for name, module in list(sys.modules.items()):
        if name.startswith("sparkconfig"):
            for each in list(vars(module).values()):
                members = list(vars(each).values()) if isinstance(each, type) else []
                for found in (each, *members):
                    if callable(clear := getattr(found, "cache_clear", None)):
                        clear()
