"""The statements that a client sends to the Thrift server."""

from __future__ import annotations

from leaks.corpus.shop import Shop, sql_literal


def written(shop: Shop) -> list[str]:
    """Statements with secrets that the client has written itself; those that fail do so on purpose."""
    found = []
    for text in shop.texts:
        # Beeline reads a statement a line, ends it at a semicolon, and takes two dashes for a comment.
        literal = sql_literal(text).replace(";", "\\u003b").replace("--", "-\\u002d")
        found += [
            # Rows that a client asks for are data, so this one asks for none with a secret.
            f"SELECT id, length('{literal}') AS found FROM range(3)",
            f"EXPLAIN EXTENDED SELECT id FROM range(3) WHERE '{literal}' <> concat(id, 'x')",
            f"SELECT no_such_column + '{literal}' FROM range(1)",
            f"SELEKT '{literal}'",
            f"SELECT raise_error('{literal}')",
            f"SELECT CAST(concat('{literal}', id) AS INT) FROM range(2)",
        ]
    return [f"{statement};" for statement in found]


def others(shop: Shop) -> list[str]:
    """Statements whose secrets are the server's."""
    found = []
    for name in shop.options:
        for key in (f"spark.shop.{name}.pwd", f"spark.shop.{name}.apikey"):
            found += [f"EXPLAIN SELECT '${{{key}}}'", f"SELECT raise_error('${{{key}}}')", f"SET {key}"]
    password = sql_literal(shop.options["awkward"])
    options = f"url '{shop.jdbc}', driver 'org.postgresql.Driver', user 'audit', password '{password}'"
    found += [
        f"CREATE TABLE shop_table USING jdbc OPTIONS ({options}, query 'SELECT 7 AS n')",
        "SELECT * FROM shop_table",
        "DESCRIBE EXTENDED shop_table",
        "SHOW CREATE TABLE shop_table",
        "SET -v",
        "SET",
    ]
    return [f"{statement};" for statement in found]
