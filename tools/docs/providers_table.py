"""The tables of docs/providers.md: what the providers say of themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sparkconfig.providers._kit.params import Param
from sparkconfig.providers.catalog import ProviderInfo

_MANY = 2
#: What the page says of every store that says no more.
_USUAL_TTL = "`ttl`"


def markdown(found: Sequence[ProviderInfo]) -> list[str]:
    """Return the overview and one section for each provider. What is installed here plays no part."""
    lines = ["| alias | store | extra |", "| --- | --- | --- |"]
    for each in found:
        extra = f"`{each.extra}`" if each.extra else "none"
        lines.append(f"| [`{each.alias}`](#{each.alias}) | {each.store} | {extra} |")
    shared = _shared(found)
    if shared:
        lines += ["", "### Shared params", "", *_params(list(shared.values()))]
    for each in found:
        lines += ["", f"### {each.alias}", ""]
        first = next(other.alias for other in found if other.auth == each.auth)
        login = each.auth if first == each.alias else f"as of [`{first}`](#{first})"
        facts = (
            ("References", each.paths),
            ("Login", login),
            ("Values last", each.ttl.removeprefix("none: ")),
        )
        lines += [f"- {name}: {fact}" for name, fact in facts if fact and fact != _USUAL_TTL]
        params = each.params or ()
        common = ", ".join(
            _named(param, shared[_meaning(param)]) for param in params if _meaning(param) in shared
        )
        if common:
            lines.append(f"- [Shared params](#shared-params): {common}")
        lines += _params([param for param in params if _meaning(param) not in shared])
    return lines


def _meaning(param: Param) -> tuple[str, str]:
    return param.name, param.doc


def _shared(found: Sequence[ProviderInfo]) -> dict[tuple[str, str], Param]:
    """The params that mean the same to several providers, with the default that most of them have."""
    counts = Counter(param for each in found for param in each.params or ())
    usual = {_meaning(param): param for param, _ in reversed(counts.most_common())}
    many = Counter(_meaning(param) for each in found for param in each.params or ())
    return {meaning: usual[meaning] for meaning in many if many[meaning] >= _MANY}


def _named(param: Param, shared: Param) -> str:
    """Return a shared param's name, with its default where that is another one here."""
    if param.default == shared.default:
        return f"`{param.name}`"
    return f"`{param.name}` ({'no default' if param.default is None else f'default `{param.default}`'})"


def _params(params: Sequence[Param]) -> list[str]:
    lines = []
    for param in params:
        given = f"default `{param.default}`" if param.default is not None else ""
        marks = [
            mark
            for mark, on in ((given, given), ("**required**", param.required), ("secret", param.secret))
            if on
        ]
        shown = f" ({', '.join(marks)})" if marks else ""
        lines.append(f"- `{param.name}`{shown}: {param.doc}")
    return lines
