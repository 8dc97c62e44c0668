"""Sessions of a Thrift server, and logins with a bait in each key of their configuration."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from surface import baits
from surface.baits import Attack
from surface.canary import Canary
from surface.keys import known
from surface.server import PATIENCE, USER, Answer, Server, refusal

#: Of the JDK's documents: what its network, XML, TLS and naming take from system properties.
_SYSTEM = (
    "socksProxyHost", "http.proxyHost", "https.proxyHost", "java.net.useSystemProxies", "javax.net.ssl.trustStore",
    "javax.net.ssl.keyStore", "javax.xml.accessExternalDTD", "java.security.policy", "java.naming.provider.url",
    "java.naming.factory.initial", "java.protocol.handler.pkgs", "java.io.tmpdir", "user.home", "derby.system.home",
    "hadoop.home.dir", "log4j2.configurationFile", "javax.xml.validation.SchemaFactory", "jdk.net.hosts.file",
)  # fmt: skip
_SPARK = (
    "spark.sql.warehouse.dir", "spark.sql.extensions", "spark.sql.catalog.mine", "spark.hadoop.fs.file.impl",
    "spark.jars", "spark.driver.extraClassPath", "spark.sql.streaming.checkpointLocation",
)  # fmt: skip
_MANY = ("path", "class", "URL, thrift", "JDBC, Derby")


def confs(keys: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """Confs that lead somewhere."""
    return (*(key for key in keys["conf"] if "." in key), *_SPARK)


def attacks(home: Path) -> Iterator[Attack]:
    keys = confs(known(home))
    for prefix, own in {
        "set:hiveconf:": keys, "": keys, "set:metaconf:": keys[::9], "set:system:": _SYSTEM,
        "set:hivevar:": ("x",), "set:env:": ("HOME", "PATH"), "set:spark:": _SPARK, "use:": ("database", "catalog"),
    }.items():  # fmt: skip
        for key in own:
            for bait in _MANY if len(own) > 50 else baits.ALL:
                yield _login(f"{prefix}{key}", f"login: {prefix or '(no prefix)'}", bait)


def _login(key: str, kind: str, bait: str) -> Attack:
    return Attack(kind, bait, lambda c, n: {key: baits.ALL[bait](c, n)})


class Session:
    """A session of a Thrift server that runs statements."""

    def __init__(self, server: Server, configuration: Mapping[str, str] | None = None) -> None:
        self._server, self._configuration = server, dict(configuration or {})
        self._open()

    def _open(self) -> None:
        import thrift_sasl
        from pyhive import hive
        from thrift.transport.TSocket import TSocket

        socket = TSocket("127.0.0.1", self._server.port)
        socket.setTimeout(PATIENCE * 1000)
        names = {
            "host": "127.0.0.1",
            "sasl_auth": "PLAIN",
            "service": None,
            "username": USER,
            "password": "x",
        }
        plain = thrift_sasl.TSaslClientTransport(lambda: hive.get_installed_sasl(**names), "PLAIN", socket)
        own = self._configuration
        self._connection = hive.connect(thrift_transport=plain, username=USER, configuration=own)

    def send(self, text: str) -> Answer:
        try:
            with contextlib.closing(self._connection.cursor()) as cursor:
                cursor.execute(text)
                rows: object = None
                with contextlib.suppress(
                    TypeError
                ):  # pyhive's: Spark 3.5 answers some commands without columns
                    rows = cursor.fetchall() if cursor.description else []
                return Answer("answered", f"{rows} {cursor.fetch_logs()}")
        except Exception as error:  # pyhive's, thrift's and those of sockets
            if "TStatus" not in str(error):
                self._open()  # what comes next may be the rest of an answer
            return refusal(str(error))

    def close(self) -> None:
        self._connection.close()


class Client:
    """Logs in with a configuration, and asks what the session knows then."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def send(self, configuration: Mapping[str, str]) -> Answer:
        try:
            session = Session(self._server, configuration)
        except Exception as error:
            return refusal(str(error))
        short = next(iter(configuration)).rpartition(":")[2]
        asked = (f"SELECT '${{{short}}}', '${{hivevar:{short}}}'", f"SET {short}", "SHOW TABLES")
        told = [session.send(text).text for text in asked]
        session.close()
        return Answer("answered", " ".join(told))


def look_at(server: Server, canary: Canary, sent: Mapping[int, object]) -> None:
    """System properties that hold a bait were set by a user."""
    for line in server.properties():
        name, _, text = line.partition("=")
        numbers = {int(found) for found in re.findall(r"canary[/.][nC](\d{5,})", text)}
        for first, second, third in re.findall(r"127\.(\d+)\.(\d+)\.(\d+)", text):
            numbers.add((int(first) << 16) + (int(second) << 8) + int(third))
        for number in numbers & sent.keys():
            canary.found[number].add(f"property {name} set")
