"""Tables of Delta and Iceberg on a shared Connect server with the shipped policy: what works, and what is refused.

The server's files are those of the jar, ``delta.json`` and ``iceberg.json``. Part of ``make third-parties``.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sparkconfig.policy.rules.document import read
from support.processes import Run
from support.sql_servers import Site
from support.verdicts import attempt
from third_parties.test_third_parties import DELTA, ICEBERG, released

ROOT = Path(__file__).resolve().parents[3]

pytestmark = [
    pytest.mark.spark,
    pytest.mark.timeout(900),
    pytest.mark.sparks(since="4.0"),  # guarded Connect servers
    pytest.mark.sparks(since="4.1", before="4.2"),  # the newest with a release of both
]

MERGE = (
    "MERGE INTO {t} t USING (SELECT 1L AS id, 'm' AS name) s ON t.id = s.id "
    "WHEN MATCHED THEN UPDATE SET name = s.name WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, s.name)"
)
ROWS = (
    "INSERT INTO {t} VALUES (1, 'a'), (2, 'b')",
    "INSERT OVERWRITE {t} SELECT * FROM {t} WHERE id < 9",
    "UPDATE {t} SET name = 'c' WHERE id = 1",
    "DELETE FROM {t} WHERE id = 2",
    MERGE,
    "SELECT assert_true(count(*) = 1 AND max(name) = 'm') FROM {t}",
    "ALTER TABLE {t} ADD COLUMN (more INT)",
    "DESCRIBE TABLE EXTENDED {t}",
)
#: The name of a column that Java reads as code after the end of a literal.
CODED = "a\\u0022\\u0029\\u003b"
#: By these a table has Delta, with the server's login, ask whatever host its JSON names.
COORDINATED = (
    "'delta.coordinatedCommits.commitCoordinator-preview' = 'dynamodb', "
    "'delta.coordinatedCommits.commitCoordinatorConf-preview' = "
    """'{{"dynamoDBTableName":"t","dynamoDBEndpoint":"http://127.0.0.1:9"}}', """
    "'delta.enableInCommitTimestamps' = 'true'"
)
USUAL = {
    "delta": (
        "'delta.appendOnly' = 'false', 'delta.logRetentionDuration' = 'interval 9 days', 'team' = 'ann', "
        "'delta.autoOptimize.optimizeWrite' = 'true', 'delta.columnMapping.mode' = 'name', "
        "'delta.feature.deletionVectors' = 'supported', 'delta.deletedFileRetentionDuration' = '9 days'"
    ),
    "ice": (
        "'write.format.default' = 'orc', 'write.target-file-size-bytes' = '1000000', 'team' = 'ann', "
        "'history.expire.max-snapshot-age-ms' = '9000000', 'commit.retry.num-retries' = '5', 'format-version' = '2', "
        "'write.parquet.bloom-filter-enabled.column.id' = 'true', 'write.metadata.metrics.default' = 'counts', "
        "'read.split.target-size' = '8000000'"
    ),
}
WORKS = {
    "delta": (
        # In the lake: Delta reads the log of a table by its path, so a managed table needs the warehouse among "paths".
        "CREATE TABLE {t} (id BIGINT, name STRING) USING delta LOCATION '{lake}/rows'",
        *ROWS,
        "SELECT assert_true(count(*) = 2) FROM {t} VERSION AS OF 1",
        "OPTIMIZE {t} ZORDER BY (id)",
        "DESCRIBE HISTORY {t}",
        "DESCRIBE DETAIL {t}",
        "ALTER TABLE {t} ADD CONSTRAINT own CHECK (id > 0)",
        "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')",
        f"CREATE TABLE coded (id BIGINT, `{CODED}` INT) USING delta LOCATION '{{lake}}/coded'",
        f"SELECT `{CODED}` FROM coded",
        "CREATE TABLE cloned SHALLOW CLONE {t} TBLPROPERTIES ('delta.appendOnly' = 'true') LOCATION '{lake}/cloned'",
        f"CREATE TABLE usual (id BIGINT) USING delta LOCATION '{{lake}}/usual' TBLPROPERTIES ({USUAL['delta']})",
        "INSERT INTO usual VALUES (1)",
        "ALTER TABLE usual SET TBLPROPERTIES ('delta.checkpointInterval' = '20', 'DELTA.appendonly' = 'true')",
        "CREATE TABLE noted (id BIGINT) USING parquet LOCATION '{lake}/noted' TBLPROPERTIES ('note.team' = 'ann')",
        "ALTER TABLE noted SET TBLPROPERTIES ('note.team' = 'ben')",
        "INSERT INTO {t} VALUES (7, 'n', 1)",
        "SELECT count(*) FROM table_changes('{t}', 9)",
    ),
    "ice": (
        "CREATE TABLE {t} (id BIGINT, name STRING) USING iceberg",
        *ROWS,
        "SELECT count(*) FROM {t}.snapshots",
        "ALTER TABLE {t} CREATE TAG before",
        "SELECT assert_true(max(name) = 'm') FROM {t} VERSION AS OF 'before'",
        "ALTER TABLE {t} ADD PARTITION FIELD bucket(2, id)",
        f"CREATE TABLE ice.own.usual (id BIGINT) USING iceberg TBLPROPERTIES ({USUAL['ice']})",
        "INSERT INTO ice.own.usual VALUES (1)",
        "ALTER TABLE ice.own.usual SET TBLPROPERTIES ('write.format.default' = 'parquet', 'gc.enabled' = 'true')",
        "CALL ice.system.rewrite_data_files(table => 'own.rows')",
        "CALL ice.system.rewrite_data_files(table => 'own.rows', strategy => 'sort', sort_order => 'id DESC')",
        "CALL ice.system.expire_snapshots('own.rows', TIMESTAMP '2020-01-01 00:00:00')",
        "CALL ice.system.remove_orphan_files(table => 'own.rows', location => '{lake}/ice/own/rows')",
    ),
}
REFUSED = {
    "delta": (
        # Tables have names: by a place in a user's folder Delta finds the table above it, and cuts off its end.
        *(
            text.replace("PLACE", f"{{lake}}/rows{end}")
            for end in ("", "/team=ana", "@v1", "/.", "/x/..@v1")
            for text in (
                "SELECT * FROM delta.`PLACE`",
                "SELECT * FROM table_changes_by_path('PLACE', 0)",
                "SELECT * FROM table_changes('delta.`PLACE`', 0)",
                "DESCRIBE HISTORY 'PLACE'",
                "DESCRIBE DETAIL 'PLACE'",
                "OPTIMIZE 'PLACE'",
                "ALTER TABLE delta.`PLACE` SET TBLPROPERTIES ('team' = 'ana')",
                "INSERT INTO delta.`PLACE` VALUES (1, 'a')",
                "CREATE TEMPORARY VIEW peek USING delta OPTIONS (path 'PLACE')",
                "CREATE TABLE copied SHALLOW CLONE delta.`PLACE` LOCATION '{lake}/copied'",
            )
        ),
        "SELECT * FROM delta.`{outside}`",
        "CREATE TABLE taken USING delta LOCATION '{outside}'",
        "CREATE TABLE copied SHALLOW CLONE delta.`{outside}`",
        "CONVERT TO DELTA parquet.`{outside}`",
        "OPTIMIZE '{outside}'",
        "DESCRIBE HISTORY '{outside}'",
        "VACUUM '{outside}'",
        "SELECT * FROM table_changes_by_path('{outside}', 0)",
        # Only the operator: they take away what other users read, or write beside a table.
        "VACUUM {t}",
        "RESTORE TABLE {t} TO VERSION AS OF 0",
        "GENERATE symlink_format_manifest FOR TABLE {t}",
        # Delta writes the name into Java code.
        f"ALTER TABLE coded ADD CONSTRAINT own CHECK (id > 0 OR `{CODED}` > 0)",
        f"ALTER TABLE {{t}} ADD CONSTRAINT own3 CHECK (`{CODED}` > 0 OR id > 0)",
        "ALTER TABLE {t} ADD CONSTRAINT own2 CHECK (java_method('java.lang.System', 'gc') IS NULL)",
        f"CREATE TABLE taken (id BIGINT) USING delta LOCATION '{{lake}}/taken' TBLPROPERTIES ({COORDINATED})",
        f"CREATE TABLE taken USING delta LOCATION '{{lake}}/taken' TBLPROPERTIES ({COORDINATED}) AS SELECT 1L id",
        f"CREATE OR REPLACE TABLE {{t}} (id BIGINT) USING delta TBLPROPERTIES ({COORDINATED})",
        f"CREATE TABLE taken USING delta OPTIONS ({COORDINATED}) LOCATION '{{lake}}/taken' AS SELECT 1L id",
        f"ALTER TABLE {{t}} SET TBLPROPERTIES ({COORDINATED})",
        f"CREATE TABLE taken SHALLOW CLONE {{t}} TBLPROPERTIES ({COORDINATED}) LOCATION '{{lake}}/taken'",
        f"CREATE OR REPLACE TABLE taken SHALLOW CLONE {{t}} TBLPROPERTIES ({COORDINATED}) LOCATION '{{lake}}/taken'",
        f"CREATE TABLE taken LIKE {{t}} TBLPROPERTIES ({COORDINATED})",
        f"ALTER TABLE {{t}} SET TBLPROPERTIES ({COORDINATED.replace('delta.c', 'DELTA.C')})",
        "ALTER TABLE {t} SET TBLPROPERTIES ('delta.feature.catalogManaged' = 'supported')",
        "ALTER TABLE {t} SET TBLPROPERTIES ('delta.universalFormat.enabledFormats' = 'hudi')",
        "ALTER TABLE {t} SET TBLPROPERTIES ('delta.redirectReaderWriter-preview' = '{{}}')",
        "ALTER TABLE {t} SET TBLPROPERTIES ('fs.s3a.endpoint' = 'http://127.0.0.1:9')",
        "SET `spark.databricks.delta.properties.defaults.coordinatedCommits.commitCoordinator-preview` = dynamodb",
    ),
    "ice": (
        "CALL ice.system.add_files(table => 'own.rows', source_table => '`parquet`.`{outside}`')",
        "CALL ice.system.register_table('own.other', '{outside}/v1.metadata.json')",
        "CALL ice.system.remove_orphan_files(table => 'own.rows', location => '{outside}')",
        "CALL ice.system.rewrite_table_path('own.rows', '{lake}', '{outside}')",
        "CALL ice.system.own_procedure('own.rows')",
        "CREATE TABLE ice.own.taken (a INT) USING iceberg LOCATION '{outside}'",
        "ALTER TABLE {t} SET TBLPROPERTIES ('write.data.path' = '{outside}')",
        "SELECT * FROM iceberg.`{outside}`",
        *(
            text.replace("PLACE", f"{{lake}}/ice/own/rows{end}")
            for end in ("", "#files", "#\n/../x", "#/../../x", "/metadata/v1.metadata.json")
            for text in (
                "SELECT * FROM iceberg.`PLACE`",
                "SELECT * FROM ice.`PLACE`",
                "CREATE TEMPORARY VIEW peek USING iceberg OPTIONS (path 'PLACE')",
                "CALL ice.system.rewrite_data_files(table => '`PLACE`')",
                "CALL ice.system.expire_snapshots('`PLACE`', TIMESTAMP '2020-01-01 00:00:00')",
                "INSERT INTO iceberg.`PLACE` VALUES (1, 'a', 1)",
            )
        ),
        "ALTER TABLE {t} SET TBLPROPERTIES ('write.location-provider.impl' = 'com.acme.Own')",
        "ALTER TABLE {t} SET TBLPROPERTIES ('write.format.default' = 'puffin')",
        "ALTER TABLE {t} SET TBLPROPERTIES ('encryption.key-id' = 'own')",
        "ALTER TABLE {t} SET TBLPROPERTIES ('write.coming.catalog' = 'own')",
        # Iceberg writes its files by a Hadoop configuration that has all properties of the table.
        "CREATE TABLE ice.own.taken (a INT) TBLPROPERTIES ('fs.s3a.endpoint' = 'http://127.0.0.1:9')",
        "CREATE TABLE ice.own.taken USING iceberg TBLPROPERTIES ('fs.file.impl.disable.cache' = 'true') AS SELECT 1 a",
        "ALTER TABLE {t} SET TBLPROPERTIES ('google.cloud.auth.type' = 'own')",
        "SET `spark.sql.catalog.ice.table-default.write.location-provider.impl` = com.acme.Own",
    ),
}
TABLES = {"delta": "rows", "ice": "ice.own.rows"}


@pytest.fixture(scope="module")
def server(harness_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Path]]:
    """A session of eve's."""
    from pyspark.sql.connect.session import SparkSession

    folder = tmp_path_factory.mktemp("lakes").resolve()
    (folder / "lake").mkdir()
    jars = released(harness_run)
    rules = json.loads(json.dumps(dict(read(ROOT / "conf" / "policies" / "shared-server.json").data)))
    rules["sources"].append({"type": "allow", "source": ["delta", "iceberg"]})
    rules["statements"].append(
        {"type": "allow", "statement": ["call-*", "clone-table*", "create-delta-table*"]}
    )
    rules["paths"].append({"type": "allow", "path": f"file:{folder}/lake/*"})
    operators = {
        "spark.sql.extensions": f"{DELTA},{ICEBERG}",
        "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        "spark.databricks.delta.snapshotPartitions": "1",
        "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
        "spark.sql.catalog.ice.type": "hadoop",
        "spark.sql.catalog.ice.warehouse": f"{folder}/lake/ice",
    }
    confs = {
        "spark.connect.grpc.binding.port": "0",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.sql.catalogImplementation": "in-memory",
    }
    site = Site(harness_run, folder, rules, **operators)
    main_class = "org.apache.spark.sql.connect.service.SparkConnectServer"
    program: list[str | Path] = ["spark-submit", "--class", main_class, "spark-internal"]
    child = site.start("connect", program, env={"SPARK_DIST_CLASSPATH": ":".join(map(str, jars))}, **confs)
    port = child.wait_for(r"Spark Connect server started at: \S*?:(\d+)", timeout=240)[1]
    session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}/;user_id=eve").create()
    yield session, folder
    session.stop()
    child.stop()


@pytest.mark.parametrize("kind", TABLES)
def test_what_works_and_what_is_refused(server: tuple[Any, Path], kind: str) -> None:
    session, folder = server
    names = {"t": TABLES[kind], "lake": folder / "lake", "outside": folder / "outside"}
    found = {}
    source = {"delta": "delta", "ice": "iceberg"}[kind]
    for text, by_place in {
        "load": lambda path: session.read.format(source).load(path).collect(),
        "option": lambda path: session.read.format(source).option("path", path).load().collect(),
        "save": lambda path: session.range(3).write.format(source).save(path),
        "stream": lambda path: session.readStream.format(source).load(path).isStreaming,
        "sink": lambda path: (
            session.readStream.format("rate")
            .load()
            .writeStream.format(source)
            .option("checkpointLocation", f"{folder}/lake/state")
            .start(path)
        ),
    }.items():
        problem = attempt(by_place, f"{folder}/lake/own")
        if "place-of-library" not in str(problem):
            found[text] = problem
    if kind == "delta":
        lake = f"{folder}/lake/option"
        key = "delta.coordinatedCommits.commitCoordinator-preview"
        for write in (
            lambda path: (
                session.range(1).write.format("delta").option(key, "dynamodb").saveAsTable("o", path=path)
            ),
            lambda _: session.range(1).writeTo("o").using("delta").tableProperty(key, "dynamodb").create(),
        ):
            assert f"  - {key.lower()}: " in str(attempt(write, lake)).lower()
        session.range(1).write.format("delta").option("delta.appendOnly", "true").saveAsTable(
            "written", path=lake
        )
    for texts, expected in ((WORKS[kind], False), (REFUSED[kind], True)):
        for text in texts:
            problem = attempt(lambda filled: session.sql(filled).collect(), text.format_map(names))
            is_refused = problem is not None and not problem.startswith("NOT BY POLICY")
            if is_refused != expected or (problem and not expected):
                found[text] = problem
    assert not found, "\n".join(f"{text} -> {problem}" for text, problem in found.items())


@pytest.mark.parametrize(
    ("form", "key", "value"),
    [
        ("orc", "orc.write.format", "${env.HOME}"),
        ("parquet", "write.parquet.compression-level", "${env.HOME}"),
        ("avro", "write.location-provider.impl", "com.acme.Own"),
        ("cached", "fs.file.impl.disable.cache", "true"),
        ("crypto", "parquet.crypto.factory.class", "com.acme.Own"),
    ],
)
def test_what_a_forged_table_has_hadoop_expand_or_load_is_refused(
    server: tuple[Any, Path], form: str, key: str, value: str
) -> None:
    session, folder = server
    session.sql(f"CREATE TABLE ice.own.{form} (id BIGINT) USING iceberg").collect()
    tables = folder / "lake" / "ice" / "own"
    shutil.copytree(tables / form, tables / f"forged_{form}")
    (file,) = (tables / f"forged_{form}" / "metadata").glob("v*.metadata.json")
    metadata = json.loads(file.read_text())
    metadata["properties"] |= {key: value}
    if form in ("orc", "avro"):
        metadata["properties"]["write.format.default"] = form
    file.write_text(json.dumps(metadata))
    (file.parent / f".{file.name}.crc").unlink(missing_ok=True)
    problem = attempt(
        lambda text: session.sql(text).collect(), f"INSERT INTO ice.own.forged_{form} VALUES (1)"
    )
    assert key in str(problem)
    assert "NOT BY POLICY" not in str(problem)
