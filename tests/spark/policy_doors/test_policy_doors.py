"""Options, references, tables and Hadoop confs of a running application: refused, used as allowed, and audited."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from spark.policy_doors.policy import DEFAULTS, PARTITIONS, refused

pytestmark = pytest.mark.spark


class TestOptions:
    def test_reads(self, spark, application):
        path = str(application["folder"] / "numbers")
        spark.range(3).write.mode("overwrite").parquet(path)
        assert spark.read.option("tenant", "us").parquet(path).count() == 3
        refused(lambda: spark.read.option("TENANT", "them").parquet(path).count(), "TENANT")
        refused(lambda: spark.read.option("fetchsize", "101").format("csv").load(path).count(), "fetchsize")
        refused(lambda: spark.read.options(tenant="them").schema("id long").json(path).count(), "tenant")

    def test_readers_of_35_ask_before_the_source_sees_options(self, classic):
        """Where `load()` connects at once: the refusal comes before the driver, which does not exist, is looked for."""
        if classic.version >= "4":
            return
        reader = classic.read.format("jdbc").option("url", "jdbc:none:").option("dbtable", "t")
        refused(lambda: reader.option("tenant", "them").load(), "tenant")
        with pytest.raises(Py4JJavaError, match="No suitable driver"):
            reader.option("tenant", "us").load()

    def test_a_table_with_options(self, spark):
        spark.sql("DROP TABLE IF EXISTS plain")
        spark.sql("CREATE TABLE plain USING parquet AS SELECT 1 AS id")
        assert spark.read.option("tenant", "us").table("plain").count() == 1
        # 3.5 reuses for a table that it knows the options of the first reader.
        spark.catalog.refreshTable("plain")
        refused(lambda: spark.read.option("tenant", "them").table("plain").count(), "tenant")
        assert spark.table("plain").count() == 1

    def test_with_options_of_sql(self, spark):
        if spark.version < "4":
            return
        spark.sql("DROP TABLE IF EXISTS plain")
        spark.sql("CREATE TABLE plain USING parquet AS SELECT 1 AS id")
        assert spark.sql("SELECT * FROM plain WITH ('tenant' = 'us')").count() == 1
        refused(lambda: spark.sql("SELECT * FROM plain WITH ('tenant' = 'them')").count(), "tenant")
        refused(
            lambda: spark.sql("SELECT (SELECT max(id) FROM plain WITH ('tenant' = 'them'))").count(), "tenant"
        )

    def test_writes(self, spark, application):
        path = str(application["folder"] / "written")
        spark.range(3).write.option("tenant", "us").mode("overwrite").csv(path)
        refused(lambda: spark.range(9).write.option("tenant", "them").mode("overwrite").csv(path), "tenant")
        assert spark.read.csv(path).count() == 3
        refused(
            lambda: spark.sql(
                f"INSERT OVERWRITE DIRECTORY '{path}' USING csv OPTIONS (tenant 'them') SELECT 1"
            ),
            "tenant",
        )
        assert spark.read.csv(path).count() == 3
        refused(
            lambda: spark.range(9).write.option("tenant", "them").format("noop").mode("overwrite").save(),
            "tenant",
        )
        spark.range(9).write.option("tenant", "us").format("noop").mode("overwrite").save()

    def test_tables_and_views(self, spark, application):
        path = str(application["folder"] / "numbers")
        for name in ("t1", "t2"):
            spark.sql(f"DROP TABLE IF EXISTS {name}")
        refused(lambda: spark.sql("CREATE TABLE t1 (id int) USING parquet OPTIONS (tenant 'them')"), "tenant")
        refused(lambda: spark.sql("CREATE TABLE t1 USING csv OPTIONS (tenant 'them') AS SELECT 1"), "tenant")
        refused(
            lambda: spark.sql("CREATE TABLE t1 (id int) USING parquet TBLPROPERTIES (steward 'them')"),
            "steward",
        )
        spark.sql(
            "CREATE TABLE t1 (id int) USING parquet OPTIONS (tenant 'us') TBLPROPERTIES (steward 'me@shop')"
        )
        refused(lambda: spark.sql("ALTER TABLE t1 SET TBLPROPERTIES (steward 'them')"), "steward")
        refused(lambda: spark.sql("ALTER TABLE t1 SET SERDEPROPERTIES (tenant 'them')"), "tenant")
        refused(
            lambda: spark.sql(f"CREATE TEMPORARY VIEW v1 USING csv OPTIONS (path '{path}', tenant 'them')"),
            "tenant",
        )
        refused(lambda: spark.range(1).write.option("tenant", "them").saveAsTable("t2"), "tenant")
        refused(
            lambda: spark.range(1).writeTo("t2").using("parquet").option("tenant", "them").create(), "tenant"
        )
        refused(lambda: spark.catalog.createTable("t2", source="csv", path=path, tenant="them"), "tenant")

    def test_the_confs_that_a_view_keeps(self, spark):
        spark.sql("CREATE OR REPLACE VIEW kept AS SELECT 1 AS id")
        try:
            refused(
                lambda: spark.sql(
                    "ALTER VIEW kept SET TBLPROPERTIES ('view.sqlConfig.spark.sql.session.timeZone'='Asia/Tokyo')"
                ),
                "spark.sql.session.timeZone",
            )
            spark.sql("ALTER VIEW kept SET TBLPROPERTIES ('steward'='me@shop')")
            assert spark.table("kept").count() == 1
        finally:
            spark.sql("DROP VIEW kept")

    def test_references_in_options(self, spark, application):
        path = str(application["folder"] / "written")
        file = application["folder"] / "shop.properties"
        assert spark.read.option("nullValue", f"${{files:{file}:password}}").csv(path).count() == 3
        refused(lambda: spark.read.option("nullValue", f"${{files:{file}:admin}}").csv(path).count(), "admin")

    def test_streams(self, spark, application):
        rate = spark.readStream.format("rate")
        refused(lambda: rate.option("tenant", "them").load().printSchema(), "tenant")
        folder = application["folder"]
        spark.range(3).write.mode("overwrite").parquet(str(folder / "in"))
        source = spark.readStream.schema("id long").parquet(str(folder / "in"))
        writer = source.writeStream.format("parquet").option("checkpointLocation", f"{folder}/c-{id(spark)}")
        with pytest.raises(PySparkException, match="tenant"):
            writer.option("tenant", "them").start(f"{folder}/out-{id(spark)}")
        query = writer.option("tenant", "us").trigger(availableNow=True).start(f"{folder}/out-{id(spark)}")
        assert query.awaitTermination(120)
        assert query.exception() is None
        assert spark.read.parquet(f"{folder}/out-{id(spark)}").count() == 3

    def test_a_streaming_query_is_evaluated_as_streaming(self, spark, application):
        """What the application may set as what it is, a stream inside it may not."""
        folder = application["folder"]
        spark.range(3).write.mode("overwrite").parquet(str(folder / "in"))
        spark.conf.set("spark.shop.clock", "fast")
        source = spark.readStream.schema("id long").parquet(str(folder / "in"))
        out = f"{folder}/evaluated-{id(spark)}"
        writer = source.writeStream.format("parquet").option("checkpointLocation", f"{out}-c")
        try:
            with pytest.raises(PySparkException, match="not in streams"):
                writer.trigger(availableNow=True).start(out)
            assert spark.range(1).count() == 1
        finally:
            spark.conf.unset("spark.shop.clock")
        query = writer.trigger(availableNow=True).start(out)
        assert query.awaitTermination(120)
        assert spark.read.parquet(out).count() == 3

    def test_the_session_of_a_batch_function_is_not_a_way_round(self, classic, application):
        """Spark sets confs in the session of a stream; the user's function in it may not."""
        folder, ends = application["folder"], []
        classic.range(3).write.mode("overwrite").parquet(str(folder / "in"))

        def batch(frame, _number):
            for value in ("51", "11"):
                try:
                    frame.sparkSession.conf.set(PARTITIONS, value)
                    ends.append((value, "set"))
                except PySparkException as error:
                    ends.append((value, PARTITIONS in str(error)))
            ends.append(frame.count())

        writer = classic.readStream.schema("id long").parquet(str(folder / "in")).writeStream
        query = writer.foreachBatch(batch).trigger(availableNow=True).start()
        assert query.awaitTermination(120)
        assert query.exception() is None
        assert ends == [("51", True), ("11", "set"), 3]
        assert classic.conf.get(PARTITIONS) == "7"


class TestTables:
    @pytest.fixture(autouse=True)
    def _gone(self, spark):
        yield
        for name in ("shop_t", "prod_t"):
            spark.sql(f"DROP TABLE IF EXISTS {name}")

    @pytest.mark.parametrize(
        "statement",
        [
            "CREATE TABLE {} (id INT) USING parquet",
            "CREATE TABLE default.{} USING csv AS SELECT 1 AS id",
            "CREATE TABLE IF NOT EXISTS spark_catalog.default.{} (id INT) USING csv",
        ],
    )
    def test_sql(self, spark, statement):
        refused(lambda: spark.sql(statement.format("prod_t")), "prod_t", "use another name")
        spark.sql(statement.format("shop_t"))
        assert spark.catalog.tableExists("shop_t")
        assert not spark.catalog.tableExists("prod_t")

    def test_like(self, spark):
        spark.sql("CREATE TABLE shop_t (id INT) USING parquet")
        refused(lambda: spark.sql("CREATE TABLE prod_t LIKE shop_t"), "use another name")

    def test_provider(self, spark):
        refused(lambda: spark.sql("CREATE TABLE shop_t (id INT) USING json"), "provider")

    def test_save_as_table(self, spark):
        refused(lambda: spark.range(1).write.saveAsTable("prod_t"), "use another name")
        spark.range(1).write.saveAsTable("shop_t")
        spark.range(1).write.mode("append").saveAsTable("shop_t")
        assert spark.table("shop_t").count() == 2
        refused(lambda: spark.range(1).writeTo("prod_t").using("parquet").create(), "use another name")


class TestHadoop:
    def test_the_applications_hadoop_configuration(self, classic):
        hadoop = classic._jsc.hadoopConfiguration()
        refused(lambda: hadoop.set("fs.s3a.endpoint", "elsewhere"), "fs.s3a.endpoint")
        refused(lambda: hadoop.set("fs.s3a.bucket.data.endpoint", "elsewhere"), "fs.s3a.bucket.data.endpoint")
        refused(lambda: hadoop.setBoolean("hadoop.security.credential.provider.path", True), "credential")
        refused(hadoop.clear)
        hadoop.set("io.file.buffer.size", "8192")
        assert (hadoop.get("fs.s3a.endpoint"), hadoop.get("io.file.buffer.size")) == ("s3.shop", "8192")
        refused(lambda: hadoop.unset("fs.s3a.endpoint"), "fs.s3a.endpoint")
        assert hadoop.get("fs.s3a.endpoint") == "s3.shop"
        assert classic.range(1).count() == 1


def test_the_operators_defaults_are_in_place(application):
    conf = application["classic"].sparkContext.getConf()
    assert {key: conf.get(key) for key in DEFAULTS} == DEFAULTS
