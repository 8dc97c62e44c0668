"""Counts the calls of a function that some module looks up by its name."""

from types import ModuleType

import pytest


def calls_of(monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str) -> list[tuple[object, ...]]:
    """Return the list that gets the arguments of each call from now on, until the test ends."""
    calls: list[tuple[object, ...]] = []
    function = getattr(module, name)

    def counted(*args: object) -> object:
        calls.append(args)
        return function(*args)

    monkeypatch.setattr(module, name, counted)
    return calls
