"""A contract fake of the Databricks secrets API, written by us from its public API documentation."""

import base64

from support.fakes.http_server import BODY_MARK, FakeHttpServer, Response


def _failed(status, code):
    return Response.of({"error_code": code, "message": BODY_MARK}, status)


class FakeDatabricks(FakeHttpServer):
    TOKEN = "dapi-0123456789abcdef"

    def __init__(self, tls=None):
        super().__init__(tls)
        self.tokens = {self.TOKEN}
        self.scopes = {}
        self.clients = {}
        self.login_faults = []
        """What goes wrong with the next logins."""

    def put(self, scope, values):
        made = {key: value if isinstance(value, bytes) else value.encode() for key, value in values.items()}
        self.scopes.setdefault(scope, {}).update(made)

    def fault_for(self, request):
        if self.login_faults and request.path == "/oidc/v1/token":
            return self.login_faults.pop(0)
        return super().fault_for(request)

    def answer(self, request):
        if request.path.endswith("/oauth-authorization-server"):
            return Response.of(
                {
                    "authorization_endpoint": f"{self.url}/oidc/v1/authorize",
                    "token_endpoint": f"{self.url}/oidc/v1/token",
                }
            )
        if request.path == "/.well-known/databricks-config":
            return Response.of({"oidc_endpoint": f"{self.url}/oidc"})
        if request.path == "/oidc/v1/token":
            return self._token(request)
        if not request.path.startswith("/api/2.0/secrets/"):
            return _failed(404, "ENDPOINT_NOT_FOUND")
        if request.headers.get("authorization", "").removeprefix("Bearer ") not in self.tokens:
            return _failed(401, "UNAUTHENTICATED")
        scope = request.query.get("scope")
        if scope == "locked":
            return _failed(403, "PERMISSION_DENIED")
        if scope not in self.scopes:
            return _failed(404, "RESOURCE_DOES_NOT_EXIST")
        if request.path == "/api/2.0/secrets/list":
            return Response.of({"secrets": [{"key": key} for key in self.scopes[scope]]})
        key = request.query.get("key")
        if key not in self.scopes[scope]:
            return _failed(404, "RESOURCE_DOES_NOT_EXIST")
        return Response.of({"key": key, "value": base64.b64encode(self.scopes[scope][key]).decode()})

    def _token(self, request):
        credentials = base64.b64decode(request.headers["authorization"].removeprefix("Basic ")).decode()
        if self.clients.get(credentials.partition(":")[0]) != credentials.partition(":")[2]:
            return Response.of({"error": "invalid_client", "error_description": BODY_MARK}, 401)
        token = f"oauth-token-{len(self.tokens):08}"
        self.tokens.add(token)
        return Response.of({"access_token": token, "token_type": "Bearer", "expires_in": 3600})
