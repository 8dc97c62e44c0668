"""Messages of a size that nobody needs: a server takes its time for each, and others do not wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support.attacks import SHOP

__all__ = ["options", "others_are_answered", "view"]


def options(folder: Path, count: int) -> Mapping[str, Mapping[str, str]]:
    """Options for JDBC: 3 in 10 of this number that no rule lists, and references in 500 of them, and in one."""
    base = {"url": SHOP, "dbtable": "sysibm.sysdummy1", "user": "app"}
    refused = [f"${{files:{folder}/private/db.properties:k{number}}}" for number in range(count)]
    return {
        "options": {**base, **{f"o{number}": "a" for number in range(count * 3 // 10)}},
        "references": {**base, **{f"o{number}": "".join(refused[number::500]) for number in range(500)}},
        "references in one option": {**base, "password": "".join(refused)},
        "beginnings of references": {**base, "password": f"{'${files:' * count}}}"},
    }


def view(given: Mapping[str, str]) -> str:
    pairs = ", ".join(f"`{name}` '{text}'" for name, text in given.items())
    return f"CREATE OR REPLACE TEMPORARY VIEW large USING jdbc OPTIONS ({pairs})"


def others_are_answered(large: Mapping[str, Callable[[], str | None]], small: Callable[[], object]) -> None:
    """Large messages are refused one after the other, and small ones of another client are answered meanwhile."""
    refused: dict[str, str | None] = {}
    meanwhile = 0
    with ThreadPoolExecutor(1) as pool:
        all_sent = pool.submit(lambda: refused.update({name: send() for name, send in large.items()}))
        while not all_sent.done():
            small()
            meanwhile += not all_sent.done()
        all_sent.result()
    assert [name for name, problem in refused.items() if problem is None] == []
    assert meanwhile > len(large)
