"""Whether a server refuses what attackers send, and does what honest users send."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyspark

from support.attacks import BAIT, NEWER, STATEMENTS, fill
from support.honest import HONEST

__all__ = ["LITERAL", "UNSEEN", "all_refused", "all_work", "attempt", "names_alone"]

#: Where the connections go: no statement of these tests says so.
UNSEEN = "memory:unseen"

#: A password that the operator wrote as text.
LITERAL = "Literal-2f8c1d-login"

REFUSED = re.compile(
    r"operator's policy does not allow|CANNOT_MODIFY_(STATIC_)?CONFIG|Cannot modify the value of a static config"
    r"|[Tt]he connection '\w+' (sets|is for)|may not stand beside the connection"
    r"|may not name what the connection|takes the name of a connection|names two connections"
)


def attempt(run: Callable[[str], object], text: str) -> str | None:
    """Why a statement was refused; None: it was not. What fails otherwise is told."""
    try:
        found = run(text)
    except Exception as error:
        problem = re.sub(r"An error occurred[^:]*:", "", str(error))
        assert BAIT not in problem, text
        return problem if REFUSED.search(problem) else f"NOT BY POLICY: {problem[:300]}"
    assert BAIT not in str(found), text
    return None


def known(text: str) -> bool:
    """Whether this Spark has such statements."""
    if pyspark.__version__.startswith("4.0."):
        return "BEGIN " not in text  # scripts came with 4.1
    return not pyspark.__version__.startswith("3.") or not NEWER.search(text)


def all_refused(
    run: Callable[[str], object], folder: Path, server: str, attacks: Mapping[str, Sequence[str]] = STATEMENTS
) -> None:
    passed = {}
    for attack, texts in attacks.items():
        for text in texts:
            statement = fill(text, folder, server)
            problem = attempt(run, statement)
            if problem is None or (problem.startswith("NOT") and known(text)):
                passed[f"{attack}: {statement}"] = problem
    assert not passed, "\n".join(f"{key} -> {text}" for key, text in passed.items())


def all_work(
    run: Callable[[str], object], folder: Path, server: str, honest: Mapping[str, Sequence[str]] = HONEST
) -> None:
    failed = {}
    for texts in honest.values():
        for text in texts:
            problem = attempt(run, fill(text, folder, server))
            if problem is not None:
                failed[text] = problem
    assert not failed, "\n".join(f"{key} -> {text}" for key, text in failed.items())


def names_alone(run: Callable[[str], Any], server: str) -> None:
    """What the catalog and the plans tell of a connection."""
    read = "SELECT * FROM connected"
    for text in (
        "DESCRIBE EXTENDED connected", "DESCRIBE FORMATTED connected", "SHOW CREATE TABLE connected",
        f"EXPLAIN EXTENDED {read}", f"EXPLAIN FORMATTED {read}", f"EXPLAIN COST {read}", "SHOW TBLPROPERTIES connected",
        "EXPLAIN EXTENDED CREATE TEMPORARY VIEW v USING jdbc OPTIONS (sparkconfig.connection 'shop', dbtable 'a')",
        "SET -v", "SET", "SET spark.config.connections.shop.option.url",
    ):  # fmt: skip
        told = str(run(text))
        assert UNSEEN not in told, (server, text)
        assert "private/" not in told, (server, text)
    assert "look" in str(run("SHOW CREATE TABLE connected"))
    # A mask would say that the guess is right.
    assert LITERAL in str(run(f"EXPLAIN EXTENDED SELECT '{LITERAL}' AS a"))
