"""JDBC URLs as their drivers read them, as far as that is certain.

Drivers have parameters that choose another server, load a class, read a file or name a proxy. So a parameter counts as
harmless only if it is listed here; everything else makes the destination unclear.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from sparkconfig.policy.destinations.places import Place, UnclearError, hosts_of, path_of

__all__ = ["DRIVERS", "Dialect", "is_known", "place_of"]

_OURS = "jdbc:sparkconfig:"
_WRITTEN = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True)
class Dialect:
    """How one driver reads URLs.

    Attributes:
        port: the port that it uses by default.
        classes: the driver's classes.
        harmless: parameters, in lower case, that change neither server nor code.
        read: splits the rest of the URL, after ``jdbc:NAME:``, into hosts, path and parameters.
    """

    port: int
    classes: frozenset[str]
    harmless: frozenset[str]
    read: Callable[[str], tuple[str, str, list[str]]]


def _slashes(rest: str) -> tuple[str, str, list[str]]:
    """``//hosts/database?a=b&c=d``."""
    if not rest.startswith("//"):
        raise UnclearError("it names no host")
    body, _, query = rest[2:].partition("?")
    hosts, _, path = body.partition("/")
    return hosts, path, query.split("&") if query else []


def _sqlserver(rest: str) -> tuple[str, str, list[str]]:
    """``//host:port;databaseName=a;b=c``."""
    if not rest.startswith("//") or "{" in rest or "?" in rest:
        raise UnclearError("it is not //host:port;name=value")
    server, *parameters = rest[2:].split(";")
    path, others = "", []
    for each in filter(None, parameters):
        name, _, value = each.partition("=")
        if name.strip().lower() in ("databasename", "database"):
            if path:
                raise UnclearError("it names two databases")
            path = value.strip()
        else:
            others.append(each)
    if "/" in server.rstrip("/"):
        raise UnclearError("it is not //host:port;name=value")
    return server.rstrip("/"), path, others


def _db2(rest: str) -> tuple[str, str, list[str]]:
    """``//host:port/database:a=b;c=d;``."""
    if not rest.startswith("//") or "?" in rest:
        raise UnclearError("it is not //host:port/database")
    hosts, _, body = rest[2:].partition("/")
    path, _, parameters = body.partition(":")
    return hosts, path, [each for each in parameters.split(";") if each]


def _oracle(rest: str) -> tuple[str, str, list[str]]:
    """``thin:@//host:port/service`` and ``thin:@host:port:sid``; nothing with descriptors, aliases or a user."""
    kind, _, server = rest.partition(":@")
    if kind.lower() != "thin" or "?" in server or "@" in server:
        raise UnclearError("it is not thin:@//host:port/service")
    if server.startswith("//"):
        hosts, _, path = server[2:].partition("/")
        if ":" in path:
            raise UnclearError("it is not thin:@//host:port/service")
        return hosts, path, []
    parts = server.split(":")
    if len(parts) == 3 and "," not in server and "/" not in server:
        return f"{parts[0]}:{parts[1]}", f"sid/{parts[2]}", []
    raise UnclearError("it is not thin:@//host:port/service")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.lower().split())


_POSTGRES = _words("""
    user password ssl sslmode ApplicationName connectTimeout socketTimeout loginTimeout cancelSignalTimeout tcpKeepAlive
    tcpNoDelay defaultRowFetchSize prepareThreshold preparedStatementCacheQueries preparedStatementCacheSizeMiB
    reWriteBatchedInserts currentSchema stringtype targetServerType loadBalanceHosts hostRecheckSeconds readOnly
    readOnlyMode assumeMinServerVersion binaryTransfer preferQueryMode autosave escapeSyntaxCallMode
    databaseMetadataCacheFields logUnclosedConnections receiveBufferSize sendBufferSize unknownLength
    disableColumnSanitiser quoteReturningIdentifiers hideUnprivilegedObjects adaptiveFetch
""")
_MYSQL = _words("""
    user password useSSL requireSSL sslMode connectTimeout socketTimeout characterEncoding useUnicode serverTimezone
    connectionTimeZone forceConnectionTimeZoneToSession zeroDateTimeBehavior rewriteBatchedStatements useCursorFetch
    defaultFetchSize tinyInt1isBit transformedBitIsBoolean yearIsDateType tcpKeepAlive tcpNoDelay useServerPrepStmts
    cachePrepStmts prepStmtCacheSize prepStmtCacheSqlLimit useCompression autoReconnect maxReconnects
    useInformationSchema nullCatalogMeansCurrent useLegacyDatetimeCode preserveInstants connectionCollation
""")
_SQLSERVER = _words("""
    user userName password encrypt trustServerCertificate loginTimeout applicationName socketTimeout queryTimeout
    lockTimeout sendStringParametersAsUnicode applicationIntent multiSubnetFailover packetSize responseBuffering
    selectMethod sendTimeAsDatetime useBulkCopyForBatchInsert
""")
#: Parameters that lead elsewhere or load code, and that a message may name.
_TELLING = _words("""
    socketFactory socketFactoryArg sslfactory sslfactoryarg sslhostnameverifier authenticationPluginClassName
    autoDeserialize allowLoadLocalInfile allowUrlInLocalInfile queryInterceptors connectionLifecycleInterceptors
    propertiesTransform socksProxyHost loggerFile options service serverName portNumber failoverPartner proxyHost
    sslrootcert sslkey sslcert sslpasswordcallback jaasApplicationName kerberosServerName gssEncMode
    trustStore trustStoreUrl trustCertificateKeyStoreUrl clientCertificateKeyStoreUrl serverRSAPublicKeyFile
    clientRerouteAlternateServerName clientRerouteServerListJNDIName traceFile traceDirectory
    trustManagerClass socketFactoryClass localSocket pipe serverSslCert keyStore restrictedMode tracing
""")
DRIVERS: Mapping[str, Dialect] = {
    "postgresql": Dialect(5432, frozenset({"org.postgresql.Driver"}), _POSTGRES, _slashes),
    "redshift": Dialect(
        5439,
        frozenset(
            {
                "com.amazon.redshift.jdbc.Driver",
                "com.amazon.redshift.jdbc42.Driver",
                "com.amazon.redshift.Driver",
            }
        ),
        _words(
            "user password ssl sslmode loginTimeout socketTimeout tcpKeepAlive ApplicationName currentSchema"
        ),
        _slashes,
    ),
    "mysql": Dialect(
        3306, frozenset({"com.mysql.cj.jdbc.Driver", "com.mysql.jdbc.Driver"}), _MYSQL, _slashes
    ),
    "mariadb": Dialect(
        3306,
        frozenset({"org.mariadb.jdbc.Driver"}),
        _words(
            "user password useSsl sslMode connectTimeout socketTimeout tcpKeepAlive rewriteBatchedStatements"
        ),
        _slashes,
    ),
    "sqlserver": Dialect(
        1433, frozenset({"com.microsoft.sqlserver.jdbc.SQLServerDriver"}), _SQLSERVER, _sqlserver
    ),
    "db2": Dialect(
        50000,
        frozenset({"com.ibm.db2.jcc.DB2Driver"}),
        _words("user password currentSchema sslConnection loginTimeout blockingReadConnectionTimeout"),
        _db2,
    ),
    "oracle": Dialect(
        1521,
        frozenset({"oracle.jdbc.OracleDriver", "oracle.jdbc.driver.OracleDriver"}),
        _words("user password oracle.net.CONNECT_TIMEOUT oracle.jdbc.ReadTimeout defaultRowPrefetch"),
        _oracle,
    ),
    "snowflake": Dialect(
        443,
        frozenset(
            {"net.snowflake.client.jdbc.SnowflakeDriver", "net.snowflake.client.api.driver.SnowflakeDriver"}
        ),
        _words("user password db schema warehouse role loginTimeout networkTimeout queryTimeout"),
        _slashes,
    ),
}
"""What follows ``jdbc:`` to how its driver reads the rest."""


def is_known(url: str) -> bool:
    """Whether the driver's grammar is known."""
    return _split(url)[0] in DRIVERS


def place_of(url: str, properties: Iterable[str] = (), driver: str | None = None) -> Place:
    """Where a connection goes.

    Args:
        url: the URL, without references.
        properties: the names of everything else that the driver gets.
        driver: the driver's class, if it was chosen.

    Raises:
        UnclearError: it cannot be said for certain.
    """
    name, rest = _split(url)
    dialect = DRIVERS.get(name)
    if dialect is None:
        raise UnclearError("the URLs of its driver are not known here: give the rule the exact URL")
    hosts, path, parameters = dialect.read(rest)
    for parameter in parameters:
        name_ = parameter.partition("=")[0].strip()
        # What a password in clear leaves behind its "&" or ";" looks like a parameter, too.
        shown = f"its URL's parameter '{name_}'" if name_.lower() in _TELLING else "a parameter of its URL"
        _require_harmless(dialect, name_, shown)
    for property_ in properties:
        _require_harmless(dialect, property_, f"the option '{_printable(property_)}'")
    if driver is not None and driver not in dialect.classes:
        raise UnclearError("the option 'driver' is not the class of the driver that this URL belongs to")
    return Place(
        f"jdbc:{name}",
        hosts_of(hosts, dialect.port),
        path_of(f"/{path}" if path else ""),
        default_port=dialect.port,
    )


def _require_harmless(dialect: Dialect, name: str, shown: str) -> None:
    if name.lower() not in dialect.harmless:
        raise UnclearError(f"{shown} could lead elsewhere or load code")


def _printable(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_.-]{1,60}", name) else "?"


def _split(url: str) -> tuple[str, str]:
    if "${" in url or "$[" in url:
        raise UnclearError("its URL holds a reference")
    if not _WRITTEN.fullmatch(url):
        raise UnclearError("its URL holds blanks or characters that are not ASCII")
    plain = "jdbc:" + url[len(_OURS) :] if url.lower().startswith(_OURS) else url
    scheme, _, rest = plain.partition(":")
    if scheme.lower() != "jdbc":
        raise UnclearError("its URL does not begin with jdbc:")
    name, _, rest = rest.partition(":")
    return name.lower(), rest
