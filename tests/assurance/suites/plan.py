"""Which of Spark's published suites run, and from which releases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Release:
    """A Spark whose test jars are on Maven Central."""

    version: str
    scala: str
    #: What the published tests need beside what Spark itself needs.
    libraries: tuple[str, ...]
    #: Spark's own modules, and those whose tests are needed.
    modules: tuple[str, ...]
    tested: tuple[str, ...]
    #: ``group:artifact`` that Maven must leave out.
    without: tuple[str, ...] = ()
    #: The PySpark that lends the classes of machine learning to Connect's tests; empty if these are not published.
    connect: str = ""
    #: Packages that Spark's published jars carry under another name, by the module whose tests use them.
    relocated: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def coordinates(self) -> list[str]:
        """Everything that Maven is asked for."""
        spark = [f"org.apache.spark:spark-{module}_{self.scala}:{self.version}" for module in self.modules]
        tests = [
            f"org.apache.spark:spark-{module}_{self.scala}:{self.version}:tests" for module in self.tested
        ]
        return [*spark, *tests, *self.libraries]

    @property
    def connect_coordinates(self) -> list[str]:
        """The server of Connect, which carries what it needs, and its tests."""
        module = f"org.apache.spark:spark-connect_{self.scala}:{self.version}"
        return [module, f"{module}:tests", f"org.apache.spark:spark-pipelines_{self.scala}:{self.version}"]


RELEASES = {
    release.version: release
    for release in (
        Release(
            "4.2.0",
            "2.13",
            (
                "org.scalatest:scalatest_2.13:3.2.19",
                "org.scalatestplus:mockito-5-12_2.13:3.2.19.0",
                "org.scalatestplus:selenium-4-21_2.13:3.2.19.0",
                "org.scalatestplus:scalacheck-1-18_2.13:3.2.19.0",
                "org.mockito:mockito-core:5.12.0",
                "junit:junit:4.13.2",
                "org.junit.jupiter:junit-jupiter-api:5.13.4",
                "com.h2database:h2:2.3.232",
                "org.apache.derby:derby:10.16.1.1",
                "org.apache.derby:derbytools:10.16.1.1",
                "org.postgresql:postgresql:42.7.7",
            ),
            ("core", "catalyst", "sql", "sql-api"),
            ("core", "catalyst", "sql", "sql-api", "common-utils", "tags"),
            ("org.apache.spark:spark-connect-shims_2.13",),
            connect="4.2.1",
            relocated={
                "core": {"org/eclipse/jetty": "org/sparkproject/jetty"},
                "connect": {
                    "io/grpc": "org/sparkproject/connect/grpc",
                    "com/google/protobuf": "org/sparkproject/connect/protobuf",
                    "com/google/common": "org/sparkproject/guava",
                    "com/google/rpc": "org/sparkproject/connect/google_protos/rpc",
                },
            },
        ),
        Release(
            "3.5.9",
            "2.12",
            (
                # Maven would take an older one than Spark's build does.
                "com.fasterxml.jackson.core:jackson-core:2.15.2",
                "org.scalatest:scalatest_2.12:3.2.16",
                "org.scalatestplus:mockito-4-11_2.12:3.2.16.0",
                "org.scalatestplus:selenium-4-9_2.12:3.2.16.0",
                "org.scalatestplus:scalacheck-1-17_2.12:3.2.16.0",
                "org.mockito:mockito-core:4.11.0",
                "org.mockito:mockito-inline:4.11.0",
                "junit:junit:4.13.2",
                "com.h2database:h2:2.2.220",
                "org.apache.derby:derby:10.14.2.0",
                "org.postgresql:postgresql:42.6.0",
            ),
            ("core", "catalyst", "sql", "sql-api"),
            ("core", "catalyst", "sql", "common-utils", "tags"),
        ),
    )
}
#: The newest release whose test jars are on Maven Central.
NEWEST = "4.2.0"

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

#: A suite that a release does not have is left out there.
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
        SQL,
        "connector.DataSourceV2Suite connector.DataSourceV2DataFrameSuite connector.SupportsCatalogOptionsSuite "
        "connector.TableCapabilityCheckSuite connector.ProcedureSuite connector.DataSourceV2SQLSuiteV1Filter",
    ),
    "streaming": _names(
        SQL,
        "streaming.StreamingQueryListenerSuite streaming.StreamingQueryStatusAndProgressSuite "
        "streaming.ReportSinkMetricsSuite streaming.test.DataStreamReaderWriterSuite "
        "streaming.test.DataStreamTableAPISuite streaming.sources.StreamingDataSourceV2Suite "
        "execution.streaming.MemorySinkSuite execution.streaming.sources.ForeachBatchSinkSuite",
    ),
    "sources": _names(
        SQL,
        "sources.PathOptionSuite sources.DDLSourceLoadSuite sources.TableScanSuite sources.FilteredScanSuite "
        "sources.CreateTableAsSelectSuite sources.PartitionedWriteSuite sources.SaveLoadSuite",
    ),
    "inserts": _names(SQL, "DSV2SQLInsertTestSuite FileSourceSQLInsertTestSuite sources.InsertSuite"),
    "formats": _names(
        SQL,
        "execution.datasources.text.TextV1Suite execution.datasources.text.TextV2Suite "
        "execution.datasources.csv.CSVv1Suite execution.datasources.json.JsonV2Suite "
        "execution.datasources.binaryfile.BinaryFileFormatSuite",
    ),
    "views": _names(SQL, "execution.SimpleSQLViewSuite execution.GlobalTempViewSuite"),
    "ddl": _names(SQL, "internal.CatalogSuite execution.command.InMemoryCatalogedDDLSuite"),
    "caching": _names(SQL, "DatasetCacheSuite CachedTableSuite"),
    "sql": _names(
        SQL,
        "internal.SQLConfSuite RuntimeConfigSuite internal.SharedStateSuite SparkSessionBuilderSuite "
        "util.ExecutionListenerManagerSuite ExplainSuite execution.QueryExecutionSuite",
    ),
    "ui": (
        *_names(
            SQL,
            "execution.ui.SQLAppStatusListenerWithInMemoryStoreSuite "
            "execution.ui.AllExecutionsPageWithInMemoryStoreSuite streaming.ui.StreamingQueryStatusListenerSuite",
        ),
        *_names(
            CORE,
            "ui.HttpSecurityFilterSuite ui.storage.StoragePageSuite "
            "ui.env.EnvironmentPageSuite ui.UIUtilsSuite ui.UISuite",
        ),
    ),
    "event-log": _names(
        CORE,
        "scheduler.ReplayListenerSuite util.JsonProtocolSuite deploy.history.SingleEventLogFileWriterSuite "
        "deploy.history.RollingEventLogFilesWriterSuite deploy.history.EventLogFileCompactorSuite",
    ),
    "history-server": _names(CORE, "deploy.history.RocksDBBackendFsHistoryProviderSuite"),
    "core": _names(
        CORE,
        "status.AppStatusListenerWithInMemoryStoreSuite SparkConfSuite internal.plugin.PluginContainerSuite "
        "SparkContextInfoSuite StatusTrackerSuite scheduler.SparkListenerSuite JobCancellationSuite "
        "SparkContextSuite",
    ),
    "schedulers": _names(
        CORE, "scheduler.TaskResultGetterSuite scheduler.DAGSchedulerSuite scheduler.TaskSchedulerImplSuite"
    ),
    "submit": _names(CORE, "deploy.SparkSubmitSuite"),
}

#: The group that needs the module of Connect.
CONNECT = "connect"
GROUPS[CONNECT] = _names(
    f"{SQL}connect.",
    "planner.SparkConnectServiceSuite planner.SparkConnectWithSessionExtensionSuite planner.InvalidInputErrorsSuite "
    "service.SparkConnectServiceE2ESuite service.FetchErrorDetailsHandlerSuite service.InterceptorRegistrySuite "
    "service.GetStatusHandlerSuite service.SparkConnectListenerBusListenerSuite service.SparkConnectCloneSessionSuite "
    "service.SparkConnectExecutionManagerSuite service.ExecuteEventsManagerSuite service.SessionEventsManagerSuite "
    "service.AddArtifactsHandlerSuite service.ArtifactStatusesHandlerSuite plugin.SparkConnectPluginRegistrySuite "
    "execution.ReattachableExecuteSuite ui.SparkConnectServerListenerSuite ui.SparkConnectServerPageSuite",
)

#: In these groups no application starts: our jar is there, as it is in a history server.
WITHOUT_APPLICATION = ("history-server",)

#: Modules of PySpark whose own doctests run: they are in each wheel, PySpark's other tests only in Spark's sources.
_CONNECT = (
    "catalog column conf dataframe group observation readwriter session window "
    "streaming.query streaming.readwriter"
)
PYSPARK: dict[str, tuple[str, ...]] = {
    "pyspark-classic": (
        *_names("pyspark.", "conf core.context core.broadcast core.files"),
        *_names("pyspark.sql.", "catalog conf group observation readwriter session types udf udtf merge"),
        *_names("pyspark.sql.", "classic.column classic.dataframe classic.window"),
        *_names("pyspark.sql.", "streaming.query streaming.readwriter streaming.listener"),
    ),
    "pyspark-connect": _names("pyspark.sql.connect.", _CONNECT),
}

#: Tests of the quick group that fail without sparkconfig as well: they start executors, and that group has no
#: environment for them. If no other test fails, it runs on one side only.
FAILING = frozenset(
    f"{CORE}scheduler.EventLoggingListenerSuite: End-to-end event logging{how}"
    for how in ("", " with compression")
)

_PARSER = "Spark 3.5 calls no other hook before a catalog's name is looked up, so the session's parser is a proxy there"
#: Differences that are meant, each with its reason, by the release (all of them where it is empty) and the names of the
#: suite and the test as far as they are given.
EXPLAINED: dict[tuple[str, str], str] = {
    ("", f"{CORE}internal.plugin.PluginContainerSuite: do nothing if plugins are not configured"): (
        "it expects that no plugin is configured, and here ours is"
    ),
    ("3.5.9", f"{SQL}SparkSessionExtensionSuite: allow an extension to be duplicated"): _PARSER,
    ("3.5.9", f"{SQL}SparkSessionExtensionSuite: use custom class for extensions"): _PARSER,
}
