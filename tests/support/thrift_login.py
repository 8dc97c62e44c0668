"""A login at a Thrift server with any configuration: drivers send some keys of it alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


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
