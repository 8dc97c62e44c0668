"""Views and functions in SQL keep the confs of the session that makes them: what of these a server's clients see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyspark

#: A conf of the server's that nobody sees.
UNSHOWN = {"spark.sql.sources.fileCompressionFactor": "1.7654"}
SINCE_4 = pyspark.__version__ >= "4"
HIDDEN = "policy does not show this conf"
VIEWS = (
    *(
        f"SHOW TBLPROPERTIES keeping ('view.sqlConfig.{key}')"
        for key in (*UNSHOWN, "spark.sql.streaming.checkpointLocation")
    ),
    "SHOW TBLPROPERTIES keeping",
    "SHOW CREATE TABLE keeping",
    "DESCRIBE TABLE EXTENDED keeping",
    "SHOW TABLE EXTENDED LIKE 'keeping'",
)
ALL_AT_ONCE = (
    "DESCRIBE EXTENDED keeping AS JSON",
    "DESCRIBE FUNCTION EXTENDED kept_sum",
    "DESCRIBE FUNCTION EXTENDED kept_rows",
    "DESCRIBE FUNCTION EXTENDED passing_sum",
)


def hidden_from_statements(run: Callable[[str], Any], folder: Path) -> None:
    """All that shows what is kept, with the confs that the policy shows."""
    run("SET spark.sql.session.timeZone=Asia/Tokyo")
    run("CREATE OR REPLACE VIEW keeping AS SELECT 1 AS a")
    told = {text: str(run(text)) for text in VIEWS}
    assert HIDDEN in told[VIEWS[0]]
    if SINCE_4:
        run("CREATE OR REPLACE FUNCTION kept_sum(x INT) RETURNS INT RETURN x + 1")
        run("CREATE OR REPLACE FUNCTION kept_rows(x INT) RETURNS TABLE(a INT) RETURN SELECT x + 1")
        run("CREATE OR REPLACE TEMPORARY FUNCTION passing_sum(x INT) RETURNS INT RETURN x + 1")
        all_at_once = {text: str(run(text)) for text in ALL_AT_ONCE}
        for text, answer in all_at_once.items():
            assert [
                part for part in (HIDDEN, "spark.sql.session.timeZone", "Asia/Tokyo") if part not in answer
            ] == [], text
        told |= all_at_once
    nothing_is_shown(told, folder)
    run("RESET spark.sql.session.timeZone")


def hidden_from_jdbc(connection: Any, folder: Path) -> None:
    """What Hive's driver asks for by itself."""
    if SINCE_4:
        rows = connection.getMetaData().getFunctions(None, "default", "kept_sum")
        assert rows.next()
        remarks = rows.getString("REMARKS")
        assert HIDDEN in remarks
        nothing_is_shown({"remarks": remarks}, folder)


def hidden_from_catalogs(session: Any, folder: Path) -> None:
    """What Connect's catalog says, and what a client computes from it on the server."""
    from pyspark.sql.connect.dataframe import DataFrame
    from pyspark.sql.connect.plan import GetFunction, ListFunctions

    one = str(session.catalog.getFunction("kept_sum").description)
    assert HIDDEN in one
    nothing_is_shown({"one": one, "all": str(session.catalog.listFunctions())}, folder)
    for asked in (GetFunction("kept_sum"), ListFunctions(pattern="kept*")):
        rows = DataFrame(asked, session).selectExpr("reverse(description) AS a").collect()
        texts = [row.a[::-1] for row in rows if row.a]
        assert any("sqlConfig" in text for text in texts)
        nothing_is_shown({str(asked): "".join(texts)}, folder)


def nothing_is_shown(told: Mapping[str, str], folder: Path) -> None:
    for text, answer in told.items():
        assert not [value for value in (*UNSHOWN.values(), f"{folder}/state") if value in answer], text
