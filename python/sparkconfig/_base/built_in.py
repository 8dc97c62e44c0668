"""The project's own classes that confs call by an alias: found by their files, so that a file is all one takes."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cached_property
from typing import Generic, TypeVar

__all__ = ["BuiltIn"]

_Kind = TypeVar("_Kind")


class BuiltIn(Generic[_Kind]):
    """The classes of one kind below a package.

    A class is in the module that its alias names: ``file`` in ``file.py``, ``aws-ssm`` in ``aws/ssm.py``, ``vault`` in
    ``vault/provider.py``. A lookup imports that module alone.

    Args:
        package: where the modules are; those whose names begin with an underscore are left out.
        attribute: the class attribute that holds the alias.
        base: what the classes are derived from.
    """

    def __init__(self, package: str, attribute: str, base: type[_Kind]) -> None:
        self._package = package
        self._attribute = attribute
        self._base = base

    def find(self, alias: str) -> type[_Kind] | None:
        """Return the class called ``alias``, or None."""
        module = self._modules.get(alias.lower())
        return None if module is None else self._in(module).get(alias)

    @cached_property
    def all(self) -> dict[str, type[_Kind]]:
        """Every class by its alias, in the order of the aliases; all modules are imported."""
        found = [self._in(module) for module in self._modules.values()]
        return {alias: kind for each in found for alias, kind in sorted(each.items())}

    def targets(self) -> dict[str, str]:
        """Return ``package.module:Class`` of each, as entry points have it."""
        return {alias: f"{kind.__module__}:{kind.__qualname__}" for alias, kind in self.all.items()}

    @cached_property
    def _modules(self) -> dict[str, str]:
        """Alias, in small letters, to the module that may hold its class. Nothing is imported."""
        found: dict[str, str] = {}
        places = list(importlib.import_module(self._package).__path__)
        for _, name, is_package in pkgutil.iter_modules(places):
            if name.startswith("_"):
                continue
            inner = pkgutil.iter_modules([f"{place}/{name}" for place in places]) if is_package else ()
            if not is_package:
                found[name] = f"{self._package}.{name}"
            for _, part, _ in inner:
                found[name if part == "provider" else f"{name}-{part}"] = f"{self._package}.{name}.{part}"
        return {alias.replace("_", "-"): module for alias, module in sorted(found.items())}

    def _in(self, module: str) -> dict[str, type[_Kind]]:
        own = [
            each
            for each in vars(importlib.import_module(module)).values()
            if isinstance(each, type) and each.__module__ == module and issubclass(each, self._base)
        ]
        return {alias: each for each in own if (alias := getattr(each, self._attribute, None))}
