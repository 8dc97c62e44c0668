"""The confs that declare the provider of the references that a migration writes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from sparkconfig.migrate.plan import FilePlan
from sparkconfig.migrate.text import Scope
from sparkconfig.settings import operator_file

__all__ = ["declare", "of"]

_PROVIDERS = "spark.config.providers"


def of(provider: str, path: Path, key: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of a sealed file.

    Args:
        provider: its name in references.
        path: the file.
        key: its param for the key, such as ``{"key.file": …}``.
    """
    params = {"file": str(path.absolute()), **key}
    return {
        _PROVIDERS: provider,
        f"{_PROVIDERS}.{provider}.class": "sealed",
        **{f"{_PROVIDERS}.{provider}.param.{name}": value for name, value in params.items()},
    }


def declare(plan: FilePlan, confs: Mapping[str, str], provider: str) -> str | None:
    """Let a plan add what its file needs; return what the user has to do instead, or None.

    Args:
        plan: of one file.
        confs: the settings that declare the provider.
        provider: its name.

    Nothing is added to an application that declares the provider already, or where an operator's file binds.
    """
    if not plan.moves:
        return None
    todo: dict[str, None] = {}
    scopes = plan.document.scopes or {"": Scope({}, [(0, len(plan.document.content))])}
    for name, scope in scopes.items():
        names = [each.strip() for each in scope.confs.get(_PROVIDERS, "").split(",") if each.strip()]
        if provider in names or not any(scope.holds(move.edit) for move in plan.moves):
            continue
        if advice := _instead(scope, names, provider):
            todo[f"{name}: {advice}" if len(scopes) > 1 else advice] = None
        else:
            plan.settings = dict(confs)
            plan.declaring.append(scope)
    return "; ".join(todo) or None


def _instead(scope: Scope, names: list[str], provider: str) -> str | None:
    """Why the settings are not added to an application, and what to do; None: they are."""
    operator = operator_file.find(os.environ)
    if operator is not None:
        return f"declare the provider in the operator's file {operator}"
    if names:
        return f"{_PROVIDERS} names other providers: add {provider} to it, and its settings"
    if scope.add is None:
        return "set the confs that declare the provider where the application is submitted"
    return None
