"""What is an override (docs/policies.md): the operator's keys, protected keys and keys that a policy names.

Everything else is free, so that the policy ``None`` leaves an ordinary job runnable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sparkconfig.policy.keys.keys import canonical, fold, generalised
from sparkconfig.policy.keys.units import unit_of
from sparkconfig.policy.keys.values import NotText, same, text_of
from sparkconfig.policy.patterns import Pattern
from sparkconfig.settings.schema import PREFIX

__all__ = ["PROTECTED", "REFLECTION", "Overrides", "is_clients", "is_internal"]

PROTECTED: tuple[str, ...] = (
    # What loads code into the driver before or beside the job, or takes these doors away.
    "spark.plugins",
    "spark.plugins.defaultList",
    "spark.executor.plugins",
    "spark.extraListeners",
    "spark.sql.extensions",
    "spark.sql.queryExecutionListeners",
    "spark.sql.streaming.streamingQueryListeners",
    "spark.streaming.extraListeners",
    "spark.ui.filters",
    "spark.connect.grpc.interceptor.classes",
    "spark.connect.extensions.*",
    # What switches Spark's analyzers, optimizers and data sources to code that asks no policy.
    "spark.sql.analyzer.singlePassResolver.*",
    "spark.sql.analyzer.maxIterations",
    "spark.sql.optimizer.excludedRules",
    "spark.sql.adaptive.optimizer.excludedRules",
    "spark.sql.sources.useV1SourceList",
    "spark.sql.streaming.disabledV2Writers",
    "spark.sql.streaming.disabledV2MicroBatchReaders",
    "spark.sql.streaming.fileStreamSink.ignoreMetadata",
    # Class paths and the JVM's own options.
    "spark.driver.extraClassPath",
    "spark.executor.extraClassPath",
    "spark.driver.extraLibraryPath",
    "spark.executor.extraLibraryPath",
    "spark.driver.userClassPathFirst",
    "spark.executor.userClassPathFirst",
    "spark.driver.extraJavaOptions",
    "spark.executor.extraJavaOptions",
    "spark.driver.defaultJavaOptions",
    "spark.executor.defaultJavaOptions",
    "spark.yarn.am.extraJavaOptions",
    "spark.yarn.am.extraLibraryPath",
    # What hides secrets, and who is let in.
    "spark.redaction.*",
    "spark.sql.redaction.*",
    "spark.authenticate",
    "spark.authenticate.*",
    "spark.network.crypto.*",
    "spark.io.encryption.*",
    "spark.acls.enable",
    "spark.hadoop.hadoop.security.credential.provider.path",
)
"""Keys that a job may not override unless a policy allows it, even if the operator's file does not set them."""

REFLECTION = "sparkconfig.reflect"
"""What SQL's reflect calls, as the driver asks about it: protected on shared servers, and elsewhere free."""

_EXACT = frozenset(fold(name) for name in PROTECTED if "*" not in name)
_PATTERNS = tuple(Pattern(fold(name)) for name in PROTECTED if "*" in name)

# Names of classes, separated by commas: what counts is what a job adds or takes away.
_CLASS_LISTS = frozenset(fold(name) for name in PROTECTED[:10])
_JAVA_OPTIONS = frozenset(fold(name) for name in PROTECTED if name.lower().endswith("javaoptions"))
# What this package appends by itself; by whole name, since a job's jar may hold any package.
_OURS = frozenset(
    {
        "io.sparkconfig.ConfigPlugin",
        "io.sparkconfig.ConfigExtensions",
        "io.sparkconfig.policy.doors.ConnectDoorInterceptor",
        "io.sparkconfig.redaction.sinks.ConnectInterceptor",
        "io.sparkconfig.redaction.sinks.EventLogListener",
        "io.sparkconfig.redaction.sinks.UiFilter",
    }
)

# What Spark's application master on YARN sets in cluster mode: the UI then answers the resource manager's proxy alone.
_SPARK_CLASSES = frozenset(
    {
        "org.apache.hadoop.yarn.server.webproxy.amfilter.AmIpFilter",  # 3.5
        "org.apache.spark.deploy.yarn.AmIpFilter",
    }
)

# What only turns protection on takes nothing away, unless the operator's file says otherwise.
_PROTECTING = {
    "spark.authenticate": "true",
    "spark.network.crypto.enabled": "true",
    "spark.network.crypto.saslfallback": "false",
    "spark.io.encryption.enabled": "true",
    "spark.sql.streaming.filestreamsink.ignoremetadata": "true",
}

# What Spark itself puts into every application's Java options (JavaModuleOptions of 3.5 to 4.3).
_SPARK_JAVA = re.compile(
    r"-XX:\+IgnoreUnrecognizedVMOptions"
    r"|--add-opens=java\.[a-z.]+/[a-z0-9.]+=ALL-UNNAMED"
    r"|--add-modules=jdk\.incubator\.vector"
    r"|--enable-native-access=ALL-UNNAMED"
    r"|--sun-misc-unsafe-memory-access=allow"
    r"|-Djava\.net\.preferIPv6Addresses=(true|false)"
    r"|-Djdk\.reflect\.useDirectMethodHandle=false"
    r"|-Dio\.netty\.(tryReflectionSetAccessible=true|allocator\.type=pooled"
    r"|handler\.ssl\.defaultEndpointVerificationAlgorithm=NONE)"
)

# What only keeps others away from the JVM's memory, and XML from leading elsewhere, as the servers' templates have it.
_PROTECTING_JAVA = frozenset(
    {
        "-XX:+DisableAttachMechanism",
        "-XX:-HeapDumpOnOutOfMemoryError",
        "-XX:-CreateCoredumpOnCrash",
        *(f"-Djavax.xml.accessExternal{what}=" for what in ("DTD", "Schema", "Stylesheet")),
    }
)

# What differs from run to run; an operator's default for it never is what takes effect.
_RUN = frozenset(
    {
        "spark.app.id",
        "spark.app.starttime",
        "spark.app.submittime",
        "spark.app.attempt.id",
        "spark.driver.host",
        "spark.driver.port",
        "spark.executor.id",
        "spark.repl.class.outputdir",
        "spark.repl.class.uri",
        "spark.ui.proxybase",
        "spark.api.mode",
    }
)
_RUN_PREFIXES = (
    "spark.plugins.internal.",
    "spark.app.initial.",
    "spark.yarn.app.",
    "spark.org.apache.",
    "spark.org.sparkproject.",
)

# What spark-submit, the shells, PySpark and SparkContext set in every application, whether the job wants it or not.
_LAUNCHER = frozenset(
    {
        "spark.master",
        "spark.app.name",
        "spark.submit.deploymode",
        "spark.submit.pyfiles",
        "spark.rdd.compress",
        "spark.serializer.objectstreamreset",
        "spark.ui.showconsoleprogress",
        "spark.sql.warehouse.dir",
        "spark.sql.catalogimplementation",
        "spark.sql.artifact.isolation.enabled",
        "spark.hadoop.fs.s3a.vectored.read.min.seek.size",  # SparkContext of 4.0 to 4.2
        "spark.hadoop.fs.s3a.vectored.read.max.merged.size",
    }
)


# What drivers of clients and Spark's servers put into each session, whether its user wants it or not.
_CLIENT = frozenset(
    {
        "spark.hadoop.hive.server2.thrift.resultset.default.fetch.size",  # Hive's JDBC driver, at login
        "spark.sql.binaryoutputstyle",  # the Thrift server and spark-sql, with the first rows
        "spark.sql.datetime.java8api.enabled",  # the Thrift server, at login
    }
)


def is_internal(folded: str) -> bool:
    """Whether Spark sets this key in every application, so that rules about patterns do not mean it."""
    return _is_run(folded) or folded in _LAUNCHER


def is_clients(folded: str) -> bool:
    """Whether a client or a server sets this key in every session, so that rules about patterns do not mean it."""
    return folded in _CLIENT


def _is_run(folded: str) -> bool:
    return folded in _RUN or folded.startswith(_RUN_PREFIXES)


class Overrides:
    """Tells overrides from free properties.

    Args:
        defaults: the confs that the operator's file sets.
        owned: whether there is an operator's file, so that ``spark.config.*`` is the operator's alone.
    """

    def __init__(self, defaults: Mapping[str, str], *, owned: bool) -> None:
        self._defaults = {fold(canonical(name)): text for name, text in defaults.items()}
        self._texts = frozenset(defaults.values())
        self._owned = owned

    def holds_text(self, text: str) -> bool:
        """Whether the operator's file sets some conf to this very text, reference and all."""
        return text in self._texts

    def reason(self, name: str, value: object, *, guessed: bool = False) -> str | None:
        """Why ``name`` (canonical) is an override, or None if it is not one by itself.

        ``own``: it belongs to sparkconfig, and no policy can allow it; ``operator``: the operator's file sets it
        to something else; ``protected``: see :data:`PROTECTED`. What a user of a shared server may have ``guessed``
        is an override even if it is the right value, or being accepted would tell so.
        """
        folded = fold(name)
        given = self._given(folded)
        kept = not guessed and self._unchanged(name, value, given)
        if folded.startswith(PREFIX):
            return "own" if self._owned and not kept else None
        if given is not None:
            return None if kept or _is_run(folded) or is_clients(folded) else "operator"
        if folded in _EXACT or any(pattern.matches(folded) for pattern in _PATTERNS):
            return None if self.adds_nothing(name, value) or _protects(folded, value) else "protected"
        return None

    def is_default(self, name: str, value: object) -> bool:
        """Whether this is the operator's own value, so that a job overrides nothing."""
        given = self._given(fold(name))
        return given is not None and self._unchanged(name, value, given)

    def _given(self, folded: str) -> str | None:
        """What the operator sets for this key, or for all buckets or accounts when this is the key of one."""
        given = self._defaults.get(folded)
        if given is None:
            others = (self._defaults.get(general) for general in generalised(folded))
            given = next((text for text in others if text is not None), None)
        return given

    @staticmethod
    def adds_nothing(name: str, value: object) -> bool:
        """Whether a list of classes or Java options holds only what Spark and this package put there."""
        folded = fold(name)
        try:
            text = text_of(value)
        except NotText:
            return False
        if folded in _CLASS_LISTS:
            return not _classes(text or "")
        if folded in _JAVA_OPTIONS:
            return _PROTECTING_JAVA.issuperset(_options(text or ""))
        return False

    def _unchanged(self, name: str, value: object, given: str | None) -> bool:
        try:
            text = text_of(value)
        except NotText:
            return False
        if text is None or given is None:
            return False
        folded = fold(name)
        if folded in _CLASS_LISTS:
            return _classes(text) == _classes(given)
        if folded in _JAVA_OPTIONS:
            return _options(text) == _options(given)
        return same(text, given, unit_of(name))


def _protects(folded: str, value: object) -> bool:
    """Whether this only turns protection on."""
    try:
        text = text_of(value) if folded in _PROTECTING else None
    except NotText:
        return False
    return text is not None and text.strip().lower() == _PROTECTING[folded]


def _classes(text: str) -> frozenset[str]:
    names = (name.strip() for name in text.split(","))
    return frozenset(name for name in names if name and name not in _OURS | _SPARK_CLASSES)


def _options(text: str) -> list[str]:
    return [option for option in text.split() if _SPARK_JAVA.fullmatch(option) is None]
