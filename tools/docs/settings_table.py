"""The tables of docs/settings.md, from the settings' declarations: those of a job first, then the rest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparkconfig.settings.schema import declared

#: What people who start jobs set, in the order of their need.
OF_A_JOB = (
    "providers", "inplace.keys", "resolve.prefixes", "foreign.providers", "worker.references", "files.text",
    "files.base64", "reload.trigger", "stale.expiry", "substitution.enabled",
)  # fmt: skip
#: Those that are named after something, and so are no declaration.
NAMED = (
    (
        "`spark.config.providers.NAME.class`",
        "",
        "NAME",
        "What a provider is: `vault`, `sealed`, …, or a dotted class.",
    ),
    ("`spark.config.providers.NAME.param.P`", "", "", "Its params: [providers](providers.md)."),
)
#: What a default of true or false, or free text, says already.
_PLAIN = {"text", "true | false"}


def lines() -> list[str]:
    """Return both tables.

    Raises:
        KeyError: a setting of a job is not declared.
    """
    rows = {each.metadata["name"].removeprefix("spark.config."): _row(each.metadata) for each in declared()}
    first, *others = (rows.pop(name) for name in OF_A_JOB)
    return [
        *_table([first, *NAMED, *others]),
        "",
        "## The others",
        "",
        "Their defaults are meant to stay; policies, the interpreter and the audit belong into the operator's file.",
        "",
        *_table([rows[name] for name in sorted(rows)]),
    ]


def _row(about: Mapping[str, Any]) -> tuple[str, ...]:
    default = about["default"]
    shown = "" if default is None else "empty" if default == "" else f"`{default}`"
    kind = about["kind"].name.replace(", separated by commas", "")  # the page says so of every list
    return f"`{about['name']}`", "" if kind in _PLAIN else kind, shown, about["doc"]


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    titles = ("setting", "type", "default", "meaning")
    cells = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in (titles, ["---"] * len(titles), *cells)]
