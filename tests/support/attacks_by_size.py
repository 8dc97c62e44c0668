"""Numbers and sizes that keep others waiting, for :mod:`support.attacks`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

#: With more partitions than the policy lets shuffles have.
_MANY = "range(0, 10, 1, 3000)"

#: What a literal holds is parsed again, as a type. Escapes hide it from who looks at the statement's text.
_COMMENTS = r"\u002f\u002a" * 201
_TYPES = "a " + "array\\u003c" * 201 + "int" + "\\u003e" * 201
_SCHEMA = (
    '{{"type":"struct","fields":[{{"name":"a","type":"string","nullable":true,"metadata":'
    + '{{"__CHAR_VARCHAR_TYPE_STRING":"%s"}}}}]}}' % (r"\\u002f\\u002a" * 201)
)
_DEEP = "a " + "array<" * 201 + "int" + ">" * 201

#: Of which two make 160,000, joined without a condition that could be looked up.
_SOME = "range(0, 10, 1, 400)"

#: More keys, and longer ones, than any table has.
_KEYS = ", ".join(f"'k{number}' = 'v'" for number in range(1001))
_LONG = "k" * 1001

#: What Spark computes before a plan runs, and writes down in full; a number besides keeps the rest of it.
_COMPUTED = (
    "repeat('x', 2000000)",
    "lpad('x', 2000000, 'y')",
    "space(2000000)",
    "array_repeat('x', 700000)",
    "concat(repeat('x', 600000), repeat('y', 600000))",
    "format_string('%2000000s', 'x')",
    "from_json('[]', concat('array<struct<', repeat('a', 2000000), ':int>>'))",
)

_SERDE = "org.apache.hadoop.hive.serde2.avro.AvroSerDe"

SQL_BY_SIZE: Mapping[str, Sequence[str]] = {
    "keep the driver busy with partitions": [
        f"SELECT count(*) FROM {_MANY}",
        "SET spark.sql.adaptive.coalescePartitions.initialPartitionNum = 3000",
        "SELECT * FROM range(0, 10, 1, 2001)",
        *(
            f"SELECT /*+ {hint} */ id FROM range(9)"
            for hint in (
                "REPARTITION(3000)",
                "REPARTITION(3000, id)",
                "REPARTITION_BY_RANGE(3000, id)",
                "REBALANCE(3000, id)",
                "COALESCE(3000)",
            )
        ),
        f"SELECT * FROM range(3) WHERE id IN (SELECT id FROM {_MANY})",
        f"WITH t AS (SELECT * FROM {_MANY}) SELECT (SELECT max(id) FROM t)",
        f"CREATE TEMPORARY VIEW peek AS SELECT * FROM {_MANY}",
        f"CREATE TABLE peek USING parquet AS SELECT * FROM {_MANY}",
        f"CACHE TABLE peek AS SELECT * FROM {_MANY}",
        "CREATE TABLE peek (a INT) USING parquet CLUSTERED BY (a) INTO 3000 BUCKETS",
        "CREATE TABLE peek USING parquet CLUSTERED BY (a) INTO 100000 BUCKETS AS SELECT 1 AS a",
        f"INSERT INTO kept SELECT id FROM {_MANY}",
        (
            "CREATE TEMPORARY VIEW peek USING jdbc OPTIONS (sparkconfig.connection 'shop', dbtable 'own_ids', "
            "partitionColumn 'ID', lowerBound '0', upperBound '99999999', numPartitions '3000')"
        ),
    ],
    "keep Spark's parser busy with types": [
        f"SELECT from_json('{{{{}}}}', '{_COMMENTS}')",
        f"SELECT from_json('{{{{}}}}', '{_TYPES}')",
        f"SELECT from_csv('1', '{_TYPES}')",
        f"SELECT from_xml('<a/>', '{_COMMENTS}')",
        f"SELECT variant_get(parse_json('{{{{}}}}'), '$', '{_COMMENTS}')",
        f"SELECT from_json('{{{{}}}}', '{_SCHEMA}')",
        f"SELECT from_json('{{{{}}}}', '/*/*' '{_COMMENTS}')",
        f"CREATE TEMPORARY VIEW peek USING jdbc OPTIONS (sparkconfig.connection 'shop', customSchema '{_COMMENTS}')",
        f"CREATE TABLE peek (a INT) USING csv TBLPROPERTIES ('a' = '{_COMMENTS}')",
        f"EXECUTE IMMEDIATE 'SELECT from_json(''{{{{}}}}'', ''{_COMMENTS}'')'",
    ],
    "keep the driver busy with adding partitions": [
        f"SELECT /*+ SHUFFLE_REPLICATE_NL(a, b) */ count(*) FROM {_SOME} a JOIN {_SOME} b ON a.id < b.id",
        f"SELECT /*+ SHUFFLE_REPLICATE_NL(a, b, c) */ 1 FROM {_SOME} a CROSS JOIN {_SOME} b CROSS JOIN {_SOME} c",
        f"WITH t AS (SELECT id FROM {_SOME}) SELECT /*+ SHUFFLE_REPLICATE_NL(a, t) */ count(*) FROM t a JOIN t",
        (
            "SELECT /*+ SHUFFLE_REPLICATE_NL(a, b) */ 1 FROM (SELECT /*+ REPARTITION(400) */ id FROM range(9)) a "
            "JOIN (SELECT /*+ REPARTITION(400) */ id FROM range(9)) b"
        ),
        " UNION ALL ".join(["SELECT id FROM range(0, 10, 1, 2000)"] * 60),
        f"INSERT INTO kept SELECT /*+ SHUFFLE_REPLICATE_NL(a, b) */ a.id FROM {_SOME} a JOIN {_SOME} b",
        f"CREATE TABLE peek AS SELECT /*+ SHUFFLE_REPLICATE_NL(a, b) */ a.id FROM {_SOME} a JOIN {_SOME} b",
    ],
    "have Hive make types that grow by powers": [
        "CREATE TABLE peek (a INT) STORED AS AVRO TBLPROPERTIES ('avro.schema.literal' = '\"int\"')",
        "CREATE TABLE peek (a INT) STORED AS AVRO TBLPROPERTIES ('AVRO.schema.literal' = '\"int\"')",
        f"CREATE TABLE peek (a INT) ROW FORMAT SERDE '{_SERDE}' WITH SERDEPROPERTIES ('avro.schema.literal' = 'x')",
        "ALTER TABLE kept SET TBLPROPERTIES ('avro.schema.literal' = '\"int\"')",
        "ALTER TABLE kept SET SERDEPROPERTIES ('avro.schema.literal' = '\"int\"')",
        "CREATE TABLE peek LIKE kept STORED AS AVRO TBLPROPERTIES ('avro.schema.literal' = '\"int\"')",
    ],
    "have Spark write down what it has computed": [
        *(f"SELECT struct(id, {each}) AS a FROM range(3)" for each in _COMPUTED),
        "SELECT * FROM range(3) WHERE concat(id, repeat('x', 2000000)) > 'y'",
        "SELECT id FROM range(3) ORDER BY concat(id, repeat('x', 2000000))",
        "SELECT a.id FROM range(3) a JOIN range(3) b ON concat(a.id, b.id, repeat('x', 2000000)) = 'y'",
        "SELECT named_struct(repeat('x', 2000000), id) AS a FROM range(3)",
        "WITH a AS (SELECT repeat('x', 2000000) x) SELECT concat(id, (SELECT x FROM a)) AS b FROM range(3)",
        "CREATE TABLE peek USING csv AS SELECT concat(id, repeat('x', 2000000)) AS a FROM range(3)",
        "CACHE TABLE peek AS SELECT concat(id, repeat('x', 2000000)) AS a FROM range(3)",
    ],
    "keep others waiting with options and properties": [
        f"CREATE TABLE peek (a INT) USING csv TBLPROPERTIES ({_KEYS})",
        f"CREATE TABLE peek (a INT) USING csv OPTIONS ({_KEYS})",
        f"CREATE TABLE peek (a INT) USING csv TBLPROPERTIES ('{_LONG}' = 'v')",
        f"CREATE TABLE peek USING csv TBLPROPERTIES ({_KEYS}) AS SELECT 1 AS a",
        f"CREATE TABLE peek LIKE kept TBLPROPERTIES ({_KEYS})",
        f"ALTER TABLE kept SET TBLPROPERTIES ({_KEYS})",
        f"ALTER TABLE kept SET TBLPROPERTIES ('{_LONG}' = 'v')",
        f"ALTER TABLE kept SET SERDEPROPERTIES ({_KEYS})",
        f"CREATE VIEW peek TBLPROPERTIES ({_KEYS}) AS SELECT 1 AS a",
        f"CREATE DATABASE peek WITH DBPROPERTIES ({_KEYS})",
        f"CREATE TEMPORARY VIEW peek USING csv OPTIONS (path '{{lake}}', '{_LONG}' 'v')",
        f"SELECT to_json(named_struct('a', 1), map('{_LONG}', 'v'))",
        f"SELECT from_csv('1', 'a INT', map({_KEYS.replace('=', ',')}))",
        f"INSERT OVERWRITE DIRECTORY '{{lake}}/peek' USING csv OPTIONS ('{_LONG}' 'v') SELECT 1",
    ],
}

CONNECT_BY_SIZE: Mapping[str, Sequence[str]] = {
    "keep the driver busy with partitions": [
        "spark.range(0, 10, 1, 3000).count()",
        "spark.range(9).repartition(3000).count()",
        "spark.range(9).repartition(3000, 'id').count()",
        "spark.range(9).repartitionByRange(3000, 'id').count()",
        "spark.range(9).hint('rebalance', 3000).count()",
        "spark.range(9).hint('repartition', 3000, 'id').count()",
        "spark.range(9).coalesce(3000).count()",
        "spark.range(9).write.bucketBy(3000, 'id').saveAsTable('peek')",
        "spark.range(0, 10, 1, 3000).createOrReplaceTempView('peek')",
        "spark.range(0, 10, 1, 3000).write.mode('overwrite').parquet('{lake}/dataframe')",
        (
            "spark.read.format('jdbc').options(**look, dbtable='sysibm.sysdummy1', partitionColumn='a', lowerBound=0, "
            "upperBound=99999999, numPartitions=3000).load().schema"
        ),
        "spark.readStream.format('rate').option('numPartitions', 3000).load().isStreaming",
    ],
    "keep Spark's parser busy with types": [
        f"spark.range(1).select(F.from_json(F.lit('{{{{}}}}'), '{_DEEP}')).collect()",
        f"spark.range(1).select(F.from_csv(F.lit('1'), '{_DEEP}')).collect()",
        f"spark.range(1).select(F.lit('1').cast('{_DEEP}')).collect()",
        f"spark.read.schema('{_DEEP}').csv('{{lake}}').collect()",
        f"spark.read.format('jdbc').options(**look, dbtable='own_ids', customSchema='{_DEEP}').load().schema",
        f"spark.range(1).select(F.expr(r\"from_json('', '{_COMMENTS}')\")).collect()",
    ],
    "keep the driver busy with adding partitions": [
        *(
            f"spark.range(0, 9, 1, 400){more}.hint('shuffle_replicate_nl').join(spark.range(0, 9, 1, 400)).count()"
            for more in ("", ".cache()", ".repartition(400)", ".localCheckpoint()", ".union(spark.range(9))")
        ),
    ],
    "keep others waiting with options and properties": [
        "sent('ExecutePlan', tags=['peek'] * 101)",
        f"spark.read.option('{_LONG}', 'v').csv('{{lake}}').collect()",
        "spark.read.options(**{{f'k{{n}}': 'v' for n in range(1001)}}).csv('{lake}').collect()",
        f"spark.readStream.schema('a INT').option('{_LONG}', 'v').csv('{{lake}}').isStreaming",
        f"spark.range(3).write.option('{_LONG}', 'v').csv('{{lake}}/peek')",
        f"spark.range(3).writeTo('peek').using('csv').tableProperty('{_LONG}', 'v').create()",
        f"spark.range(3).select(F.to_json(F.struct('id'), {{{{'{_LONG}': 'v'}}}})).collect()",
        f"rate.writeStream.format('memory').queryName('peek').option('{_LONG}', 'v').start()",
        f"spark.catalog.createTable('peek', source='csv', schema=DEFAULT, **{{{{'{_LONG}': 'v'}}}})",
    ],
}
