"""What honest users of a shared server do: all of it works as without policies.

tools/docs/generate.py makes a table of docs/shared-servers.md from these, and the tests send every one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from support.attacks import SHOP, named, view

CONNECT_HONEST: Sequence[str] = (
    "spark.createDataFrame([(1, 'a')], 'id int, name string').collect()",
    "spark.createDataFrame([], 'a string, b array<string>').collect()",
    "spark.createDataFrame([(None, []), ('', ['a', None])], 'a string, b array<string>').collect()",
    "spark.createDataFrame([({{}}, b''), ({{'a': ['b']}}, b'a')], 'c map<string, array<string>>, d binary').count()",
    "spark.createDataFrame([(n, 'x' * 900) for n in range(9000)], 'id int, name string').count()",
    "spark.range(5).withColumn('a', F.expr('id * 2')).groupBy('a').count().collect()",
    "spark.range(5).select(F.struct('id')).collect()",
    "spark.range(5).write.mode('overwrite').parquet('{lake}/dataframe')",
    "spark.range(5).selectExpr('id', 'id % 2 AS half').write.partitionBy('half').parquet('{lake}/halves')",
    "spark.read.parquet('{lake}/dataframe').count()",
    "spark.read.format('jdbc').options(**look, dbtable='sysibm.sysdummy1').load().count()",
    "spark.range(3).write.format('jdbc').options(**shop, dbtable='own_frame').save()",
    "spark.read.load(['{lake}/dataframe'], format='parquet').count()",
    "spark.range(5).write.mode('overwrite').saveAsTable('own_rows')",
    "spark.table('own_rows').count()",
    "spark.range(5).writeTo('own_more').using('parquet').create()",
    "spark.range(5).createOrReplaceTempView('own_seen')",
    "spark.range(5).filter(\"string(id) = '__HIVE_DEFAULT_PARTITION__'\").count()",
    "spark.range(0, 9, 1, 3).repartition(250, 'id').coalesce(2).count()",
    "spark.read.format('jdbc').options(**look, dbtable='sysibm.sysdummy1', numPartitions=2).load().count()",
    # The catalog holds tables that may not be read.
    "spark.catalog.listTables()",
    "spark.catalog.cacheTable('own_rows')",
    "spark.catalog.dropTempView('own_seen')",
    "spark.catalog.clearCache()",
    "rate.writeStream.format('memory').queryName('own_ticks').start().stop()",
    "spark.range(3).cache().count()",
    # With batches of their own, for which Spark sets confs of a session that it clones.
    (
        "rows.groupBy('id').count().writeStream.format('memory').queryName('own_counts').outputMode('complete')"
        ".trigger(availableNow=True).start().awaitTermination()"
    ),
    (
        "rows.writeStream.format('csv').queryName('own_files').option('checkpointLocation', '{folder}/state/own')"
        ".option('header', True).trigger(availableNow=True).start('{lake}/own_files').awaitTermination()"
    ),
)
"""What everybody does with DataFrames."""

HONEST: Mapping[str, Sequence[str]] = {
    "a database": [
        view(SHOP).replace("peek", "own_orders"),
        "SELECT count(*) FROM own_orders",
        "SELECT count(*) FROM bound",
    ],
    "a named connection": [
        named("dbtable 'sysibm.sysdummy1'").replace("peek", "own_named"),
        "SELECT count(*) FROM own_named",
        "SELECT count(*) FROM connected",
        "SELECT count(*) FROM shop_catalog.SYSIBM.SYSDUMMY1",
        named("dbtable 'own_ids'").replace("OR REPLACE TEMPORARY VIEW peek", "TABLE own_ids")
        + " AS SELECT 1L AS id",
        "INSERT INTO own_ids SELECT 4L",
        "SELECT assert_true(sum(id) = 5) FROM own_ids",
        "SHOW CREATE TABLE own_ids",
    ],
    "queries": [
        "SELECT 1",
        "SELECT count(*) FROM range(10) r JOIN range(5) s ON r.id = s.id",
        "WITH t AS (SELECT id % 3 AS k FROM range(9)) SELECT k, count(*) FROM t GROUP BY k",
        "SELECT transform(array(1, 2), x -> x + 1)",
        # Names that Java would misread: they are in no code.
        "SELECT regexp_replace(string(id), '\\\\d+', '\"*/ /*') FROM range(3)",
        'SELECT `a */ \\u002a/ "` + 1 FROM (SELECT id AS `a */ \\u002a/ "` FROM range(3))',
        "SELECT from_json(string(id), '`a */ \\\\ \"` INT') FROM range(3)",
        "SELECT named_struct('a */ \\\\ \"', id) AS s, dateadd(DAY, 1, now()) FROM range(3)",
        "SELECT transform(array(id), `größe in m` -> `größe in m` + id) FROM range(3)",
        "SELECT map('path', concat('a', 'b')), map(concat('a', 'b'), 1), from_csv('1', 'a INT', map('sep', ';'))",
        "SELECT xpath_string('<a><b>1</b></a>', 'a/b[position() = last()]/text()')",
        "SELECT count(*) FROM range(3) WHERE string(id) = '__HIVE_DEFAULT_PARTITION__'",
        "SELECT '{{MY_DEFAULT}}', from_csv('1', 'a INT', map('nullValue', '__HIVE_DEFAULT_PARTITION__'))",
        "SELECT regexp_like(string(id), '\\\\u00e9') FROM range(3)",
        "SELECT count(*) FROM (SELECT /*+ REPARTITION(250) */ * FROM range(0, 9, 1, 3))",
        "SELECT count(*) FROM range(9) a JOIN range(9) b ON a.id < b.id JOIN range(0, 9, 1, 3) c ON b.id <> c.id",
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
        "SHOW TABLE EXTENDED LIKE '*'",
        "CREATE TABLE own_copy USING parquet AS SELECT * FROM own_table",
        "ANALYZE TABLE own_copy COMPUTE STATISTICS",
        "CACHE TABLE own_copy",
        "UNCACHE TABLE own_copy",
        "CLEAR CACHE",
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
        "RESET",
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
