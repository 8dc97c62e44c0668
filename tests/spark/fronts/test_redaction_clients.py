"""What Spark hands to others: listeners, Connect clients, and the answers of commands, all without values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from sparkconfig.redaction import MASK
from support.connect_texts import CONNECT_TEXTS
from support.crawl import fetch
from support.fronts import (
    BAD,
    FOREIGN,
    LITERAL,
    SECRET,
    VARIABLE,
    masked,
    shown,
    sql,
)
from support.processes import wait_until
from support.scala_objects import scala_object

pytestmark = pytest.mark.spark


def test_data_stays_data(spark):
    frame = spark.sql(sql("SELECT 'SECRET' AS it, id FROM range(2)"))
    assert [row["it"] for row in frame.collect()] == [SECRET, SECRET]


@pytest.mark.parametrize("statement", ["SET spark.shop.token", "SET", "SET -v"])
def test_set_shows_no_value(spark, statement):
    masked(shown(spark.sql(statement)))


def test_what_a_session_has_set_itself_is_its_own(spark):
    assert [row.value for row in spark.sql(f"SET spark.shop.mine = {SECRET}").collect()] == [SECRET]
    assert [row.value for row in spark.sql("SET spark.shop.mine").collect()] == [SECRET]
    listed = shown(spark.sql("SET"))
    assert SECRET in listed
    masked(listed.replace(SECRET, "its own"))
    spark.sql(f"SET spark.shop.substituted = {VARIABLE}").collect()
    assert [row.value for row in spark.sql("SET spark.shop.substituted").collect()] == [MASK]
    spark.conf.unset("spark.shop.mine")
    spark.conf.unset("spark.shop.substituted")


def test_plans_are_explained_without_values(spark, capsys):
    assert "Range" in masked(shown(spark.sql(f"EXPLAIN EXTENDED SELECT '{VARIABLE}', id FROM range(2)")))


def test_commands_without_a_value_answer_as_ever(spark):
    spark.sql("SET spark.shop.colour = blue")
    assert shown(spark.sql("SET spark.shop.colour")) == '[{"key": "spark.shop.colour", "value": "blue"}]'
    assert [row.col_name for row in spark.sql("DESCRIBE QUERY SELECT 1 AS one").collect()] == ["one"]


@pytest.fixture
def sales(spark, tmp_path) -> Iterator[str]:
    """A table whose names, location and partitions are words that are secrets elsewhere."""
    spark.sql("CREATE DATABASE IF NOT EXISTS inventory")
    spark.sql(
        "CREATE TABLE inventory.etl_service (inventory INT COMMENT 'of inventory', region STRING) USING parquet"
        f" OPTIONS (`inventory`='us-east-1') PARTITIONED BY (region) LOCATION '{tmp_path}/us-east-1'"
        " COMMENT 'for etl_service' TBLPROPERTIES ('children'='nodeName')"
    )
    spark.sql("INSERT INTO inventory.etl_service VALUES (1, 'us-east-1'), (2, 'eu-central-1')")
    yield "inventory.etl_service"
    spark.sql("DROP DATABASE inventory CASCADE")


def test_a_retention_job_drops_the_partitions_that_are_listed(spark, sales):
    assert len(spark.sql(f"SHOW PARTITIONS {sales}").collect()) == 2
    for row in spark.sql(f"SHOW PARTITIONS {sales}").collect():
        name, _, value = row.partition.partition("=")
        spark.sql(f"ALTER TABLE {sales} DROP IF EXISTS PARTITION ({name}='{value}')")
    assert spark.sql(f"SHOW PARTITIONS {sales}").collect() == []


def test_listings_are_true(spark, sales):
    assert "inventory" in {database.name for database in spark.catalog.listDatabases()}
    assert [table.name for table in spark.catalog.listTables("inventory")] == ["etl_service"]
    assert [column.name for column in spark.catalog.listColumns(sales)] == ["inventory", "region"]
    assert "inventory" in {row[0] for row in spark.sql("SHOW NAMESPACES").collect()}
    assert [row.tableName for row in spark.sql("SHOW TABLES IN inventory").collect()] == ["etl_service"]
    assert [row[0] for row in spark.sql(f"SHOW COLUMNS IN {sales}").collect()] == ["inventory", "region"]
    (extended,) = spark.sql("SHOW TABLE EXTENDED IN inventory LIKE 'etl*'").collect()
    assert "Comment: for etl_service" in extended.information
    assert "Table: etl_service" in extended.information
    assert "/us-east-1\n" in extended.information
    assert "|-- inventory: integer" in extended.information


def test_what_describes_a_table_names_what_is_there(spark, sales):
    described = {row.col_name: row for row in spark.sql(f"DESCRIBE EXTENDED {sales}").collect()}
    assert (described["inventory"].data_type, described["inventory"].comment) == ("int", "of inventory")
    assert (described["Database"].data_type, described["Table"].data_type) == ("inventory", "etl_service")
    assert described["Location"].data_type.endswith("/us-east-1")
    assert described["Comment"].data_type == "for etl_service"
    assert "children=nodeName" in described["Table Properties"].data_type
    assert described["Storage Properties"].data_type == "[inventory=us-east-1]"
    (partition,) = spark.sql(
        "SHOW TABLE EXTENDED IN inventory LIKE 'etl_service' PARTITION (region='us-east-1')"
    ).collect()
    assert "Partition Values: [region=us-east-1]" in partition.information
    assert dict(spark.sql(f"SHOW TBLPROPERTIES {sales}").collect())["children"] == "nodeName"
    namespace = dict(spark.sql("DESCRIBE NAMESPACE EXTENDED inventory").collect())
    assert "inventory" in namespace.values()
    assert "inventory.db" in namespace["Location"]
    if spark.version >= "4":
        (row,) = spark.sql(f"DESCRIBE EXTENDED {sales} AS JSON").collect()
        document = json.loads(row.json_metadata)
        assert (document["table_name"], document["namespace"]) == ("etl_service", ["inventory"])
        assert [column["name"] for column in document["columns"]] == ["inventory", "region"]
        assert document["columns"][0]["comment"] == "of inventory"
        assert document["comment"] == "for etl_service"
        assert document["location"].endswith("/us-east-1")
        assert document["table_properties"]["children"] == "nodeName"


def test_a_table_is_created_again_from_its_statement(spark, sales):
    (row,) = spark.sql(f"SHOW CREATE TABLE {sales}").collect()
    statement = row.createtab_stmt
    assert "COMMENT 'of inventory'" in statement
    assert "'children' = 'nodeName'" in statement
    spark.sql(f"DROP TABLE {sales}")
    spark.sql(statement)
    spark.sql(f"ALTER TABLE {sales} RECOVER PARTITIONS")
    assert spark.table(sales).select("inventory").orderBy("inventory").collect() == [(1,), (2,)]


def test_frames_keep_their_schema_files_and_metrics(spark, sales, capsys):
    if hasattr(spark, "_jsparkSession"):
        from pyspark.sql import Observation
        from pyspark.sql import functions as f
    else:
        from pyspark.sql.connect import functions as f
        from pyspark.sql.connect.observation import Observation

    frame = spark.table(sales)
    assert frame.columns == ["inventory", "region"]
    assert frame.schema.json() == frame.select("inventory", "region").schema.json()
    assert frame.filter("region = 'us-east-1'").select("inventory").collect() == [(1,)]
    files = frame.inputFiles()
    assert len(files) == 2
    assert spark.read.parquet(*files).count() == 2
    doubled = frame.select("inventory").mapInPandas(lambda parts: parts, "inventory long")
    assert doubled.schema.simpleString() == "struct<inventory:bigint>"
    seen = Observation("inventory")
    frame.observe(seen, f.max("region").alias("nodeName")).collect()
    assert seen.get == {"nodeName": "us-east-1"}
    frame.printSchema()
    assert "|-- inventory: integer" in capsys.readouterr().out


def rows(query: Any) -> int | None:
    """The rows of the newest batch at its sink."""
    return query.lastProgress["sink"]["numOutputRows"] if query.lastProgress else None


def test_a_query_is_found_by_its_name(spark, tmp_path):
    query = (
        spark.readStream.format("rate-micro-batch").option("rowsPerBatch", "3").load()
        .selectExpr("value AS inventory").writeStream.format("noop").queryName("inventory")
        .option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    )  # fmt: skip
    try:
        assert query.name == "inventory"
        assert [found.name for found in spark.streams.active] == ["inventory"]
        # It stays -1 if the sink's own node is not the one that runs.
        wait_until("a batch", lambda: rows(query) == 3, timeout=60)
        assert query.lastProgress["name"] == "inventory"
    finally:
        query.stop()


@pytest.mark.parametrize(
    ("statement", "node"),
    [
        ("SHOW TABLES", "ShowTablesExec"),
        ("SET spark.shop.two", "ExecutedCommandExec"),
        ("EXPLAIN SELECT 1", "ExecutedCommandExec"),
    ],
)
def test_a_command_is_the_node_that_it_is_in_stock_spark(application, statement, node):
    frame = application.sessions["classic"].sql(statement)
    command = frame._jdf.queryExecution().commandExecuted().commandPhysicalPlan()
    assert command.getClass().getSimpleName() == node
    assert command.children().isEmpty()


def test_plans_of_this_applications_own_code_hold_no_such_word_either(application, spark, sales):
    (plan,) = spark.sql(f"EXPLAIN SELECT inventory FROM {sales}").collect()
    # A client of a server has written the word itself.
    assert ("inventory" in plan.plan) == (spark is not application.sessions["classic"])
    assert spark.sql("SET spark.shop.two").collect()[0].value == MASK


@pytest.mark.sparks(since="4.0")
class TestConnect:
    @pytest.mark.parametrize("kind", BAD)
    def test_errors(self, application, kind):
        spark = application.sessions["connect"]
        spark.conf.set("spark.sql.ansi.enabled", "true")
        spark.conf.set("spark.sql.connect.serverStacktrace.enabled", "true")
        text = BAD[kind].replace("SECRET", VARIABLE)
        with pytest.raises(Exception) as caught:
            spark.sql(text).collect()
        error = caught.value
        details = [str(error), repr(error), str(error.getMessage()), str(error.getMessageParameters())]
        details += [
            f"{context.fragment()} {context.summary()}"
            for context in error.getQueryContext()
            if "SQL" in str(context.contextType())
        ]
        details.append(str(getattr(error, "_stacktrace", "")))
        masked(" ".join(details))

    def test_an_error_without_a_value_is_complete(self, application):
        from pyspark.errors import AnalysisException

        with pytest.raises(AnalysisException, match="no_such_column") as caught:
            application.sessions["connect"].sql("SELECT no_such_column").collect()
        assert caught.value.getCondition() == "UNRESOLVED_COLUMN.WITHOUT_SUGGESTION"

    def test_conf(self, application):
        spark = application.sessions["connect"]
        spark.conf.set("spark.shop.note", SECRET)
        assert spark.conf.get("spark.shop.note") == SECRET, "its own"
        spark.sql(f"SET `spark.shop.noted` = {SECRET} ;")
        spark.sql(f"set spark.shop.noted2={SECRET}").collect()
        assert {spark.conf.get(key).strip() for key in ("spark.shop.noted", "spark.shop.noted2")} == {SECRET}
        for key in ("spark.shop.apikey", "spark.hadoop.fs.azure.account.key.shop"):
            assert spark.conf.get(key) == MASK, key
            assert spark.conf.get(key, "other") == MASK, key
            assert spark.conf.getAll[key] == MASK, key
        # Since 4.3 the server itself keeps keys back that spark.redaction.regex names.
        assert spark.conf.get("spark.shop.token", "kept back") in (MASK, "kept back")
        assert spark.conf.getAll.get("spark.shop.token", MASK) == MASK
        assert spark.conf.get("spark.sql.warehouse.dir").endswith("warehouse")
        # The job's own code in the driver gets the value that it asked for.
        confs = application.sessions["classic"].sparkContext.getConf()
        assert confs.get("spark.shop.token") == SECRET
        assert confs.get("spark.shop.apikey") == LITERAL

    def test_statements_in_other_letters(self, application):
        """Spark keeps them as protobuf's text, in which each byte beyond ASCII is an octal escape."""
        spark = application.sessions["connect"]
        assert spark.sql(f"SELECT '{FOREIGN}' AS it").collect()[0].it == FOREIGN
        application.drained()
        told = [line.partition(" ")[2] for line in application.heard("EVENT") if "statementText" in line]
        assert any(MASK in line for line in told), "an event with the statement"
        octal = "".join(chr(octet) if octet < 0x80 else f"\\{octet:03o}" for octet in FOREIGN.encode())
        for line in told:
            text = json.dumps(json.loads(line), ensure_ascii=False)
            assert FOREIGN not in text
            assert octal not in text.replace("\\\\", "\\")
        ui = application.sessions["classic"].sparkContext.uiWebUrl
        for page in ("connect", "SQL", "jobs"):
            text = fetch(f"{ui}/{page}/").decode()
            assert FOREIGN not in text, page
            assert octal not in text.replace("\\\\", "\\"), page
            assert page != "connect" or f"SELECT \\'{MASK}\\' AS it" in text, "the statement, masked"

    def test_explain_of_a_frame(self, application):
        frame = application.sessions["connect"].sql(f"SELECT '{VARIABLE}' AS it, id FROM range(2)")
        masked(frame._explain_string(extended=True))


def test_listeners_of_others_see_no_value(application):
    spark = application.sessions["classic"]
    context = spark.sparkContext
    context.setJobGroup(f"group {SECRET}", f"description {SECRET}")
    context.setLocalProperty("shop.note", SECRET)
    context.parallelize(range(4), 2).setName(f"rdd {SECRET}").cache().map(lambda x: (x, 1)).reduceByKey(
        max
    ).count()
    for text in BAD.values():
        with pytest.raises(Exception):  # noqa: B017 - what the listeners hear is the matter
            spark.sql(sql(text)).collect()
    context.setLocalProperty("shop.note", None)
    context.setLocalProperty("spark.jobGroup.id", None)
    context.setLocalProperty("spark.job.description", None)
    stream = (
        spark.readStream.format("rate").load().selectExpr(f"raise_error('{VARIABLE}')")
        .writeStream.format("noop").queryName("stream").start()
    )  # fmt: skip
    with pytest.raises(Exception):  # noqa: B017
        stream.awaitTermination(60)
    application.drained()
    wait_until("the stream's end", lambda: application.heard("TERMINATED"), timeout=30)
    assert application.heard("STARTED")
    for head in ("EVENT", "QUERY", "FAILURE", "TERMINATED"):
        masked("\n".join(application.heard(head)))
    events = [json.loads(line.partition(" ")[2]) for line in application.heard("EVENT")]
    names = {event["Event"].rpartition(".")[2] for event in events}
    assert not [name for name in names if "Unsearched" in name]
    assert {
        "SparkListenerEnvironmentUpdate", "SparkListenerJobStart", "SparkListenerStageCompleted",
        "SparkListenerTaskEnd", "SparkListenerJobEnd", "SparkListenerSQLExecutionStart", "SparkListenerSQLExecutionEnd",
    } <= names  # fmt: skip
    (start,) = [
        event
        for event in events
        if event.get("Properties", {}).get("shop.note") == MASK and "Job ID" in event
    ][:1]
    assert start["Properties"]["spark.job.description"] == f"description {MASK}"
    assert {info["Name"] for stage in start["Stage Infos"] for info in stage["RDD Info"]} >= {f"rdd {MASK}"}


def test_every_listener_survives(application):
    listeners = application.sessions["classic"].sparkContext._jsc.sc().conf().get("spark.extraListeners")
    assert listeners.split(",") == [
        "org.apache.spark.probe.AllEvents",
        "io.sparkconfig.redaction.sinks.EventLogListener",
    ]
    assert application.heard("EVENT")
    assert application.heard("SUCCESS")


@pytest.mark.sparks(since="4.0")
def test_each_text_of_connects_answers_is_for_programs_or_for_people(application):
    from pyspark.sql.connect.proto import base_pb2

    protos = scala_object(application.sessions["classic"]._jvm, "io.sparkconfig.redaction.sinks.Protos")
    seen, texts = set(), set()

    def enter(message: Any) -> None:
        if message.full_name in seen or protos.isForPrograms(message.full_name):
            return
        seen.add(message.full_name)
        for field in message.fields:
            if protos.isForPrograms(field.full_name):
                continue
            if field.type == field.TYPE_STRING:
                texts.add(field.full_name.removeprefix("spark.connect."))
            elif field.type == field.TYPE_MESSAGE:
                enter(field.message_type)

    for method in base_pb2.DESCRIPTOR.services_by_name["SparkConnectService"].methods:
        enter(method.output_type)
    # Spark 4.0 to 4.2 have fewer.
    assert texts - {"google.protobuf.Any.type_url", "KeyValue.key"} <= set(CONNECT_TEXTS.split())
    assert "FetchErrorDetailsResponse.Error.message" in texts
