"""A contract fake of HashiCorp Vault, written by us from its public HTTP API documentation.

It is not a Vault: it covers what the provider uses. tests/support/real_vault.py offers the same arrangements on a real
server, and the tests of tests/integration/stores/vault/test_vault.py run against both.
"""

import datetime as dt
import itertools
import json
from dataclasses import dataclass

from support.fakes.http_server import BODY_MARK, FakeHttpServer, Response

JWT = "the.jwt.text"


def _failed(status):
    return Response.of({"errors": [BODY_MARK]}, status)


@dataclass
class _Lease:
    token: str
    role: str
    password: str


class FakeVault(FakeHttpServer):
    """Tokens see everything but paths below ``locked/``; logins give tokens that end when a test says so."""

    ROOT = "root-token-0123456789"
    MOUNTS = {"kv2": "secret", "kv1": "kv", "dynamic": "database"}  # noqa: RUF012
    real = False

    def __init__(self, tls=None):
        super().__init__(tls)
        self._numbers = itertools.count(1)
        self.tokens = {self.ROOT}
        self.namespace = None
        self.kv1 = {}
        self.kv2 = {}
        self.approles = {}
        self.max_login = 3600
        self.leases = {}
        self.roles = {}
        self.revoked = []
        self.may_renew = True

    # What a test arranges.

    def params(self, engine="kv2", **more):
        """Return params that read one engine with a token that sees everything but ``locked/``."""
        params = {"address": self.url, "engine": engine, "mount": self.MOUNTS[engine]}
        return {**params, **({} if "auth" in more or "token.file" in more else {"token": self.ROOT}), **more}

    def put(self, path, data, seconds=None):
        """Write a new version of ``path`` in the kv2 mount, which deletes itself after ``seconds``."""
        end = dt.datetime.now(dt.timezone.utc) + dt.timedelta(seconds=seconds or 0)
        deletion_time = end.strftime("%Y-%m-%dT%H:%M:%S.123456789Z") if seconds else ""
        version = {"data": data, "deletion_time": deletion_time, "destroyed": False}
        self.kv2.setdefault(path, []).append(version)

    def put_kv1(self, path, data):
        self.kv1[path] = data

    def delete(self, path, version):
        self.kv2[path][version - 1]["deletion_time"] = "2020-01-01T00:00:00.000000Z"

    def destroy(self, path, version):
        self.kv2[path][version - 1]["destroyed"] = True

    def new_token(self):
        """Return a token that can be revoked by itself."""
        token = f"made-token-{next(self._numbers):08}"
        self.tokens.add(token)
        return token

    def revoke_token(self, token):
        self.tokens.discard(token)
        self.leases = {lease: each for lease, each in self.leases.items() if each.token != token}

    def end_logins(self):
        """End every token that a login gave, and with it what it made."""
        for token in [each for each in self.tokens if each.startswith("login-")]:
            self.revoke_token(token)

    def await_end_of_token(self, token):
        """Let a token end by itself."""
        self.revoke_token(token)

    def approle(self, seconds=3600, max_seconds=3600, uses=0):
        """Return the params of an AppRole whose tokens last ``seconds``, and whose secret id ``uses`` logins."""
        self.max_login = max_seconds
        self.approles["role-1"] = ["secret-id-000001", seconds, uses or 1000]
        return {"auth": "approle", "role.id": "role-1", "secret.id": "secret-id-000001"}

    def jwt(self, method):
        """Return the params that log in as the role of a JWT, and the JWT."""
        return {"auth": method, "role": "spark"}, JWT

    def make_namespace(self):
        """Return a namespace in which ``db/prod`` is."""
        self.namespace = "team-a"
        return self.namespace

    def make_role(self, name, seconds=600, max_seconds=600):
        """Let ``creds/NAME`` give database credentials for ``seconds``, renewable up to ``max_seconds``."""
        self.roles[name] = (seconds, max_seconds)

    def await_end_of_lease(self, lease):
        """Let credentials end by themselves."""
        del self.leases[lease]

    def end_leases(self):
        """Revoke all credentials, as an administrator does."""
        self.leases.clear()

    def opens(self, credentials):
        """Whether the database would let somebody in with them."""
        return credentials["password"] in {each.password for each in self.leases.values()}

    # The API.

    def answer(self, request):
        path = request.path.removeprefix("/v1/")
        token = request.headers.get("x-vault-token")
        if path.startswith("auth/") and path.endswith("/login"):
            return self._login(path, request.json())
        if token not in self.tokens:
            return _failed(403)
        if self.namespace and request.headers.get("x-vault-namespace") != self.namespace:
            return _failed(404)
        mount, _, rest = path.partition("/")
        if mount == "auth":
            return self._own_token(rest, token)
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
            return self._credentials(rest.removeprefix("creds/"), token)
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

    def _credentials(self, role, token):
        if role not in self.roles:
            return _failed(400)
        number = next(self._numbers)
        lease = f"database/creds/{role}/{number:08}"
        self.leases[lease] = _Lease(token, role, f"v-password-{number:08}")
        data = {"username": f"v-user-{number:08}", "password": f"v-password-{number:08}"}
        answer = {"lease_id": lease, "lease_duration": self.roles[role][0], "renewable": True, "data": data}
        return Response.of(answer)

    def _lease(self, rest, body):
        lease = body["lease_id"]
        if lease not in self.leases:
            return _failed(400)
        if rest == "leases/renew":
            if not self.may_renew:
                return _failed(403)
            seconds = min(body["increment"], self.roles[self.leases[lease].role][1])
            return Response.of({"lease_id": lease, "lease_duration": seconds, "renewable": True})
        del self.leases[lease]
        self.revoked.append(lease)
        return Response(204)

    def _own_token(self, rest, token):
        if rest == "token/lookup-self":
            return Response.of({"data": {"id": BODY_MARK}})
        if rest == "token/revoke-self":
            self.revoke_token(token)
            return Response(204)
        if rest == "token/renew-self":
            auth = {"client_token": token, "lease_duration": self.max_login, "renewable": True}
            return Response(200, json.dumps({"auth": auth, "data": None}).encode())
        return _failed(404)

    def _login(self, path, body):
        method = path.split("/")[1]
        seconds = 3600
        if method == "approle":
            found = self.approles.get(body.get("role_id"))
            allowed = found and found[0] == body.get("secret_id") and found[2] > 0
            if allowed:
                found[2] -= 1
                seconds = found[1]
        else:
            allowed = (body.get("role"), body.get("jwt")) == ("spark", JWT)
        if not allowed:
            return _failed(400)
        token = f"login-token-{next(self._numbers):08}"
        self.tokens.add(token)
        auth = {"client_token": token, "lease_duration": seconds, "renewable": True}
        return Response(200, json.dumps({"auth": auth, "data": None}).encode())
