"""A login at a Thrift server with any configuration: drivers send some keys of it alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: What a login may bring, with what it would do.
REFUSED_LOGINS = {
    "set:system:socksProxyHost": "evil.example",
    "set:system:javax.net.ssl.trustStore": "/tmp/own",
    "set:hiveconf:javax.jdo.option.ConnectionURL": "jdbc:derby:memory:mine;create=true",
    "set:hiveconf:hive.metastore.uris": "thrift://evil.example:9083",
    "hive.metastore.uris": "thrift://evil.example:9083",
    "set:hiveconf:hive.exec.post.hooks": "com.acme.Own",
    "set:hiveconf:spark.hadoop.fs.defaultFS": "s3a://evil",
    "set:hiveconf:system:socksProxyHost": "evil.example",
    "set:metaconf:hive.metastore.event.listeners": "com.acme.Own",
    "set:hivevar:x": "${env:HOME}",
    "set:hivevar:hive.exec.post.hooks": "com.acme.Own",
    "set:hivevar:spark.hadoop.fs.defaultFS": "s3a://evil",
    "set:hivevar:${system:user.home}": "x",
    "SET:system:socksProxyHost": "evil.example",
    "set:env:HOME": "x",
    "use:database": "default; ADD JAR x",
    # Parts of paths: when such a session ended, Hive would delete a folder of the server's.
    "hive.session.id": "../shop",
    "set:hiveconf:hive.session.id": "/srv/shop",
    "HIVE.SESSION.ID": "00000000-0000-0000-0000-000000000000",
    "hive.downloaded.resources.dir": "/srv/shop",
    "_hive.local.session.path": "/srv/shop",
    "hive.query.string": "SELECT 1",
}
#: Answered like any other: a conf of the server's that no user sees, and its value.
GUESSED_LOGINS = {
    "spark.acme.region": ("eu-west", "us-east"),
    "set:hiveconf:spark.acme.region": ("eu-west", "us-east"),
    "set:hivevar:spark.acme.region": ("eu-west", "us-east"),
    "set:hivevar:spark.sql.sources.fileCompressionFactor": ("1.0", "2.0"),
    "spark.acme.wait": ("5m", "300s", "6m"),
    "spark.config.connections.hidden.format": ("jdbc", "kafka"),
    "spark.sql.catalog.hidden_catalog.sparkconfig.connection": ("hidden", "shop"),
    "hive.exec.scratchdir": ("{folder}/thrift/scratch", "/tmp"),
}
HONEST_LOGINS = {
    "use:database": "default",
    "set:hiveconf:spark.sql.shuffle.partitions": "3",
    "set:hiveconf:hive.server2.thrift.resultset.default.fetch.size": "1000",
    # As Kyuubi's driver does.
    "kyuubi.client.version": "1.9.2",
    "kyuubi.client.ipAddress": "10.0.0.7",
}


def open_session(connection: Any, configuration: Mapping[str, str]) -> str | None:
    """Open one more session through a JDBC connection's own client; why it was refused, None if it was not."""
    field = connection.getClass().getDeclaredField("client")
    field.setAccessible(True)
    client = field.get(connection)
    jvm = connection._gateway_client  # the JVM that the connection lives in
    from py4j.java_gateway import JavaGateway

    gateway = JavaGateway(gateway_client=jvm)
    request = gateway.jvm.org.apache.hive.service.rpc.thrift.TOpenSessionReq()
    texts = gateway.jvm.java.util.HashMap()
    for key, text in configuration.items():
        texts.put(key, text)
    request.setConfiguration(texts)
    request.setUsername("ann")
    request.setPassword("")
    answer = client.OpenSession(request)
    status = answer.getStatus()
    if status.getStatusCode().toString() in ("SUCCESS_STATUS", "SUCCESS_WITH_INFO_STATUS"):
        close = gateway.jvm.org.apache.hive.service.rpc.thrift.TCloseSessionReq(answer.getSessionHandle())
        client.CloseSession(close)
        return None
    return f"{status.getSqlState()} {status.getErrorMessage()} {status.getInfoMessages()}"
