"""The tables of docs/shared-servers.md: how much of what users of a shared server try is refused, and works."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from support import attacks, honest


def lines() -> list[str]:
    """Return what is refused and what works, with how many texts the tests send of each."""
    return [
        *_listed(attacks.STATEMENTS, attacks.CONNECT),
        "",
        "What honest users send, in the same tests, works as before:",
        "",
        *_listed({**honest.HONEST, "DataFrames": honest.CONNECT_HONEST}),
    ]


def _listed(*kinds: Mapping[str, Sequence[str]]) -> list[str]:
    counts: Counter[str] = Counter()
    for texts in kinds:
        counts.update({name: len(each) for name, each in texts.items()})
    return [f"- {name}: {number}" for name, number in counts.items()]
