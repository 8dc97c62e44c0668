"""The table of docs/shared-servers.md that counts the surface: what is decided for each Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import files

# What the names of a file are, unless its own name says so: functions.json.
NAMES = {"connect.json": "Connect's messages"}


def lines(table: Callable[[list[str], list[list[str]]], list[str]]) -> list[str]:
    """Return how many names of each surface file are harmless, judged by the rules, and refused."""
    rows: list[list[str]] = []
    for path in sorted(files.FOLDER.glob("*.json")):
        surface = files.read(path)
        numbers: tuple[int, ...] = ()
        for spark in files.sparks(surface):
            kinds = Counter(verdict.partition(":")[0] for verdict in files.verdicts(surface, spark).values())
            judged = kinds["asks"] + kinds["reads"]
            before, numbers = numbers, (kinds.total(), kinds["harmless"], judged, kinds["refused"])
            if numbers == before:
                rows[-1][0] = f"{rows[-1][0].partition(' to ')[0]} to {spark}"
            else:
                rows.append([f"{NAMES.get(path.name, path.stem)}, {spark}", *map(str, numbers)])
    return table(["", "decided", "harmless", "judged", "refused"], rows)
