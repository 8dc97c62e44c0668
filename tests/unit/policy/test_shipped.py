"""The policy for shared servers: options that it does not know are refused, whatever a driver makes of them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from sparkconfig.policy.destinations.jdbc import DRIVERS
from sparkconfig.policy.engine import PolicyEngine
from sparkconfig.policy.patterns import Pattern
from sparkconfig.policy.request import OverrideRequest, StatementItem
from sparkconfig.policy.rules.document import parse, read
from sparkconfig.settings.connections import read_connections
from sparkconfig.settings.operator_file import OperatorFile

POLICIES = Path(__file__).resolve().parents[3] / "conf" / "policies"

#: As doors name a source: by what was written, by the class behind it, or not at all.
NAMES = [
    ("jdbc",),
    ("org.apache.spark.sql.jdbc", "jdbc"),
    ("org.apache.spark.sql.execution.datasources.jdbc.jdbcrelationprovider", "jdbc"),
    ("org.apache.spark.sql.execution.datasources.v2.jdbc.jdbctable",),
    (),
]


def _words(text: str) -> list[str]:
    return text.split()


#: Options that read or write files of the server, use its logins, load classes, or lead elsewhere.
BAD = _words(
    """
    keytab principal refreshKrb5Config connectionProvider
    sslcert sslkey sslrootcert sslpassword sslmodefactory service jaasLogin jaasApplicationName gsslib gssEncMode
    kerberosServerName useSpnego sspiServiceClass options loggerFile loggerLevel socketFactory sslfactory sslfactoryarg
    sslhostnameverifier sslpasswordcallback authenticationPluginClassName xmlFactoryFactory localSocketAddress
    PGHOST PGPORT PGDBNAME channelBinding maxResultBuffer replication
    trustCertificateKeyStoreUrl clientCertificateKeyStoreUrl serverRSAPublicKeyFile allowLoadLocalInfile
    allowLoadLocalInfileInPath allowUrlInLocalInfile autoDeserialize queryInterceptors propertiesTransform
    socksProxyHost ociConfigFile authenticationPlugins defaultAuthenticationPlugin
    serverSslCert keyStore keyStorePassword trustStore clientCertificate localSocket pipe credentialType galera
    allowLocalInfile serverRsaPublicKeyFile disabledAuthenticationPlugins initSql
    integratedSecurity authenticationScheme trustStoreType trustManagerClass socketFactoryClass clientKey
    keyStoreAuthentication keyStoreLocation realm JAASConfigurationName msiClientId accessTokenCallbackClass
    oracle.net.wallet_location oracle.net.tns_admin javax.net.ssl.keyStore javax.net.ssl.trustStore TNS_ADMIN
    oracle.net.authentication_services oracle.jdbc.provider.password
    traceFile traceDirectory clientRerouteServerListJNDIName sslTrustStoreLocation sslKeyStoreLocation pluginName
    restore.from createFrom rollForwardRecoveryFrom private_key_file proxyHost tracing somethingThatComesLater
"""
)
GOOD = _words(
    """
    dbtable query user password partitionColumn lowerBound upperBound numPartitions queryTimeout batchsize fetchsize
    truncate cascadeTruncate createTableOptions createTableColumnTypes customSchema pushDownPredicate pushDownAggregate
    pushDownLimit pushDownOffset pushDownTableSample tableComment preferTimestampNTZ hint isolationLevel
    sessionInitStatement prepareQuery ssl sslmode ApplicationName connectTimeout currentSchema reWriteBatchedInserts
    sparkconfig.connection
"""
)
KAFKA_BAD = _words(
    """
    ssl.keystore.location ssl.truststore.location security.providers partition.assignment.strategy metric.reporters
    interceptor.classes sasl.kerberos.kinit.cmd sasl.oauthbearer.assertion.file sasl.oauthbearer.jwks.endpoint.url
    sasl.oauthbearer.assertion.private.key.file sasl.oauthbearer.assertion.template.file ssl.engine.factory.class
    sasl.oauthbearer.token.endpoint.url config.providers.sparkconfig.param.file something.that.comes.later
    ssl.secure.random.implementation ssl.provider sasl.oauthbearer.client.credentials.client.secret
    sasl.mechanism sasl.jaas.config sasl.kerberos.service.name sasl.login.callback.handler.class
"""
)
KAFKA_GOOD = _words(
    """
    bootstrap.servers ssl.truststore.certificates ssl.truststore.password
    ssl.keystore.key ssl.key.password ssl.endpoint.identification.algorithm group.id client.id isolation.level
    request.timeout.ms session.timeout.ms max.poll.records fetch.max.bytes max.partition.fetch.bytes acks batch.size
    linger.ms compression.type max.request.size retries
"""
)


@pytest.fixture(scope="module")
def shared() -> PolicyEngine:
    confs = {
        "spark.config.override.policy": "Rules",
        "spark.config.override.policy.param.file": str(POLICIES / "shared-server.json"),
    }
    return PolicyEngine.from_operator({}, OperatorFile(POLICIES / "sparkconfig.conf", confs, {}))


def _allows(shared: PolicyEngine, option: str, formats: tuple[str, ...], scope: str, text: str = "1") -> bool:
    asked = OverrideRequest("job", "connect", scope=scope, props={option: text}, formats=formats)
    return shared.check(asked).allowed


@pytest.mark.parametrize("scope", ["source", "sink"])
@pytest.mark.parametrize("formats", NAMES)
def test_options_of_drivers(shared: PolicyEngine, formats: tuple[str, ...], scope: str) -> None:
    assert [name for name in BAD if _allows(shared, name, formats, scope)] == []
    assert [name for name in BAD if _allows(shared, name.upper(), formats, scope)] == []
    assert [name for name in GOOD if not _allows(shared, name, formats, scope)] == []


@pytest.mark.parametrize("name", ["numPartitions", "NUMPARTITIONS", "minPartitions"])
@pytest.mark.parametrize("formats", [(), ("jdbc",), ("rate",), ("kafka",)])
def test_no_source_has_partitions_by_the_thousand(
    shared: PolicyEngine, name: str, formats: tuple[str, ...]
) -> None:
    for text, allowed in (("1", True), ("2000", True), ("2001", False), ("99999999999", False), ("x", False)):
        assert _allows(shared, name, formats, "source", text) == allowed


@pytest.mark.parametrize("name", BAD)
def test_no_parameter_of_an_url(shared: PolicyEngine, name: str) -> None:
    for url in (f"jdbc:postgresql://db/shop?{name}=x", f"jdbc:postgresql://db/shop?ssl=true&{name}=/etc/x"):
        assert not _allows(shared, "url", ("jdbc",), "source", url)


def test_what_users_may_set_beside_a_connection_they_may_set_without_one(shared: PolicyEngine) -> None:
    ours = "spark.config.connections."
    connection = read_connections({f"{ours}a.format": "jdbc", f"{ours}a.option.url": "jdbc:x:y"}, ours)[0][
        "a"
    ]
    options = [name for name in connection.user_options if name != "path"]  # it has a rule of its own
    assert [name for name in options if not _allows(shared, name, ("jdbc",), "source")] == []


def test_what_counts_as_harmless_for_a_destination_may_be_set(shared: PolicyEngine) -> None:
    """The policy's list, and the one that decides whether a destination is certain, say the same of PostgreSQL."""
    harmless = DRIVERS["postgresql"].harmless
    assert len(harmless) > 10
    assert [name for name in harmless if not _allows(shared, name, ("jdbc",), "source")] == []


@pytest.mark.parametrize(
    "option", ["header", "sep", "mergeSchema", "versionAsOf", "snapshot-id", "checkpointLocation"]
)
@pytest.mark.parametrize("formats", [(), ("csv",), ("delta",)])
def test_options_of_files(shared: PolicyEngine, option: str, formats: tuple[str, ...]) -> None:
    """Also where no door knows the source: ``read.option(...).table(...)``, ``WITH (...)``, streams into files."""
    assert _allows(shared, option, formats, "source")
    assert _allows(shared, option, formats, "sink")


FILES_BAD = _words(
    """
    parquet.crypto.factory.class spark.sql.parquet.output.committer.class io.compression.codecs fs.s3a.endpoint
    dfs.nameservices dfs.client.failover.proxy.provider.ns1 hadoop.socks.server avroSchemaUrl
    mapreduce.output.fileoutputformat.outputdir
    rowValidationXSDPath orc.write.format parquet.block.size something.that.comes.later
"""
)


LAKES_BAD = _words(
    """
    delta.coordinatedCommits.commitCoordinator-preview delta.coordinatedCommits.commitCoordinatorConf-preview
    delta.coordinatedCommits.tableConf-preview delta.redirectReaderWriter-preview delta.redirectWriterOnly-preview
    delta.universalFormat.enabledFormats delta.universalFormat.iceberg.atomicConversion.supported
    delta.feature.catalogManaged delta.feature.catalogOwned-preview delta.feature.coordinatedCommits-preview
    delta.feature.redirectReaderWriter-preview delta.feature.comes-later delta.logStore.class delta.constraints.own
    delta.compatibility.symlinkFormatManifest.enabled delta.comes.later
    write.location-provider.impl write.parquet.own.class write.comes-later read.comes-later commit.comes-later
    encryption.key-id encryption.comes-later engine.hive.lock-enabled fs.s3a.endpoint dfs.nameservices
    """
)
LAKES_GOOD = _words(
    """
    delta.appendOnly delta.enableChangeDataFeed delta.logRetentionDuration delta.autoOptimize.optimizeWrite
    delta.columnMapping.mode delta.feature.deletionVectors delta.checkpointPolicy delta.enableDeletionVectors
    write.target-file-size-bytes write.parquet.row-group-size-bytes write.parquet.bloom-filter-enabled.column.id
    write.metadata.metrics.column.id write.distribution-mode write.merge.mode history.expire.max-snapshot-age-ms
    commit.retry.num-retries read.split.open-file-cost format-version gc.enabled write.data.path
    """
)


@pytest.mark.parametrize("scope", ["source", "sink"])
@pytest.mark.parametrize("formats", [("delta",), ("iceberg",), ()])
def test_properties_of_tables(shared: PolicyEngine, formats: tuple[str, ...], scope: str) -> None:
    """None by which a table sends the server's login elsewhere, or names a class, a place or another table."""
    assert [name for name in LAKES_BAD if _allows(shared, name, formats, scope)] == []
    assert [name for name in LAKES_BAD if _allows(shared, name.upper(), formats, scope)] == []
    assert [name for name in LAKES_GOOD if not _allows(shared, name, formats, scope)] == []
    for text, allowed in (("orc", True), ("PARQUET", True), ("puffin", False), ("com.acme.Own", False)):
        assert _allows(shared, "write.format.default", formats, scope, text) == allowed
    for key, fits, wrong in (
        ("read.split.target-size", "134217728", "4"),
        ("split-size", "1048576", "1000"),
        ("read.parquet.vectorization.batch-size", "5000", "2000000000"),
        ("batch-size", "5000", "0"),
        ("write.orc.vectorized.batch-size", "1024", "2000000000"),
        ("delta.randomPrefixLength", "2", "99999999"),
    ):
        assert [_allows(shared, key, formats, scope, text) for text in (fits, wrong)] == [True, False], key


def test_no_session_has_defaults_for_properties_of_tables(shared: PolicyEngine) -> None:
    ours = "spark.databricks.delta.properties.defaults."
    for key in (
        f"{ours}coordinatedCommits.commitCoordinator-preview",
        f"{ours}appendOnly",
        f"{ours}logStore.class",
    ):
        asked = OverrideRequest("job", "sql", scope="session", props={key: "x"})
        assert not shared.check(asked).allowed


@pytest.mark.parametrize("scope", ["source", "sink"])
@pytest.mark.parametrize("formats", [("parquet",), ("text",), ("xml",), ("delta",), ()])
def test_options_of_files_that_hadoop_would_read(
    shared: PolicyEngine, formats: tuple[str, ...], scope: str
) -> None:
    assert [name for name in FILES_BAD if _allows(shared, name, formats, scope)] == []


def test_compression_is_a_name_and_no_class(shared: PolicyEngine) -> None:
    assert _allows(shared, "compression", ("text",), "sink", "zstd")
    assert not _allows(shared, "compression", ("text",), "sink", "java.lang.Runtime")


@pytest.mark.parametrize("scope", ["source", "sink"])
@pytest.mark.parametrize(
    "text",
    [
        "${env.STORE_LOGIN}",
        "${env:STORE_LOGIN}",
        "${user.home}",
        "${fs.s3a.secret.key}",
        "${k.${acme.password}}",
    ],
)
def test_no_text_that_spark_or_hadoop_would_replace(shared: PolicyEngine, text: str, scope: str) -> None:
    for formats in (("csv",), ("jdbc",), ()):
        assert not _allows(shared, "nullValue", formats, scope, text)
    asked = OverrideRequest("job", "sql", scope="session", props={"spark.sql.session.timeZone": text})
    assert not shared.check(asked).allowed


LAKES = [
    "s3a://your-bucket/x",
    "gs://your-bucket/x",
    "abfss://your-container@your-account.dfs.core.windows.net/x",
    "hdfs://your-namenode/x",
]
OTHERS = [
    "file:///etc",
    "file:/etc",
    "unknown:etc",
    "s3a://your-bucket/../c",
    "s3a://b/x",
    "s3a://your-bucket.evil/x",
    "abfss://your-container@evil.example/x",
    "abfss://other@your-account.dfs.core.windows.net/x",
    "abfs://your-container@your-account.dfs.core.windows.net/x",
    "gs://your-bucket2/x",
    "gs:///your-bucket/x",
    "s3://your-bucket/x",
    "s3n://your-bucket/x",
    "hdfs://evil.example/x",
    "hdfs://your-namenode:1/x",
    "webhdfs://your-namenode/x",
    "viewfs://your-namenode/x",
    "http://evil.example/x",
]


def test_one_list_says_where_the_lake_is(shared: PolicyEngine) -> None:
    """The rules about options leave each place to it."""
    for option, formats in (("path", ("parquet",)), ("path", ("orc",)), ("write.data.path", ("iceberg",))):
        for scope in ("source", "sink"):
            assert [
                text for text in (*LAKES, *OTHERS) if not _allows(shared, option, formats, scope, text)
            ] == []
    asked = OverrideRequest("job", "sql", scope="session")
    for access in ("read", "write"):
        items = [StatementItem("path", text, access) for text in (*LAKES, *OTHERS)]
        allowed = [item.name for item in items if shared.check_statement(asked, [item]).allowed]
        assert allowed == LAKES
    patterns = shared.limits("connect")["paths"]
    assert patterns is not None
    assert not [each for each in patterns if re.search(r"//[^/]*\*", each) or each.startswith("file:")]
    assert _allows(shared, "write.format.default", ("iceberg",), "sink", "orc")


def test_what_users_see_of_the_servers_confs(shared: PolicyEngine) -> None:
    patterns = [Pattern(text) for text in shared.limits("sql")["confs"] or ()]

    def shows(key: str) -> bool:
        return any(each.matches(key) for each in patterns)

    shown = [
        "spark.sql.session.timeZone",
        "spark.sql.shuffle.partitions",
        "spark.sql.execution.arrow.pyspark.enabled",
    ]
    assert [key for key in shown if not shows(key)] == []
    hidden = [
        "spark.app.id", "spark.driver.host", "spark.sql.catalog.shop.url", "spark.sql.warehouse.dir", "acme.login",
        "spark.sql.streaming.checkpointLocation", "spark.sql.extensions", "spark.eventLog.dir", "spark.jars",
        "spark.sql.hive.metastore.jars.path", "spark.hadoop.fs.s3a.access.key", "spark.sql.queryExecutionListeners",
        "spark.connect.authenticate.token", "spark.sql.sources.commitProtocolClass", "spark.config.providers",
    ]  # fmt: skip
    assert [key for key in hidden if shows(key)] == []
    assert shared.limits("batch") == {"paths": None, "confs": None}


@pytest.mark.parametrize("scope", ["source", "sink"])
@pytest.mark.parametrize("formats", [("kafka",), ()])
def test_options_of_kafkas_clients(shared: PolicyEngine, formats: tuple[str, ...], scope: str) -> None:
    assert [name for name in KAFKA_BAD if _allows(shared, f"kafka.{name}", formats, scope)] == []
    assert [name for name in KAFKA_GOOD if not _allows(shared, f"kafka.{name}", formats, scope)] == []


SCHEMA = Draft202012Validator(json.loads((POLICIES / "policy.schema.json").read_text()))
SHIPPED = sorted(path.name for path in POLICIES.iterdir() if path.name != "policy.schema.json")


@pytest.mark.parametrize("name", SHIPPED)
def test_an_editor_finds_nothing_in_a_shipped_policy(name: str) -> None:
    data = read(POLICIES / name).data
    assert (POLICIES / data["$schema"]).is_file()  # which is what an editor opens
    SCHEMA.validate(data)


@pytest.mark.parametrize(
    "text",
    [
        '{"rules": [{"key": "spark.jars", "type": "forbiden"}]}',
        '{"rules": [{"key": "spark.jars", "type": "regex"}]}',
        '{"rules": [{"keys": "spark.jars", "type": "forbidden"}]}',
        '{"rules": [], "path": []}',
        '{"paths": [{"type": "allow"}]}',
        '{"references": [{"type": "allow", "provider": ""}]}',
        '{"references": [{"type": "allow", "provider": "sealed", "jobTypes": ["stream"]}]}',
        '{"extends": 7}',
        '{"spark_conf.spark.jars": {"type": "allowlist", "values": []}}',
        '{"rulez": []}',
        "{}",
    ],
)
def test_an_editor_shows_what_the_start_would_refuse(text: str) -> None:
    assert not SCHEMA.is_valid(parse(text, "policy.json").data)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (
            '{"rules": [{"key": "a", "type": "forbidden"}, {"key": "spark.jars", "type": "forbiden"}]}',
            ["rules", 1],
        ),
        ('{"rules": [], "paths": [{"type": "allow"}]}', ["paths", 0]),
        ('{"spark_conf.spark.jars": {"type": "rang", "minValue": 1}}', ["spark_conf.spark.jars"]),
        ('{"spark_conf.spark.jars": {"type": "unlimited"}, "rules": []}', []),
    ],
)
def test_an_editor_marks_the_place(text: str, place: list[str | int]) -> None:
    (error,) = SCHEMA.iter_errors(parse(text, "policy.json").data)
    assert list(error.absolute_path)[: len(place)] == place


def test_a_cluster_policy_of_databricks_keeps_its_other_attributes() -> None:
    policy = {
        "node_type_id": {"type": "allowlist", "values": ["i3.xlarge"]},
        "custom_tags.team": {"type": "fixed"},
    }
    SCHEMA.validate({**policy, "spark_conf.spark.speculation": {"type": "fixed", "value": "false"}})
