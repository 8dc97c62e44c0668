"""The catalog of providers as text."""

from __future__ import annotations

from collections.abc import Iterable

from sparkconfig._base import advice
from sparkconfig.cli.output import table
from sparkconfig.providers._kit.params import Param
from sparkconfig.providers.catalog import ProviderInfo

__all__ = ["overview", "params"]


def overview(found: Iterable[ProviderInfo]) -> list[str]:
    """Return one line for each provider."""
    rows = [[each.alias, _plain(each.store), _state(each)] for each in found]
    return table(["provider", "store", "here"], rows)


def params(found: Iterable[ProviderInfo]) -> list[str]:
    """Return each provider with its params."""
    lines: list[str] = []
    for each in found:
        lines += [f"{each.alias}: {_plain(each.store)} ({_state(each)})"]
        for param in each.params or ():
            extras = [word for word in (_default(param), "required" if param.required else "") if word]
            lines.append(
                f"    {param.name}: {_plain(param.doc)}" + (f" ({', '.join(extras)})" if extras else "")
            )
    return lines


def _state(each: ProviderInfo) -> str:
    if each.installed:
        return "installed"
    return advice.install(each.extra) if each.extra else "not usable"


def _default(param: Param) -> str:
    return f"default {param.default}" if param.default is not None else ""


def _plain(doc: str) -> str:
    return doc.replace("`", "")
