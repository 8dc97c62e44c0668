"""A contract fake of HashiCorp Vault, written by us from its public HTTP API documentation.

It is no Vault: it covers what the provider uses. The tests of tests/integration/stores/test_vault.py run the
same assertions against a real server when VAULT_ADDR is set.
"""

import datetime as dt
import itertools
import json

from support.fakes.http_server import BODY_MARK, FakeHttpServer, Response


def _failed(status):
    return Response.of({"errors": [BODY_MARK]}, status)


class FakeVault(FakeHttpServer):
    """Tokens see everything but paths below ``locked/``; logins give tokens that end when a test says so."""

    ROOT = "root-token-0123456789"

    def __init__(self, tls=None):
        super().__init__(tls)
        self._numbers = itertools.count(1)
        self.tokens = {self.ROOT}
        self.namespace = None
        self.kv1 = {}
        self.kv2 = {}
        self.approles = {}
        self.jwts = {}
        self.login_seconds = 3600
        self.lease_seconds = 600
        self.max_renewal = 600
        self.leases = {}
        self.revoked = []

    # What a test arranges.

    def put(self, path, data, **metadata):
        """Write a new version of ``path`` in the kv2 mount ``secret``."""
        self.kv2.setdefault(path, []).append(
            {"data": data, "deletion_time": "", "destroyed": False, **metadata}
        )

    def delete(self, path, version):
        self.kv2[path][version - 1]["deletion_time"] = "2020-01-01T00:00:00.000000Z"

    def destroy(self, path, version):
        self.kv2[path][version - 1]["destroyed"] = True

    def expire_tokens(self):
        """End every token that a login gave."""
        self.tokens = {self.ROOT}

    # The API.

    def answer(self, request):
        path = request.path.removeprefix("/v1/")
        if path.startswith("auth/"):
            return self._login(path, request.json())
        if request.headers.get("x-vault-token") not in self.tokens:
            return _failed(403)
        if self.namespace and request.headers.get("x-vault-namespace") != self.namespace:
            return _failed(404)
        mount, _, rest = path.partition("/")
        if mount == "sys":
            return self._lease(rest, request.json())
        if request.method != "GET":
            return _failed(405)
        if rest.removeprefix("data/").startswith("locked/"):
            return _failed(403)
        if mount == "kv":
            data = self.kv1.get(rest)
            return Response.of({"lease_duration": 2764800, "data": data}) if data else _failed(404)
        if mount == "secret" and rest.startswith("data/"):
            return self._version(rest.removeprefix("data/"), request.query)
        if mount == "database" and rest.startswith("creds/"):
            return self._credentials(rest)
        return _failed(404)

    def _version(self, path, query):
        versions = self.kv2.get(path, [])
        number = int(query.get("version", 0)) or len(versions)
        if not 1 <= number <= len(versions):
            return _failed(404)
        found = versions[number - 1]
        metadata = {
            "version": number,
            "deletion_time": found["deletion_time"],
            "destroyed": found["destroyed"],
            "created_time": "2024-01-01T00:00:00.000000000Z",
        }
        now = dt.datetime.now(dt.timezone.utc).isoformat()
        gone = found["destroyed"] or (found["deletion_time"] and found["deletion_time"] < now)
        content = {"data": {"data": None if gone else found["data"], "metadata": metadata}}
        return Response.of(content, 404 if gone else 200)

    def _credentials(self, rest):
        number = next(self._numbers)
        lease = f"database/{rest}/{number:08}"
        self.leases[lease] = self.lease_seconds
        data = {"username": f"v-user-{number:08}", "password": f"v-password-{number:08}"}
        answer = {"lease_id": lease, "lease_duration": self.lease_seconds, "renewable": True, "data": data}
        return Response.of(answer)

    def _lease(self, rest, body):
        lease = body["lease_id"]
        if lease not in self.leases:
            return _failed(400)
        if rest == "leases/renew":
            seconds = min(body["increment"], self.max_renewal)
            return Response.of({"lease_id": lease, "lease_duration": seconds, "renewable": True})
        del self.leases[lease]
        self.revoked.append(lease)
        return Response(204)

    def _login(self, path, body):
        method = path.split("/")[1]
        if method == "approle":
            allowed = self.approles.get(body.get("role_id")) == body.get("secret_id")
        else:
            allowed = self.jwts.get(body.get("role")) == body.get("jwt")
        if not allowed:
            return _failed(400)
        token = f"login-token-{next(self._numbers):08}"
        self.tokens.add(token)
        auth = {"client_token": token, "lease_duration": self.login_seconds, "renewable": True}
        return Response(200, json.dumps({"auth": auth, "data": None}).encode())
