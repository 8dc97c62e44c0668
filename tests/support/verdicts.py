"""Whether a server refuses what attackers send, and does what honest users send."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyspark

from support.attacks import BAIT, NEWER, STATEMENTS, fill
from support.honest import HONEST

__all__ = [
    "LITERAL",
    "SEEN_BY_NONE",
    "UNSEEN",
    "all_refused",
    "all_work",
    "attempt",
    "confs_are_hidden",
    "names_alone",
    "no_log_is_followed",
]

#: Where the connections go: no statement of these tests says so.
UNSEEN = "memory:unseen"


#: Confs of the server's that the policy does not show; one is an option of Hadoop's, too.
SEEN_BY_NONE = {
    "spark.acme.region": "eu-west",
    "spark.acme.wait": "5m",
    "spark.hadoop.fs.s3a.acme.region": "eu-west",
}

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
        # A file that Hadoop refuses is told in Spark's own errors of that.
        is_files = re.search("is not of the lake|its name is a pattern", problem)
        is_ours = "operator's policy does not allow" in problem and not is_files
        if is_ours and _state(error) != "42501":
            return f"NOT BY POLICY: its SQLSTATE is {_state(error)}: {problem[:300]}"
        return problem if REFUSED.search(problem) else f"NOT BY POLICY: {problem[:300]}"
    assert BAIT not in str(found), text
    return None


def _state(error: Exception) -> str:
    """What clients show beside the message."""
    if hasattr(error, "java_exception"):
        return error.java_exception.getSQLState()
    if hasattr(error, "getSqlState"):
        return error.getSqlState()
    details = dict(error.trailing_metadata())["grpc-status-details-bin"]  # a call without Spark's client
    return re.search(rb"sqlState\W+(\w+)", details)[1].decode()


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
            # Where a link leads is not told to those who may not read it.
            told = f"{folder}/bait.txt" in str(problem) and "bait.txt" not in statement
            if problem is None or told or (problem.startswith("NOT") and known(text)):
                passed[f"{attack}: {statement}"] = problem
    assert not passed, "\n".join(f"{key} -> {text}" for key, text in passed.items())


def no_log_is_followed(run: Callable[[str], object], folder: Path, server: str, texts: Sequence[str]) -> None:
    """A folder's log names the file that nobody may read."""
    for text in texts:
        attempt(run, fill(text, folder, server))
    assert not run(fill("SELECT * FROM logged_table", folder, server))


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


def confs_are_hidden(run: Callable[[str], Any], folder: Path) -> None:
    """The server's confs, but for what a list lets users see and what they set themselves."""
    for key in ("spark.app.id", "spark.driver.host", "spark.sql.warehouse.dir", "spark.jars", "acme.nothing"):
        assert "hidden: the operator's policy" in str(run(f"SET {key}")), key
    told = [attempt(run, f"SET spark.acme.region={guess}") for guess in ("eu-west", "us-east")]
    assert told[0] == told[1], "the answer tells whether a guess is right"
    assert "hidden" not in str(run("SET spark.sql.session.timeZone"))
    run("SET spark.sql.session.timeZone=UTC")  # SET lists what is set
    for text in ("SET", "SET -v"):
        told = str(run(text))
        assert str(folder) not in told, text
        assert "spark.sql.session.timeZone" in told, text
    run("SET spark.sql.shuffle.partitions=17")
    assert "17" in str(run("SET spark.sql.shuffle.partitions"))
    run("RESET spark.sql.shuffle.partitions")


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


def connections(folder: Path) -> dict[str, str]:
    """Connections with a password that no user may name."""
    options = {
        "url": f"jdbc:derby:{UNSEEN};create=true",
        "user": "app",
        "password": f"${{files:{folder}/private/db.properties:password}}",
    }
    found = {}
    for name in ("shop", "look", "bobs", "hidden", "refused", "keyless"):
        root = f"spark.config.connections.{name}"
        found |= {f"{root}.format": "jdbc", **{f"{root}.option.{key}": text for key, text in options.items()}}
        catalog = f"spark.sql.catalog.{name}_catalog"
        found[catalog] = "org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog"
        found[f"{catalog}.sparkconfig.connection"] = name
    return {
        **found,
        "spark.config.connections.bobs.option.password": LITERAL,
        # A database that is not there, and a key that is not there.
        "spark.config.connections.refused.option.url": "jdbc:derby:memory:nothing",
        "spark.config.connections.keyless.option.password": f"${{files:{folder}/private/db.properties:nothing}}",
    }
