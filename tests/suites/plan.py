"""Which of Spark's published suites run, and from which release."""

from __future__ import annotations

#: The newest release whose test jars are on Maven Central.
SPARK = "4.2.0"
SCALA = "2.13"

#: What the published tests need beside what Spark itself needs.
LIBRARIES = (
    f"org.scalatest:scalatest_{SCALA}:3.2.19",
    f"org.scalatestplus:mockito-5-12_{SCALA}:3.2.19.0",
    f"org.scalatestplus:selenium-4-21_{SCALA}:3.2.19.0",
    f"org.scalatestplus:scalacheck-1-18_{SCALA}:3.2.19.0",
    "org.mockito:mockito-core:5.12.0",
    "junit:junit:4.13.2",
    "com.h2database:h2:2.3.232",
    "org.apache.derby:derby:10.16.1.1",
    "org.apache.derby:derbytools:10.16.1.1",
    "org.postgresql:postgresql:42.7.7",
)
#: Spark's own modules; those of the second list with their tests.
MODULES = ("core", "catalyst", "sql", "sql-api")
TESTED = ("core", "catalyst", "sql", "sql-api", "common-utils", "tags")

CORE, SQL = "org.apache.spark.", "org.apache.spark.sql."


def _names(package: str, names: str) -> tuple[str, ...]:
    return tuple(package + name for name in names.split())


def _commands(names: str) -> tuple[str, ...]:
    """Suites that are there once for tables of V1 and once for those of V2."""
    return tuple(
        f"{SQL}execution.command.{kind}.{name}Suite" for name in names.split() for kind in ("v1", "v2")
    )


#: A few minutes' worth that touches each place where sparkconfig stands in Spark's way; part of `make test`.
QUICK = "quick"

GROUPS: dict[str, tuple[str, ...]] = {
    QUICK: (
        *_commands("DescribeTable ShowCreateTable ShowTblProperties"),
        *_names(
            SQL,
            "execution.HiveResultSuite execution.streaming.sources.ConsoleWriteSupportSuite "
            "execution.datasources.noop.NoopStreamSuite execution.datasources.v2.jdbc.DerbyTableCatalogSuite "
            "execution.datasources.SaveIntoDataSourceCommandSuite execution.ui.SparkPlanInfoSuite "
            "connector.DataSourceV2MetricsSuite SparkSessionExtensionSuite util.DataFrameCallbackSuite",
        ),
        *_names(CORE, "scheduler.EventLoggingListenerSuite"),
    ),
    "commands": _commands(
        "DescribeNamespace ShowColumns ShowFunctions ShowNamespaces ShowPartitions ShowTables"
    ),
    "jdbc": _names(
        SQL,
        "jdbc.JDBCSuite jdbc.JDBCWriteSuite jdbc.JDBCV2Suite execution.datasources.v2.jdbc.JDBCTableCatalogSuite",
    ),
    "v2": _names(
        SQL, "connector.DataSourceV2Suite connector.DataSourceV2DataFrameSuite connector.DataSourceV2SQLSuite"
    ),
    "streaming": _names(
        SQL,
        "streaming.StreamingQueryListenerSuite streaming.StreamingQueryStatusAndProgressSuite "
        "streaming.test.DataStreamReaderWriterSuite streaming.test.DataStreamTableAPISuite "
        "streaming.sources.StreamingDataSourceV2Suite",
    ),
    "sources": _names(
        SQL,
        "sources.InsertSuite sources.SaveLoadSuite sources.CreateTableAsSelectSuite sources.PartitionedWriteSuite",
    ),
    "sql": _names(
        SQL,
        "execution.SimpleSQLViewSuite execution.command.InMemoryCatalogedDDLSuite CachedTableSuite "
        "internal.SQLConfSuite internal.CatalogSuite util.ExecutionListenerManagerSuite ExplainSuite",
    ),
    "ui": _names(
        SQL, "execution.ui.SQLAppStatusListenerWithInMemoryStoreSuite execution.ui.AllExecutionsPageSuite"
    ),
    "core": _names(
        CORE,
        "scheduler.SparkListenerSuite status.AppStatusListenerSuite SparkConfSuite deploy.SparkSubmitSuite",
    ),
}

#: Differences that are meant, each with its reason; the name is the suite's and the test's, as far as they are given.
EXPLAINED: dict[str, str] = {}
