"""Files in the less usual places of a statement, for :mod:`support.attacks`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_XSD = "SELECT from_xml('<a/>', 'a INT', map({}))"

#: A type that names a class of the server.
_UDT = '{{"type":"udt","class":"com.acme.Own","pyClass":null,"sqlType":"string"}}'
_ROW = (
    f'{{{{"type":"struct","fields":[{{{{"name":"a","type":{_UDT},"nullable":true,"metadata":{{{{}}}}}}}}]}}}}'
)


def _schema(sql: str, key: str = "EXISTS_DEFAULT") -> str:
    """A row's type as JSON, with SQL as the default of its column."""
    field = f'{{{{"name":"a","type":"string","nullable":true,"metadata":{{{{"{key}":"{sql}"}}}}}}}}'
    return f'{{{{"type":"struct","fields":[{field}]}}}}'


_CALL = "java_method(\\'java.lang.System\\', \\'getenv\\', \\'HOME\\')"
_SOME = _schema("upper(current_database())")


#: What ends a comment in the Java code that Spark generates, or is read as that by its compiler, and what follows then.
ENDS = ("*/", "\\u002a/", "*\\u002F", "\\uuu002a\\u002f")
_READS = (
    "throw new RuntimeException(new String(java.nio.file.Files.readAllBytes("
    'java.nio.file.Paths.get("{bait}", new String[0]))));'
)


def coded(end: str = "*/") -> str:
    """The name of a lambda's parameter that is code, after what ends the comment in which it stands."""
    return f"{end}).set(null); if (true) {_READS} (new java.util.concurrent.atomic.AtomicReference() /*"


#: A unit of timestampadd that is code.
UNIT = 'DAY" + new String(java.nio.file.Files.readAllBytes(java.nio.file.Paths.get("{bait}", new String[0]))) + "'


def _look(options: str) -> str:
    """A view through a connection that is for reading."""
    return (
        f"CREATE OR REPLACE TEMPORARY VIEW peek USING jdbc OPTIONS (sparkconfig.connection 'look', {options})"
    )


IN_SQL: Mapping[str, Sequence[str]] = {
    "run Java by a name": [
        *(f"SELECT transform(array(id), `{coded(end)}` -> id) FROM range(3)" for end in ENDS),
        f"SELECT transform(array(id), (`{coded()}`, i) -> id) FROM range(3)",
        f"SELECT transform(array(id), (x, `{coded()}`) -> id) FROM range(3)",
        f"SELECT filter(array(id), `{coded()}` -> id > 1) FROM range(3)",
        f"SELECT exists(array(id), `{coded()}` -> id > 1), forall(array(id), x -> id > 1) FROM range(3)",
        f"SELECT aggregate(array(id), 0L, (`{coded()}`, x) -> x) FROM range(3)",
        f"SELECT aggregate(array(id), 0L, (x, y) -> x, `{coded()}` -> id) FROM range(3)",
        f"SELECT zip_with(array(id), array(id), (`{coded()}`, y) -> id) FROM range(3)",
        f"SELECT count(*) FROM range(3) WHERE exists(array(id), `{coded()}` -> id > 1)",
        f"CREATE TEMPORARY VIEW peek AS SELECT transform(array(id), `{coded()}` -> id) AS a FROM range(3)",
        f"CREATE VIEW peek AS SELECT transform(array(id), `{coded()}` -> id) AS a FROM range(3)",
        f"INSERT INTO kept SELECT size(transform(array(id), `{coded()}` -> id)) FROM range(3)",
        f"CACHE TABLE peek AS SELECT transform(array(id), `{coded()}` -> id) AS a FROM range(3)",
        f"DESCRIBE QUERY SELECT transform(array(id), `{coded()}` -> id) FROM range(3)",
        f"SELECT (SELECT max(size(transform(array(id), `{coded()}` -> id))) FROM range(3))",
    ],
    "load a class by the text of a type": [
        f"SELECT from_json('x', '{_ROW}')",
        f"SELECT FROM_JSON('x', '{_UDT}')",
        f"SELECT from_csv('x', '{_ROW}')",
        f"SELECT from_xml('x', '{_ROW}')",
        f"SELECT from_json('x', concat('{_ROW[:40]}', '{_ROW[40:]}'))",
        "SELECT from_json('x', '" + _ROW.replace("udt", "u' || 'dt") + "')",
        "SELECT from_json('x', '" + _ROW.replace("udt", "\\\\u0075dt") + "')",
        "SELECT from_json('x', unbase64('e30='))",
        f"SELECT IDENTIFIER('from_json')('x', trim('{_ROW}'))",
        f"SELECT variant_get(parse_json('1'), '$', '{_UDT}')",
        f"CREATE TEMPORARY VIEW peek AS SELECT from_json('x', '{_ROW}') AS a",
        "SELECT transform(array('a INT'), s -> from_json('x', s))",
    ],
    "have SQL evaluated by the metadata of a schema": [
        f"SELECT from_json('{{{{}}}}', '{_schema(_CALL)}')",
        f"SELECT from_json('{{{{}}}}', '{_SOME}')",
        f"SELECT from_json('{{{{}}}}', '{_schema('upper(current_database())', 'CURRENT_DEFAULT')}')",
        f"SELECT from_json('{{{{}}}}', '{_schema('(SELECT max(value) FROM text.`{bait}`)')}')",
        f"SELECT from_csv('', '{_SOME}')",
        f"SELECT from_xml('<a/>', '{_SOME}')",
        "SELECT from_json('x', '" + _SOME.replace("EXISTS", "EXI\\\\u0053TS") + "')",
        "SELECT from_json('x', '" + _SOME.replace('"EXISTS', '"EXISTS_DEFAULT":"1","EXISTS') + "')",
        f"SELECT from_json('x', '{{{{\"type\":\"array\",\"elementType\":{_SOME},\"containsNull\":true}}}}')",
        f"SELECT * FROM VALUES (from_json('{{{{}}}}', '{_SOME}'))",
        f"CREATE TEMPORARY VIEW peek AS SELECT from_json('{{{{}}}}', '{_SOME}') AS a",
        f"SELECT IDENTIFIER('from_json')('{{{{}}}}', '{_SOME}')",
        "CREATE TABLE peek (a STRING DEFAULT upper(current_database())) USING parquet",
        "CREATE TABLE peek (a STRING DEFAULT from_xml('<a/>', 'a STRING', map('mode', 'FAILFAST')).a) USING parquet",
        "ALTER TABLE kept ADD COLUMNS (b STRING DEFAULT upper(current_database()))",
        "ALTER TABLE kept ALTER COLUMN id SET DEFAULT length(current_database())",
        # Written by the tests as a user's job would: the footer of a file in the lake.
        "SELECT * FROM parquet.`{lake}/footer`",
        "INSERT INTO footed (id) VALUES (1)",
        "INSERT INTO default.footed (id) SELECT id FROM range(1)",
        "INSERT INTO footed VALUES (1, DEFAULT)",
        "INSERT OVERWRITE footed (id) VALUES (1)",
        "FROM range(1) INSERT INTO footed (id) SELECT id",
        "INSERT INTO spark_catalog.default.footed (id) VALUES (1)",
    ],
    "read through a link in the lake": [
        "SELECT * FROM text.`{lake}/linked`",
        "SELECT * FROM csv.`file:{lake}/linked`",
        "SELECT input_file_name(), value FROM text.`{lake}/linked/l*`",
        "SELECT * FROM json.`{lake}/linked`",
        "SELECT * FROM text.`{lake}/linked_days`",
        "CREATE TABLE peek USING csv LOCATION '{lake}/linked'",
        "CREATE TABLE peek USING text LOCATION '{lake}/linked_days'",
        "CREATE TEMPORARY VIEW peek USING csv OPTIONS (path '{lake}/linked', inferSchema 'true')",
        "INSERT INTO kept SELECT length(value) FROM text.`{lake}/linked`",
        "CACHE TABLE peek AS SELECT * FROM text.`{lake}/linked`",
        "SELECT * FROM linked_table",
    ],
    # Spark compares names of sources as equalsIgnoreCase does: a dotless i is an i to it.
    "spell a source with other letters": [
        "SELECT * FROM `b\u0131naryFile`.`{lake}/other/keys.txt`",
        "SELECT * FROM `b\u0131naryF\u0131le`.`file:{lake}`",
        "SELECT * FROM `l\u0131b\u017fvm`.`{lake}`",
        "SELECT * FROM `c\u017fv`.job",
        "SELECT * FROM `j\u017fon`.`{bait}`",
        "SELECT count(*) FROM IDENTIFIER('`b\u0131naryFile`.`{lake}/other`')",
        "CREATE TEMPORARY VIEW peek USING `b\u0130naryfile` OPTIONS (path '{lake}')",
        "CREATE TABLE peek USING `b\u0131naryfile` LOCATION '{lake}'",
        "INSERT OVERWRITE DIRECTORY '{lake}/x' USING `l\u0131b\u017fvm` SELECT 1",
    ],
    "give a view Spark's own properties": [
        f"CREATE VIEW peek TBLPROPERTIES ('{name}' = '{text}') AS SELECT 1 AS a"
        for name, text in (
            ("view.subType", "METRIC_VIEW"),
            ("VIEW.subType", "METRIC_VIEW"),
            ("view.sqlConfig.spark.sql.extensions", "com.acme.Own"),
            ("view.referredTempViewNames", "[]"),
            ("spark.sql.sources.schema", "{{}}"),
        )
    ]
    + ["CREATE OR REPLACE VIEW peek TBLPROPERTIES ('view.subType' = 'METRIC_VIEW') AS SELECT 1 AS a"],
    "have a column's name expanded": [
        text.replace("NAME", name)
        for name in ("\\u0024{{env.HOME}}", "\\u0024{{fs.defaultFS}}")
        for text in (
            "CREATE TABLE peek USING parquet LOCATION '{lake}/named' AS SELECT named_struct('NAME', 1) AS s",
            "CREATE TABLE peek USING orc LOCATION '{lake}/named' AS SELECT array(named_struct('NAME', 1)) AS s",
            "INSERT OVERWRITE DIRECTORY '{lake}/named' USING parquet SELECT map('a', named_struct('NAME', 1)) AS s",
            "CREATE TABLE peek (a INT COMMENT 'NAME') USING parquet LOCATION '{lake}/named'",
            "CREATE TABLE peek (a STRUCT<b: INT COMMENT 'NAME'>) USING parquet LOCATION '{lake}/named'",
            (
                "CREATE TABLE peek USING parquet LOCATION '{lake}/named' AS "
                "SELECT * FROM (SELECT 'NAME' AS k, 1 AS v) PIVOT (max(v) FOR k IN ('NAME'))"
            ),
        )
    ]
    + ["CREATE TABLE peek USING parquet LOCATION '{lake}/named' AS SELECT 1 AS `$${{z}}{{env.HOME}}`"],
    "call one's own function like a built-in one": [
        "SELECT from_csv('1', 'a INT', session.map('mode', 'FAILFAST'))",
        "SELECT to_json(named_struct('a', 1), default.map('a', 'b'))",
        "SELECT from_json('{{}}', session.schema_of_json('{{}}'))",
        "SELECT from_xml('<a/>', default.schema_of_xml('<a/>'))",
        "SELECT schema_of_csv('1', session.map('mode', 'FAILFAST'))",
    ],
    "name a relation by a text": [
        "SELECT * FROM IDENTIFIER('binaryFile.`{lake}/other`')",
        "SELECT * FROM IDENTIFIER('binary' || 'File.`{lake}/other`')",
        "WITH a AS (SELECT * FROM IDENTIFIER('binaryFile.`{lake}/other`')) SELECT * FROM a",
        "SELECT (SELECT count(*) FROM IDENTIFIER('binaryFile.`{lake}/other`'))",
        "TABLE IDENTIFIER('binaryFile.`{lake}/other`')",
        "CREATE TEMPORARY VIEW peek AS SELECT * FROM IDENTIFIER('binaryFile.`{lake}/other`')",
        "CREATE TABLE peek USING csv AS SELECT * FROM IDENTIFIER('text.`{bait}`')",
        "CACHE TABLE peek AS SELECT * FROM IDENTIFIER('binaryFile.`{lake}/other`')",
    ],
    "fetch a schema from somewhere else": [
        "CREATE TABLE peek (a INT) USING avro TBLPROPERTIES ('avro.schema.url' = 'file:{bait}')",
        "CREATE TABLE peek (a INT) STORED AS AVRO TBLPROPERTIES ('avro.schema.url' = '{bait}')",
        "CREATE TABLE peek (a INT) STORED AS AVRO TBLPROPERTIES ('avro.schema.url' = 'http://evil.example/a')",
        "CREATE TABLE peek (a INT) STORED AS AVRO TBLPROPERTIES ('AVRO.SCHEMA.URL' = 'file:{bait}')",
        "ALTER TABLE kept SET TBLPROPERTIES ('avro.schema.url' = 'file:{bait}')",
        "ALTER TABLE kept SET SERDEPROPERTIES ('avro.schema.url' = 'file:{bait}')",
    ],
    "read the server's confs as data": [
        "SELECT '$" + "{{spark.app.id}}'",
        "SELECT '$" + "{{spark:spark.driver.host}}'",
        "SELECT '$" + "{{sparkconf:spark.app.name}}'",
        "SELECT '$" + "{{hiveconf:spark.app.name}}'",
        "VALUES ('$" + "{{spark.driver.port}}')",
    ],
    "guess a server's conf": [
        "SET spark.acme.region=eu-west",
        "SET `spark.acme.region`=`eu-west`",
        "SET spark.acme.wait=300s",
        "SET spark.acme.wait=5m",
        "SET hive.exec.scratchdir={folder}/{server}/scratch",
        "SET spark.hadoop.hive.exec.scratchdir={folder}/{server}/scratch",
        "SET spark.sql.catalog.hidden_catalog.sparkconfig.connection=hidden",
        "SET spark.sql.catalog.bobs_catalog.sparkconfig.connection=bobs",
        "SET spark.config.connections.hidden.format=jdbc",
        "CREATE TEMPORARY VIEW peek USING csv OPTIONS (path '{lake}', 'fs.s3a.acme.region' 'eu-west')",
        "SELECT * FROM csv.`{lake}` WITH ('fs.s3a.acme.region' = 'eu-west')",
        "CREATE TABLE peek (a INT) USING csv OPTIONS ('fs.s3a.acme.region' 'eu-west')",
    ],
    "write where one may only read": [
        _look("query 'DELETE FROM a'"),
        _look("query 'VALUES 1'"),
        _look("dbtable '(DELETE FROM a RETURNING *) b'"),
        _look("DBTABLE ' (VALUES 1) a'"),
        _look("dbtable 'a b'"),
        _look("dbtable 'sysibm.sysdummy1; DELETE FROM a'"),
        _look("dbtable '\"a\\\\\".\"; DELETE FROM a --\"'"),
        _look("dbtable 'peek()'"),
        _look("dbtable 'sysibm.sysdummy1', hint '/*+ a */ 1 /* */'"),
        _look("query 'VALUES 1'").replace("TEMPORARY VIEW", "TABLE").replace("OR REPLACE ", ""),
        "SELECT * FROM connected WITH (query 'VALUES 1')",
        "SELECT * FROM connected WITH (`hint` '/*+ a */')",
        "ALTER TABLE connected SET SERDEPROPERTIES ('dbtable' = '(VALUES 1) a')",
    ],
    "have Hadoop read the environment, or the operator's confs": [
        "CREATE OR REPLACE TEMPORARY VIEW peek USING csv OPTIONS (path '{lake}', nullValue '\\044{{env.HOME}}')",
        "CREATE TEMPORARY VIEW peek USING text OPTIONS (path '{lake}', 'dfs.blocksize' '\\044{{fs.s3a.secret.key}}')",
        "CREATE TABLE peek (a INT) USING parquet OPTIONS ('parquet.block.size' '\\044{{user.home}}')",
        "CREATE TABLE peek (a INT) USING csv OPTIONS (sep '\\044{{k.\\044{{acme.password}}}}')",
        "CREATE TABLE peek (a INT) USING csv TBLPROPERTIES ('option.sep' = '\\044{{env.HOME:-x}}')",
        "SELECT * FROM csv.`{lake}` WITH (nullValue = '\\044{{env.HOME}}')",
    ],
    "read a file by an option of a function": [
        _XSD.format("'rowValidationXSDPath', '{bait}'"),
        _XSD.format("'rowValidationXSDPath', concat('{folder}', '/bait.txt')"),
        _XSD.format("'ROWVALIDATIONXSDPATH', '{lake}' || '/../bait.txt'"),
        _XSD.format("concat('rowValidation', 'XSDPath'), '{bait}'"),
        _XSD.format("'mode', 'FAILFAST', 'rowValidationXSDPath', (SELECT '{bait}')"),
        "SELECT schema_of_xml('<a/>', map('rowValidationXSDPath', trim('{bait}')))",
        "SELECT * FROM VALUES (from_xml('<a/>', 'a INT', map('rowValidationXSDPath', trim('{bait}'))))",
        "SELECT IDENTIFIER('from_xml')('<a/>', 'a INT', map('rowValidationXSDPath', trim('{bait}')))",
        "SELECT IDENTIFIER('from_' || 'xml')('<a/>', 'a INT', map(trim('rowValidationXSDPath'), '{bait}'))",
        "CREATE TEMPORARY VIEW peek AS " + _XSD.format("trim('rowValidationXSDPath'), '{bait}'"),
        "SELECT from_avro(X'00', '\"string\"', map('avroSchemaUrl', 'file:{bait}'))",
        "SELECT from_avro(X'00', '\"string\"', map('avroSchemaUrl', trim('{bait}')))",
        "SELECT from_protobuf(X'00', 'a', '{bait}')",
        "SELECT from_protobuf(X'00', 'a', trim('{bait}'), map('mode', 'PERMISSIVE'))",
        "SELECT to_protobuf(named_struct('a', 1), 'a', 'file:{bait}')",
        "SELECT from_protobuf(X'00', 'java.lang.Runtime'), to_protobuf(named_struct('a', 1), 'com.acme.Own')",
    ],
    "read the server's properties by XPath": [
        "SELECT xpath_string('<a/>', 'system-property(\"java.class.path\")')",
        "SELECT xpath_boolean('<a/>', 'starts-with( system-property (\"user.home\"), \"/\")')",
        "SELECT XPATH_NUMBER('<a/>', 'string-length(system-property(\"user.home\"))')",
        "SELECT xpath('<a/>', '*[system-property(\"user.home\") != \"\"]/text()')",
        "SELECT xpath_int('<a/>', 'string-length(concat(\"a(\", system-property(\"user.home\")))')",
        "SELECT xpath_string('<a/>', concat('system-', 'property(\"user.home\")'))",
        "SELECT xpath_string('<a/>', a) FROM VALUES ('system-property(\"user.home\")') t(a)",
        "SELECT IDENTIFIER('xpath_string')('<a/>', trim('system-property(\"user.home\")'))",
        "SELECT xpath_string('<a xmlns:b=\"c\"/>', 'b:system-property(\"user.home\")')",
        "CREATE TEMPORARY FUNCTION peek(p STRING) RETURNS STRING RETURN (xpath_string('<a/>', p))",
    ],
    "load a class by a property of a table": [
        f"CREATE TABLE peek {made} TBLPROPERTIES ('{key}' = 'com.acme.Own'){more}"
        for key in ("parquet.crypto.factory.class", "parquet.encryption.kms.client.class", "own.orc.key.provider")
        for made, more in (
            ("(a INT) STORED AS PARQUET", ""),
            ("STORED AS ORC", " AS SELECT 1 AS a"),
            ("LIKE kept", ""),
            ("(a INT) USING parquet", ""),
        )
    ]
    + ["ALTER TABLE kept SET TBLPROPERTIES ('parquet.crypto.factory.class' = 'com.acme.Own')"],
    "read a file in MERGE, UPDATE or DECLARE": [
        "MERGE INTO kept USING text.`{bait}` t ON id = length(t.value) WHEN NOT MATCHED THEN INSERT (id) VALUES (1)",
        "MERGE INTO kept USING (SELECT * FROM text.`file:{bait}`) t ON true WHEN MATCHED THEN DELETE",
        "UPDATE kept SET id = (SELECT count(*) FROM text.`{bait}`)",
        "DELETE FROM kept WHERE EXISTS (SELECT * FROM text.`{bait}`)",
        "INSERT INTO kept REPLACE WHERE id = 1 SELECT length(value) FROM text.`{bait}`",
        "INSERT OVERWRITE kept TABLE text.`{bait}`",
        "FROM text.`{bait}` INSERT INTO kept SELECT length(value)",
        "INSERT INTO text.`{folder}/out` SELECT 'a'",
        "TABLE text.`{bait}`",
        "SELECT * FROM text.`{bait}` TABLESAMPLE (1 ROWS)",
        "FROM text.`{bait}` |> SELECT value",
        "DECLARE OR REPLACE VARIABLE peek STRING DEFAULT (SELECT max(value) FROM text.`{bait}`)",
        "CREATE TEMPORARY FUNCTION peek() RETURNS STRING RETURN (SELECT max(value) FROM text.`{bait}`)",
    ],
    "have SQL evaluated by the name of a field": [
        "DESCRIBE TABLE fielded",
        "DESCRIBE TABLE EXTENDED fielded",
        "SHOW CREATE TABLE fielded",
        "SHOW COLUMNS IN fielded",
        "ANALYZE TABLE fielded COMPUTE STATISTICS",
        "ALTER TABLE fielded ADD COLUMNS (b INT)",
        "REFRESH TABLE fielded",
        "SELECT * FROM fielded",
        "INSERT INTO fielded (a) VALUES (1)",
        "TRUNCATE TABLE fielded",
    ],
    "keep Spark's parser busy": [
        f"SELECT {'/*' * 400}",
        f"SELECT 1 {'/* ' * 300}{'*/ ' * 300}",
        f"SELECT * FROM {'(' * 1000}range(1){')' * 1000}",
        f"SELECT {'abs( ' * 300}1{')' * 300}",
        f"SELECT cast('1' AS {'array<' * 3000}int{'>' * 3000})",
        f"SELECT cast('1' AS {'struct< a : ' * 400}int{' >' * 400})",
        f"CREATE TABLE peek (a {'map<int, ' * 300}int{'>' * 300}) USING parquet",
    ],
    "make or drop what is everybody's": [
        "CREATE GLOBAL TEMPORARY VIEW peek AS SELECT 1",
        "CREATE OR REPLACE GLOBAL TEMP VIEW peek AS SELECT 1",
        "CREATE GLOBAL TEMPORARY VIEW peek USING csv OPTIONS (path '{lake}')",
        "EXPLAIN CREATE GLOBAL TEMP VIEW peek AS SELECT 1",
    ],
    "leave a catalog by a name": [
        "SHOW TABLES IN shop_catalog.`../../ben`",
        "USE shop_catalog.`..`",
        "SELECT * FROM shop_catalog.`..`.`..`.ben.own",
        "TABLE shop_catalog.`{folder}`.own",
        "CREATE TABLE shop_catalog.`..`.peek (a INT)",
        "DROP TABLE shop_catalog.`..`.`..`.ben.own",
        "CREATE NAMESPACE shop_catalog.`{folder}/away`",
        "ALTER TABLE shop_catalog.APP.own RENAME TO APP.`../own`",
        "DESCRIBE NAMESPACE shop_catalog.`a%2fb`",
        "EXPLAIN DELETE FROM shop_catalog.`a/b`.own",
    ],
    "lead a procedure elsewhere": [
        f"CALL shop_catalog.system.register_table(table => 'a', metadata_file => {place})"
        for place in (
            "CAST(X'2f61' AS STRING)", "X'2f61'::STRING", "(SELECT '{bait}')", "array(X'2f61')[0]", "current_user",
            "CASE WHEN true THEN X'2f61' END", "'{bait}' COLLATE UTF8_BINARY", "spark_catalog.session.own",
        )
    ]
    + ["CALL shop_catalog.system.remove_orphan_files(table => 'a', location => IDENTIFIER('own'))"],
    "take a catalog of a connection apart": [
        "SELECT * FROM hidden_catalog.SYSIBM.SYSDUMMY1",
        "SHOW TABLES IN hidden_catalog.SYSIBM",
        "SHOW NAMESPACES IN hidden_catalog",
        "CREATE TABLE hidden_catalog.APP.peek (a INT)",
        "SELECT * FROM bobs_catalog.SYSIBM.SYSDUMMY1",
        "SELECT * FROM shop_catalog.SYSIBM.SYSDUMMY1 WITH (url 'jdbc:derby:memory:other;create=true')",
        "SELECT * FROM shop_catalog.SYSIBM.SYSDUMMY1 WITH (`PassWord` 'mine')",
        "SELECT * FROM shop_catalog.SYSIBM.SYSDUMMY1 WITH (driver 'com.acme.Own')",
        "SET spark.sql.catalog.shop_catalog.url=jdbc:derby:memory:other",
        "SET spark.sql.catalog.shop_catalog.sparkconfig.connection=hidden",
        "SET spark.sql.catalog.peek=org.apache.spark.sql.execution.datasources.v2.jdbc.JDBCTableCatalog",
    ],
}  # fmt: skip

_BOBS = "${{files:{folder}/users/bob/own.properties:line}}"

#: Tables of bob's, one through his connection, one with his reference.
LED: Sequence[str] = (
    "CREATE TABLE led USING jdbc OPTIONS (sparkconfig.connection 'bobs', dbtable 'sysibm.sysdummy1')",
    f"CREATE TABLE led_lines (a STRING) USING text OPTIONS (lineSep '{_BOBS}') LOCATION '{{lake}}/led'",
    "ALTER TABLE led SET SERDEPROPERTIES ('fetchsize' = '7')",
    "ALTER TABLE led_lines SET SERDEPROPERTIES ('wholetext' = 'true')",
)

#: What others try to do to the table led itself; some of it no table of JDBC takes from anybody.
DONE_TO_LED: Sequence[str] = (
    "INSERT INTO led VALUES ('a')",
    "INSERT INTO TABLE led (IBMREQD) SELECT 'a'",
    "INSERT OVERWRITE led SELECT 'a'",
    "INSERT OVERWRITE TABLE default.led VALUES ('a')",
    "FROM range(1) INSERT INTO led SELECT 'a'",
    "INSERT INTO spark_catalog.default.led TABLE led",
    "SELECT * FROM led",
    "TABLE led",
    "CACHE TABLE led",
    "CREATE TABLE peek USING parquet AS SELECT * FROM led",
)

#: What others try with these; the note is a mere text.
LEADING: Sequence[str] = (
    "ALTER TABLE led SET TBLPROPERTIES ('note' = 'a')",
    "ALTER TABLE led SET SERDEPROPERTIES ('dbtable' = '(VALUES 1) a')",
    "ALTER TABLE led SET SERDEPROPERTIES ('DBTABLE' = '(VALUES 1) a', 'fetchsize' = '7')",
    "ALTER TABLE led SET SERDEPROPERTIES ('sparkconfig.connection' = 'shop')",
    "ALTER TABLE led SET SERDEPROPERTIES ('url' = 'jdbc:derby:memory:shop;create=true')",
    "ALTER TABLE default.led SET SERDEPROPERTIES ('query' = 'VALUES 1')",
    "ALTER TABLE spark_catalog.default.led SET TBLPROPERTIES ('option.dbtable' = '(VALUES 1) a')",
    "ALTER TABLE led_lines SET SERDEPROPERTIES ('wholetext' = 'false')",
    "ALTER TABLE led_lines SET LOCATION '{lake}/other'",
)

#: What a log of a sink names is read by none of these.
LOGS: Sequence[str] = (
    # Before any rule sees the relation: the first line would be the names of columns, and an error would tell them.
    "SELECT * FROM csv.`{lake}/logged` JOIN range(1) USING (nothing)",
    "SELECT * FROM csv.`{lake}/logged` WITH (header = true, recursiveFileLookup = true) JOIN range(1) USING (a)",
    "SELECT * FROM json.`file:{lake}/logged` WITH (recursiveFileLookup = true) JOIN range(1) USING (a)",
    "CREATE TABLE peek USING csv OPTIONS (path '{lake}/logged', header 'true', recursiveFileLookup 'true')",
    "CREATE TABLE peek USING csv OPTIONS (header 'true', recursiveFileLookup 'true') LOCATION '{lake}/logged'",
    "CREATE TABLE peek USING json OPTIONS (recursiveFileLookup 'true') LOCATION '{lake}/./logged'",
    "CREATE TEMPORARY VIEW peek USING text OPTIONS (path '{lake}/logged', recursiveFileLookup true)",
    "CREATE TEMPORARY VIEW peek USING csv OPTIONS (path '{lake}/logged/', `RecursiveFileLookup` 'true')",
    "CREATE TEMPORARY VIEW peek USING json OPTIONS (path 'file:{lake}/logged', recursiveFileLookup 'true')",
    "SELECT * FROM text.`{lake}/logged` WITH (recursiveFileLookup = true)",
    "SELECT (SELECT max(value) FROM text.`{lake}/logged` WITH (recursiveFileLookup = 'TRUE'))",
    "SELECT * FROM logged_table",
)
