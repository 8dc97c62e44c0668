"""A client of Connect that sends one request and tells how the server answered."""

from __future__ import annotations

import re
import uuid
from typing import Any

import grpc
from google.protobuf.message import Message
from pyspark.sql.connect.proto import base_pb2, base_pb2_grpc

from surface.server import PATIENCE, USER, Answer, Server, refusal

stubs: Any = base_pb2_grpc


class Connect:
    """One session of a Connect server."""

    def __init__(self, server: Server) -> None:
        options = [("grpc.max_receive_message_length", 64 << 20)]
        self._stub = stubs.SparkConnectServiceStub(grpc.insecure_channel(f"127.0.0.1:{server.port}", options))
        self._session = str(uuid.uuid4())
        service = base_pb2.DESCRIPTOR.services_by_name["SparkConnectService"]
        self._methods = {each.input_type.full_name: each for each in service.methods}

    def send(self, request: Any) -> Answer:
        method = self._methods[request.DESCRIPTOR.full_name]
        if len(request.session_id) < 2:
            request.session_id = self._session
        if not request.user_context.user_id:
            request.user_context.user_id = USER
        call = getattr(self._stub, method.name)
        try:
            answer = call(iter([request]) if method.client_streaming else request, timeout=PATIENCE)
            answers = list(answer) if method.server_streaming else [answer]
        except grpc.RpcError as error:
            text = f"{error.details()} {error.trailing_metadata()}"
            if re.search(r"INVALID_HANDLE|SESSION_(CLOSED|CHANGED)", text):
                self._session = str(uuid.uuid4())
            return refusal(text + self._details(text))
        # A request of ours may have closed the session.
        if method.name in ("ReleaseSession", "CloneSession"):
            self._session = str(uuid.uuid4())
        return Answer("answered", " ".join(_readable(each) for each in answers))

    def _details(self, text: str) -> str:
        """What a client asks for after an error."""
        found = re.search(r"errorId\W+(?:value=)?\W*([0-9a-f-]{36})", text)
        if not found:
            return ""
        request = base_pb2.FetchErrorDetailsRequest(session_id=self._session, error_id=found[1])
        request.user_context.user_id = USER
        try:
            return _readable(self._stub.FetchErrorDetails(request, timeout=PATIENCE))
        except grpc.RpcError as error:
            return str(error.details())


class Statements(Connect):
    """A session that sends statements of SQL."""

    def send(self, request: Any) -> Answer:
        message = base_pb2.ExecutePlanRequest()
        message.plan.root.sql.query = request
        return super().send(message)


def _readable(message: Message) -> str:
    """A message with its rows: Arrow keeps short texts as they are."""
    return str(message.SerializeToString(), "latin-1")
