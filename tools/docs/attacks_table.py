"""The tables of docs/shared-servers.md: how much of what users of a shared server try is refused, and works."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from support import attacks, honest

_TITLES = ("statements, 4.3", "statements, 3.5", "Connect messages")


def lines() -> list[str]:
    """Return what is refused and what works, counted from what the tests send."""
    return [
        *_counted("refused", attacks.STATEMENTS, attacks.CONNECT),
        "",
        "What honest users do works as before; the same tests send these to the same servers:",
        "",
        *_counted("works", honest.HONEST, {"DataFrames": honest.CONNECT_HONEST}),
    ]


def _counted(
    title: str, statements: Mapping[str, Sequence[str]], connect: Mapping[str, Sequence[str]]
) -> list[str]:
    rows = [(title, *_TITLES), ("---",) * 4]
    for name in dict.fromkeys((*statements, *connect)):
        texts = statements.get(name, ())
        older = sum(not attacks.NEWER.search(text) for text in texts)
        rows.append(
            (name, *(str(number or "-") for number in (len(texts), older, len(connect.get(name, ())))))
        )
    return [f"| {' | '.join(row)} |" for row in rows]
