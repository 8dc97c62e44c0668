"""SQL's reflection, in every place and spelling that a Connect client has: each is refused, and none has run before."""

from __future__ import annotations

import pytest
from pyspark.errors import AnalysisException, PySparkException

pytestmark = [
    pytest.mark.spark,
    pytest.mark.sparks(since="4.0"),
]

TARGET = "'java.lang.System', 'setProperty', 'sparkconfig.spelling.NUMBER', 'x'"
PLAIN = f"reflect({TARGET})"
# Its name is made in the statement: Spark has no function there before it analyses.
BUILT = f"IDENTIFIER('ref' || 'lect')({TARGET})"
UNKNOWN = f"IDENTIFIER(lower('REFLECT'))({TARGET})"
STATEMENTS = [
    f"SELECT {BUILT}",
    f"SELECT {UNKNOWN}",
    f"SELECT * FROM VALUES ({PLAIN})",
    f"SELECT * FROM VALUES ({BUILT})",
    f"SELECT * FROM VALUES ({UNKNOWN})",
    f"SELECT * FROM VALUES (IDENTIFIER('java_' || 'method')({TARGET}))",
    f"SELECT * FROM VALUES (system.builtin.reflect({TARGET}))",
    "SELECT * FROM VALUES (transform(array('java.lang.System'), c -> reflect(c, 'getenv', 'HOME')))",
    f"SELECT * FROM VALUES (CASE WHEN true THEN upper({BUILT}) END)",
    f"SELECT (SELECT max(c) FROM VALUES ({BUILT}) AS t(c))",
    f"WITH t AS (SELECT * FROM VALUES ({BUILT})) SELECT * FROM t",
    f"SELECT * FROM range(1), LATERAL (SELECT * FROM VALUES ({BUILT}))",
    f"SELECT * FROM range(length({BUILT}))",
    f"SELECT * FROM IDENTIFIER('ra' || 'nge')(length({PLAIN}))",
    f"SELECT * FROM explode(array({BUILT}))",
    f"SELECT 1 LIMIT length({BUILT})",
    f"SELECT * FROM (SELECT 'x' AS k, 1 AS v) PIVOT (sum(v) FOR k IN ({BUILT}))",
    f"SELECT from_json('1', {PLAIN})",
    f"SELECT * FROM IDENTIFIER({PLAIN})",
    f"INSERT INTO spelling VALUES ({BUILT})",
    f"CREATE TABLE spelling_NUMBER (a STRING DEFAULT {BUILT}) USING parquet",
    f"ALTER TABLE spelling ALTER COLUMN a SET DEFAULT {BUILT}",
    f"CREATE TABLE spelling_NUMBER (a STRING) USING parquet OPTIONS (k = {BUILT})",
    f"CREATE VIEW spelling_NUMBER AS SELECT * FROM VALUES ({BUILT})",
    f"CREATE TEMPORARY FUNCTION spelling_NUMBER() RETURNS TABLE (c STRING) RETURN SELECT * FROM VALUES ({BUILT})",
    f"CREATE TEMPORARY FUNCTION spelling_NUMBER(a STRING DEFAULT {BUILT}) RETURNS STRING RETURN a",
    f"DECLARE VARIABLE spelling_NUMBER STRING DEFAULT {BUILT}",
    'EXECUTE IMMEDIATE \'SELECT * FROM VALUES (reflect("java.lang.System", "getenv", "HOME"))\'',
    f"EXECUTE IMMEDIATE 'SELECT ?' USING {BUILT}",
    f"BEGIN DECLARE x STRING DEFAULT {BUILT}; SELECT x; END",
    f"BEGIN IF {BUILT} IS NULL THEN SELECT 1; END IF; END",
    f"BEGIN FOR r AS SELECT * FROM VALUES ({BUILT}) DO SELECT 1; END FOR; END",
]  # fmt: skip


def test_every_spelling_is_refused_and_has_not_run(application):
    from pyspark.sql.connect import functions as F  # noqa: N812

    session = application["connect"]
    system = application["classic"]._jvm.java.lang.System
    session.sql("CREATE TABLE spelling (a STRING) USING parquet").collect()

    def arguments(number: int) -> list:
        texts = ["java.lang.System", "setProperty", f"sparkconfig.spelling.{number}", "x"]
        return [F.lit(text) for text in texts]

    def sql(text: str, number: int) -> None:
        session.sql(text.replace("NUMBER", str(number))).collect()

    actions = {text: lambda n, text=text: sql(text, n) for text in STATEMENTS}
    one = session.range(1)
    unknown = "SELECT * FROM VALUES (IDENTIFIER(:f)(:a, :b, :c, :d))"
    actions |= {
        "call_function": lambda n: one.select(F.call_function("reflect", *arguments(n))).collect(),
        "functions": lambda n: one.select(F.java_method(*arguments(n))).collect(),
        "filter": lambda n: one.filter(F.try_reflect(*arguments(n)).isNull()).collect(),
        "expr": lambda n: one.select(F.expr(BUILT.replace("NUMBER", str(n)))).collect(),
        "lambda": lambda n: one.select(
            F.transform(F.array(F.lit("java.lang.System")), lambda c: F.reflect(c, *arguments(n)[1:]))
        ).collect(),
        "table-valued": lambda n: session.tvf.explode(F.array(F.reflect(*arguments(n)))).collect(),
        "argument": lambda n: session.sql(
            "SELECT * FROM VALUES (?)", args=[F.array(F.reflect(*arguments(n)))]
        ).collect(),
        "name as an argument": lambda n: session.sql(
            unknown, args=dict(zip("fabcd", [F.lit("reflect"), *arguments(n)], strict=True))
        ).collect(),
    }
    passed = []
    for number, (name, action) in enumerate(actions.items()):
        try:
            action(number)
            passed.append(name)
        except (AnalysisException, PySparkException) as error:
            ours = any(word in str(error) for word in ("sparkconfig.reflect", "may not call sparkconfig"))
            # Spark 4.0 does not know every spelling, and refuses it by itself.
            if not ours and not session.version.startswith("4.0."):
                passed.append(name)
        assert system.getProperty(f"sparkconfig.spelling.{number}") is None, name
    assert passed == []
    session.sql("DROP TABLE spelling").collect()
    assert session.range(3).count() == 3


def test_names_of_other_functions_may_be_made(application):
    session = application["connect"]
    assert session.sql("SELECT * FROM VALUES (IDENTIFIER('up' || 'per')('a'))").collect() == [("A",)]
    assert session.sql("SELECT IDENTIFIER(lower('UPPER'))('a')").collect() == [("A",)]
