"""A contract fake of HashiCorp Vault, written by us from its public HTTP API documentation.

It is not a Vault: it covers what tests of faults, of transport and of requests use, which a real server cannot be asked
for. Everything else runs against a real one: tests/support/real_vault.py.
"""

import itertools
import json

from support.fakes.http_server import BODY_MARK, FakeHttpServer, Response

JWT = "the.jwt.text"


def _failed(status):
    return Response.of({"errors": [BODY_MARK]}, status)


class FakeVault(FakeHttpServer):
    """Tokens see everything; what a login gives lasts for an hour."""

    ROOT = "root-token-0123456789"
    MOUNTS = {"kv2": "secret", "kv1": "kv", "dynamic": "database"}  # noqa: RUF012

    def __init__(self, tls=None):
        super().__init__(tls)
        self._numbers = itertools.count(1)
        self.tokens = {self.ROOT}
        self.kv1 = {}
        self.kv2 = {}
        self.leases = set()
        self.roles = set()
        self.approles = {"role-1": "secret-id-000001"}
        self.revoked = []
        self.may_renew = True

    # What a test arranges.

    def params(self, engine="kv2", **more):
        """Return params that read one engine."""
        params = {"address": self.url, "engine": engine, "mount": self.MOUNTS[engine]}
        return {**params, **({} if "auth" in more or "token.file" in more else {"token": self.ROOT}), **more}

    def put(self, path, data):
        self.kv2[path] = data

    def put_kv1(self, path, data):
        self.kv1[path] = data

    def approle(self):
        (role, secret), *_ = self.approles.items()
        return {"auth": "approle", "role.id": role, "secret.id": secret}

    def jwt(self, method):
        """Return the params that log in as the role of a JWT, and the JWT."""
        return {"auth": method, "role": "spark"}, JWT

    def make_role(self, name):
        """Let ``creds/NAME`` give database credentials for ten minutes."""
        self.roles.add(name)

    # The API.

    def answer(self, request):
        path = request.path.removeprefix("/v1/")
        token = request.headers.get("x-vault-token")
        if path.startswith("auth/") and path.endswith("/login"):
            return self._login(path, request.json())
        if token not in self.tokens:
            return _failed(403)
        mount, _, rest = path.partition("/")
        if mount == "auth":
            return self._own_token(rest, token)
        if mount == "sys":
            return self._lease(rest, request.json())
        if request.method != "GET":
            return _failed(405)
        if mount == "kv":
            data = self.kv1.get(rest)
            return Response.of({"lease_duration": 2764800, "data": data}) if data else _failed(404)
        if mount == "secret" and rest.startswith("data/"):
            found = self.kv2.get(rest.removeprefix("data/"))
            metadata = {"version": 1, "deletion_time": "", "destroyed": False}
            content = {"data": {"data": found, "metadata": metadata}}
            return Response.of(content, 200) if found else _failed(404)
        if mount == "database" and rest.startswith("creds/"):
            return self._credentials(rest.removeprefix("creds/"))
        return _failed(404)

    def _credentials(self, role):
        if role not in self.roles:
            return _failed(400)
        number = next(self._numbers)
        lease = f"database/creds/{role}/{number:08}"
        self.leases.add(lease)
        data = {"username": f"v-user-{number:08}", "password": f"v-password-{number:08}"}
        answer = {"lease_id": lease, "lease_duration": 600, "renewable": True, "data": data}
        return Response.of(answer)

    def _lease(self, rest, body):
        lease = body["lease_id"]
        if lease not in self.leases:
            return _failed(400)
        if rest == "leases/renew":
            if not self.may_renew:
                return _failed(403)
            return Response.of({"lease_id": lease, "lease_duration": 600, "renewable": True})
        self.leases.remove(lease)
        self.revoked.append(lease)
        return Response(204)

    def _own_token(self, rest, token):
        if rest == "token/revoke-self":
            self.tokens.discard(token)
            return Response(204)
        return Response.of({"data": {"id": BODY_MARK}}) if rest == "token/lookup-self" else _failed(404)

    def _login(self, path, body):
        if path.split("/")[1] == "approle":
            known = self.approles.get(body.get("role_id")) == body.get("secret_id")
        else:
            known = (body.get("role"), body.get("jwt")) == ("spark", JWT)
        if not known:
            return _failed(400)
        token = f"login-token-{next(self._numbers):08}"
        self.tokens.add(token)
        auth = {"client_token": token, "lease_duration": 3600, "renewable": True}
        return Response(200, json.dumps({"auth": auth, "data": None}).encode())
