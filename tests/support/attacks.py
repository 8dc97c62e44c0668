"""What users of a shared server try: statements that must be refused, each in many spellings, and honest ones.

docs/generate.py makes the tables of docs/shared-servers.md from these, and the tests send every one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

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
)
"""Spellings of one file of the server; ``{lake}`` is a folder that users may read, beside the file."""

STATEMENTS: Mapping[str, Sequence[str]] = {
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
    "choose the server's code by a conf": [
        f"SET {key}"
        for key in (
            "spark.sql.adaptive.customCostEvaluatorClass=com.acme.Own",
            "spark.sql.extensions=com.acme.Own",
            "spark.sql.catalog.own=com.acme.Own",
            "spark.sql.sources.commitProtocolClass=org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol",
            "spark.sql.parquet.output.committer.class=org.apache.parquet.hadoop.ParquetOutputCommitter",
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

HONEST: Mapping[str, Sequence[str]] = {
    "queries": [
        "SELECT 1",
        "SELECT count(*) FROM range(10) r JOIN range(5) s ON r.id = s.id",
        "WITH t AS (SELECT id % 3 AS k FROM range(9)) SELECT k, count(*) FROM t GROUP BY k",
        "SELECT transform(array(1, 2), x -> x + 1)",
        "EXPLAIN SELECT 1",
    ],
    "tables of the catalog": [
        "CREATE TABLE own_table (id BIGINT, day STRING) USING parquet PARTITIONED BY (day)",
        "INSERT INTO own_table VALUES (1, 'a'), (2, 'b')",
        "INSERT OVERWRITE own_table SELECT id, 'c' FROM range(3)",
        "SELECT count(*) FROM own_table WHERE day = 'c'",
        "ALTER TABLE own_table SET TBLPROPERTIES ('team' = 'ann')",
        "DESCRIBE TABLE EXTENDED own_table",
        "SHOW TABLES",
        "CREATE TABLE own_copy USING parquet AS SELECT * FROM own_table",
        "ANALYZE TABLE own_copy COMPUTE STATISTICS",
        "CACHE TABLE own_copy",
        "UNCACHE TABLE own_copy",
        "TRUNCATE TABLE own_copy",
        "DROP TABLE own_copy",
        "DROP TABLE own_table",
    ],
    "the lake": [
        "INSERT INTO kept VALUES (1)",
        "CREATE TABLE own_lake USING parquet LOCATION 'file:{lake}/{server}' AS SELECT id FROM range(3)",
        "SELECT count(*) FROM parquet.`{lake}/{server}`",
        "SELECT count(*) FROM parquet.`file:{lake}/{server}*`",
        "CREATE TEMPORARY VIEW own_view USING parquet OPTIONS (path 'file://{lake}/{server}')",
        "SELECT * FROM own_view",
        "DROP VIEW own_view",
        "DROP TABLE own_lake",
    ],
    "the session": [
        "SET spark.sql.shuffle.partitions=5",
        "SET spark.sql.adaptive.enabled=true",
        "SET spark.sql.session.timeZone=UTC",
        "SHOW DATABASES",
        "USE default",
        "CREATE TEMPORARY VIEW own_numbers AS SELECT * FROM range(3)",
        "SHOW VIEWS",
        "SELECT 'costs ${{5}} and $${{x'",
        "RESET spark.sql.shuffle.partitions",
    ],
}
"""What everybody does: to work as before."""


def fill(text: str, folder: Path, server: str) -> str:
    """A statement for the files of :func:`prepare`, and a server of this name."""
    return text.format(bait=folder / "bait.txt", lake=folder / "lake", folder=folder, server=server)


def prepare(folder: Path) -> None:
    """Make the file that nobody may read, and a lake beside it with links out of it."""
    for name in ("bait.txt", "code.py", "code.zip", "code.jar", "Code.class"):
        (folder / name).write_text(f"{BAIT}\n")
    lake = folder / "lake"
    lake.mkdir()
    (lake / "link.txt").symlink_to(folder / "bait.txt")
    (folder / "away").mkdir()
    (lake / "away").symlink_to(folder / "away")
