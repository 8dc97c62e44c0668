"""A contract fake of Azure Key Vault and of the token endpoint, written by us from their public documentation."""

from urllib.parse import parse_qs

from support.fakes.http_server import BODY_MARK, FakeHttpServer, Response


def _failed(status, code):
    return Response.of({"error": {"code": code, "message": BODY_MARK}}, status)


class FakeKeyVault(FakeHttpServer):
    TENANT, CLIENT, SECRET = "tenant-1", "client-1", "client-secret-0001"

    def __init__(self, tls):
        super().__init__(tls)
        self.client_secret = self.SECRET
        self.tokens = set()
        self.secrets = {}
        self.disabled = set()
        self.login_faults = []
        """What goes wrong with the next requests to the token endpoint."""

    def put(self, name, value, **attributes):
        """Add a version; its id is its number as 32 digits."""
        versions = self.secrets.setdefault(name, [])
        number = f"{len(versions) + 1:032}"
        versions.append(
            {
                "value": value,
                "id": f"{self.url}/secrets/{name}/{number}",
                "attributes": {"enabled": True, **attributes},
            }
        )
        return number

    def fault_for(self, request):
        if self.login_faults and request.path.endswith("/token"):
            return self.login_faults.pop(0)
        return super().fault_for(request)

    def answer(self, request):
        parts = request.path.strip("/").split("/")
        if parts[0] == self.TENANT:
            return self._login(parts, request)
        if request.headers.get("authorization", "").removeprefix("Bearer ") not in self.tokens:
            challenge = f'Bearer authorization="{self.url}/{self.TENANT}", resource="https://vault.azure.net"'
            failed = _failed(401, "Unauthorized")
            return Response(401, failed.body, {**failed.headers, "WWW-Authenticate": challenge})
        name, version = parts[1], parts[2] if len(parts) > 2 else ""
        if name == "locked" or (name, version) in self.disabled:
            return _failed(403, "Forbidden")
        for secret in reversed(self.secrets.get(name, [])):
            if secret["id"].endswith(version):
                return Response.of(secret)
        return _failed(404, "SecretNotFound")

    def _login(self, parts, request):
        authority = f"{self.url}/{self.TENANT}"
        if parts[-1] == "openid-configuration":
            return Response.of(
                {
                    "authorization_endpoint": f"{authority}/oauth2/v2.0/authorize",
                    "token_endpoint": f"{authority}/oauth2/v2.0/token",
                    "issuer": f"{authority}/v2.0",
                }
            )
        form = {key: values[0] for key, values in parse_qs(request.body.decode()).items()}
        if (form.get("client_id"), form.get("client_secret")) != (self.CLIENT, self.client_secret):
            return Response.of({"error": "invalid_client", "error_description": BODY_MARK}, 401)
        token = f"access-token-{len(self.tokens):08}"
        self.tokens.add(token)
        return Response.of({"token_type": "Bearer", "expires_in": 3600, "access_token": token})
