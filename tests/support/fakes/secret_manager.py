"""A contract fake of Google Secret Manager, written by us from its public documentation.

It serves the real gRPC service over TLS, with the library's own generated messages.
"""

import json
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.cloud.secretmanager_v1.types import (
    AccessSecretVersionRequest,
    AccessSecretVersionResponse,
    SecretPayload,
)

from support.fakes.http_server import BODY_MARK, FakeHttpServer, Response

_METHOD = "AccessSecretVersion"
_SERVICE = "google.cloud.secretmanager.v1.SecretManagerService"


class FakeSecretManager:
    PROJECT = "shop-project"

    def __init__(self, tls):
        self.secrets = {}
        self.states = {}
        self.requests = []
        self.stopping = threading.Event()
        self._faults = deque()
        handler = grpc.unary_unary_rpc_method_handler(
            self._access,
            request_deserializer=AccessSecretVersionRequest.deserialize,
            response_serializer=AccessSecretVersionResponse.serialize,
        )
        options = [("grpc.max_send_message_length", -1), ("grpc.so_reuseport", 0)]
        self._server = grpc.server(ThreadPoolExecutor(8), options=options)
        self._server.add_generic_rpc_handlers(
            [grpc.method_handlers_generic_handler(_SERVICE, {_METHOD: handler})]
        )
        pair = (Path(tls.key).read_bytes(), Path(tls.certificate).read_bytes())
        port = self._server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([pair]))
        self.endpoint = f"localhost:{port}"
        self.plain_port = self._server.add_insecure_port("127.0.0.1:0")
        """The same without TLS, for whatever ends TLS in front of it."""

    def __enter__(self):
        self._server.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self._server.stop(0).wait()

    def put(self, name, value):
        """Add a version."""
        raw = value if isinstance(value, bytes) else value.encode()
        self.secrets.setdefault(f"projects/{self.PROJECT}/secrets/{name}", []).append(raw)

    def fault(self, *codes):
        """Answer the next calls with these codes; None is silence."""
        self._faults.extend(codes)

    def _access(self, request, context):
        self.requests.append(request.name)
        metadata = dict(context.invocation_metadata())
        if self._faults:
            code = self._faults.popleft()
            if code is None:
                self.stopping.wait(30)
            context.abort(code or grpc.StatusCode.CANCELLED, BODY_MARK)
        if not metadata.get("authorization", "").startswith("Bearer ey"):
            context.abort(grpc.StatusCode.UNAUTHENTICATED, BODY_MARK)
        secret, _, version = request.name.partition("/versions/")
        if secret.endswith("/locked"):
            context.abort(grpc.StatusCode.PERMISSION_DENIED, BODY_MARK)
        versions = self.secrets.get(secret, [])
        number = len(versions) if version == "latest" else int(version)
        if not 1 <= number <= len(versions):
            context.abort(grpc.StatusCode.NOT_FOUND, BODY_MARK)
        if (secret.rpartition("/")[2], number) in self.states:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, BODY_MARK)
        return AccessSecretVersionResponse(
            name=f"{secret}/versions/{number}", payload=SecretPayload(data=versions[number - 1])
        )


class FakeTokens(FakeHttpServer):
    """Google's token endpoint, for credentials that log in."""

    def __init__(self):
        super().__init__()
        self.refuse = False

    def write_federated(self, folder):
        """Write the credentials of a workload identity whose token is in a file; return their path."""
        (folder / "subject-token").write_text("subject-token-0001")
        identity = {
            "type": "external_account",
            "audience": "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/q",
            "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
            "token_url": f"{self.url}/v1/token",
            "credential_source": {"file": str(folder / "subject-token")},
        }
        (folder / "federated.json").write_text(json.dumps(identity))
        return str(folder / "federated.json")

    def answer(self, request):
        if self.refuse:
            return Response.of({"error": "invalid_grant", "error_description": BODY_MARK}, 400)
        return Response.of(
            {
                "access_token": "ey-token-0001",
                "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
                "expires_in": 3600,
                "token_type": "Bearer",
            }
        )


def service_account_file(directory: Path, project: str) -> str:
    """Write the file of a service account that exists nowhere; its key signs tokens without any login."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    account = {
        "type": "service_account",
        "project_id": project,
        "private_key_id": "1",
        "private_key": pem.decode(),
        "client_email": f"spark@{project}.iam.gserviceaccount.com",
        "client_id": "1",
        "token_uri": "https://localhost:9/token",
    }
    file = directory / "account.json"
    file.write_text(json.dumps(account))
    return str(file)
