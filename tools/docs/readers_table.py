"""Who reads which confs, and what he gets by the door at which a text came in: a table of docs/data-sources.md."""

from __future__ import annotations

from collections.abc import Iterable

from sparkconfig.settings.readers import CONNECTOR_CODE, CONNECTOR_COMMANDS, CONNECTORS, HADOOP

_DOORS = (
    "conf at the start, builder",
    "`spark.conf.set`, `SET`, Connect",
    "`sc.hadoopConfiguration`",
    "option, table property",
)
_LISTED = "value; on a shared server only keys that the policy lists"


def lines() -> list[str]:
    """Return what the table's words mean, and the table."""
    others = [prefix for prefix in CONNECTORS if prefix not in {*CONNECTOR_CODE, *CONNECTOR_COMMANDS}]
    rows = [
        ("read by", "keys", *_DOORS),
        ("---",) * 6,
        ("file systems and others of Hadoop", f"`spark.hadoop.*`; in a session {_code(HADOOP)}", "value", _LISTED,
         "value", "value"),
        ("catalogs", "`spark.sql.catalog.*`", "value", "value", "-", "-"),
        ("V2 sources", "`spark.datasource.*`", "value", "value", "-", "value"),
        ("connectors that we know", _code(CONNECTOR_CODE), "value", "value", "-", "value"),
        ("connectors with SQL commands of their own", _code(CONNECTOR_COMMANDS), "error", "error", "-",
         "`load()` and `save()`: value; table, stream: error [3]"),
        ("other connectors", _code(others), "error", "error", "-", "value"),
        ("your own code", "all other keys", "reference", "reference", "value", "value"),
    ]  # fmt: skip
    return [
        "Who reads a key decides what becomes of a text. *Value*: as at the start. *Error*: it names the key and what",
        "works. *Reference*: no known reader has this key; your code passes it on as an option, or to `current()`.",
        "",
        *(f"| {' | '.join(cells)} |" for cells in rows),
    ]


def _code(prefixes: Iterable[str]) -> str:
    return ", ".join(f"`{prefix}*`" for prefix in prefixes)
