"""A real Vault or OpenBao: mounts, roles and policies of its own, removed at the end.

It is the private OpenBao of :mod:`support.openbao`, unless VAULT_ADDR names a server. VAULT_TOKEN is then a token that
may do everything there, and VAULT_CACERT its authority, if it speaks TLS. What needs something that the server connects
to itself (a database, an API server of Kubernetes) is tested when it runs on this host.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import ssl
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from support.fakes.http_server import FakeHttpServer, Response
from support.fakes.tls import make_tls
from support.postgres import PostgresServer
from support.processes import wait_until

GIVEN = os.environ.get("VAULT_ADDR"), os.environ.get("VAULT_TOKEN"), os.environ.get("VAULT_CACERT")
"""The server that the environment names, read before tests change it."""

_NAME = "sparkconfig-test"
_LOGINS = ("approle", "jwt", "kubernetes")
_POLICY = f"""
path "{_NAME}-kv2/data/*" {{ capabilities = ["read"] }}
path "{_NAME}-kv1/*" {{ capabilities = ["read"] }}
path "{_NAME}-db/creds/*" {{ capabilities = ["read"] }}
path "{_NAME}-kv2/data/locked/*" {{ capabilities = ["deny"] }}
path "{_NAME}-kv1/locked/*" {{ capabilities = ["deny"] }}
path "sys/leases/revoke" {{ capabilities = ["update"] }}
"""
_CREATE = "CREATE ROLE \"{{name}}\" WITH LOGIN PASSWORD '{{password}}' VALID UNTIL '{{expiration}}'"


class RealVault:
    @classmethod
    def of(cls, request: pytest.FixtureRequest) -> RealVault:
        """The server that the environment names, or the private one of these tests."""
        if all(GIVEN[:2]):
            return cls(*GIVEN)
        private = request.getfixturevalue("openbao")
        return cls(private.url, private.token)

    MOUNTS = {"kv2": f"{_NAME}-kv2", "kv1": f"{_NAME}-kv1", "dynamic": f"{_NAME}-db"}  # noqa: RUF012

    def __init__(self, address: str, token: str, ca: str | None = None) -> None:
        self.url = address.rstrip("/")
        self._admin = token
        self._ca = ca
        self._context = ssl.create_default_context(cafile=ca)
        self._reviewer = None
        self.postgres: PostgresServer | None = None
        self._key = ec.generate_private_key(ec.SECP256R1())

    @property
    def local(self):
        return urlsplit(self.url).hostname in {"localhost", "127.0.0.1"}

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        namespace: str | None = None,
        may_fail: bool = False,
    ) -> Any:
        headers = {"X-Vault-Token": self._admin, **({"X-Vault-Namespace": namespace} if namespace else {})}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/v1/{quote(path)}", data, headers, method=method)
        try:
            with urllib.request.urlopen(request, context=self._context, timeout=30) as answer:
                return json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as error:
            if may_fail:
                return None
            raise AssertionError(f"{method} {path}: HTTP {error.code} {error.read()[:300]!r}") from None

    def __enter__(self) -> RealVault:
        self._remove()
        self.call("PUT", f"sys/policies/acl/{_NAME}", {"policy": _POLICY})
        self.call("POST", f"sys/mounts/{_NAME}-kv2", {"type": "kv", "options": {"version": "2"}})
        self.call("POST", f"sys/mounts/{_NAME}-kv1", {"type": "kv", "options": {"version": "1"}})
        for kind in _LOGINS:
            self.call("POST", f"sys/auth/{_NAME}-{kind}", {"type": kind})
        self.ROOT = self.new_token()
        # A new kv2 mount upgrades itself for a moment, and refuses writes meanwhile.
        self.put("first", {"a": "b"})
        return self

    def __exit__(self, *_: object) -> None:
        self._remove()
        if self._reviewer is not None:
            self._reviewer.__exit__()

    def _remove(self):
        self.call("PUT", f"sys/leases/revoke-force/{_NAME}-db", may_fail=True)
        for mount in self.MOUNTS.values():
            self.call("DELETE", f"sys/mounts/{mount}", may_fail=True)
        for kind in _LOGINS:
            self.call("DELETE", f"sys/auth/{_NAME}-{kind}", may_fail=True)
        self.call("DELETE", f"sys/mounts/{_NAME}-kv2", namespace=_NAME, may_fail=True)
        self.call("DELETE", f"sys/namespaces/{_NAME}", may_fail=True)
        self.call("DELETE", f"sys/policies/acl/{_NAME}", may_fail=True)

    def params(self, engine: str = "kv2", **more: str) -> dict[str, str]:
        params = {"address": self.url, "engine": engine, "mount": self.MOUNTS[engine]}
        params |= {"ca.file": self._ca} if self._ca else {}
        params |= {} if "auth" in more or "token.file" in more else {"token": self.ROOT}
        if "auth" in more:
            params["auth.mount"] = f"{_NAME}-{more['auth']}"
        return {**params, **more}

    def put(
        self, path: str, data: Mapping[str, str], seconds: int | None = None, namespace: str | None = None
    ) -> None:
        if seconds:
            after = {"delete_version_after": f"{seconds}s"}
            self.call("POST", f"{_NAME}-kv2/metadata/{path}", after)
        body, end = {"data": data}, time.monotonic() + 10
        while True:
            last = time.monotonic() > end
            if self.call("POST", f"{_NAME}-kv2/data/{path}", body, namespace, not last) is not None:
                return
            time.sleep(0.1)

    def put_kv1(self, path, data):
        self.call("POST", f"{_NAME}-kv1/{path}", data)

    def delete(self, path, version):
        self.call("POST", f"{_NAME}-kv2/delete/{path}", {"versions": [version]})

    def destroy(self, path, version):
        self.call("POST", f"{_NAME}-kv2/destroy/{path}", {"versions": [version]})

    def new_token(self, hours: int = 1):
        body = {"policies": [_NAME], "ttl": f"{hours}h", "no_parent": True}
        answer = self.call("POST", "auth/token/create", body)
        return answer["auth"]["client_token"]

    def revoke_token(self, token):
        self.call("POST", "auth/token/revoke", {"token": token})

    def await_end_of_token(self, token):
        """Wait until the server has ended a token by itself."""
        lookup = "auth/token/lookup"
        wait_until(
            "the end of a token", lambda: self.call("POST", lookup, {"token": token}, may_fail=True) is None,
            timeout=60,
        )  # fmt: skip

    def end_logins(self):
        for kind in _LOGINS:
            self.call("PUT", f"sys/leases/revoke-prefix/auth/{_NAME}-{kind}", {"sync": True})

    def approle(self, seconds=3600, max_seconds=3600, uses=0):
        role = f"auth/{_NAME}-approle/role/spark"
        times = {"token_ttl": seconds, "token_max_ttl": max_seconds, "secret_id_num_uses": uses}
        self.call("POST", role, {"token_policies": [_NAME], **times})
        role_id = self.call("GET", f"{role}/role-id")["data"]["role_id"]
        secret_id = self.call("POST", f"{role}/secret-id", {})["data"]["secret_id"]
        return {"auth": "approle", "role.id": role_id, "secret.id": secret_id}

    def jwt(self, method: str) -> tuple[dict[str, str], str]:
        mount = f"auth/{_NAME}-{method}"
        public = self._key.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        if method == "jwt":
            self.call("POST", f"{mount}/config", {"jwt_validation_pubkeys": [public.decode()]})
            role = {"role_type": "jwt", "user_claim": "sub", "bound_audiences": ["vault"]}
        else:
            if not self.local:
                pytest.skip("the server would have to reach this host")
            self._reviewer = self._reviewer or _TokenReviewer().__enter__()
            config = {"kubernetes_host": self._reviewer.url, "disable_local_ca_jwt": True}
            config["kubernetes_ca_cert"] = _authority()  # OpenBao wants one, for http too
            self.call("POST", f"{mount}/config", {**config, "token_reviewer_jwt": self._token()})
            self._reviewer.token = self._token()
            role = {"bound_service_account_names": ["spark"], "bound_service_account_namespaces": ["shop"]}
        self.call("POST", f"{mount}/role/spark", {**role, "token_policies": [_NAME]})
        return {
            "auth": method,
            "role": "spark",
        }, self._reviewer.token if method == "kubernetes" else self._token()

    def _token(self):
        now = dt.datetime.now(dt.timezone.utc)
        account = {"namespace": "shop", "serviceaccount": {"name": "spark", "uid": "account-uid"}}
        claims = {
            "iss": "https://kubernetes.default.svc",
            "sub": "system:serviceaccount:shop:spark",
            "aud": ["vault"],
            "iat": now,
            "exp": now + dt.timedelta(hours=1),
            "kubernetes.io": account,
        }
        return jwt.encode(claims, self._key, algorithm="ES256")

    def make_namespace(self):
        if self.call("POST", f"sys/namespaces/{_NAME}", {}, may_fail=True) is None:
            pytest.skip("this server has no namespaces")
        self.call("PUT", f"sys/policies/acl/{_NAME}", {"policy": _POLICY}, _NAME)
        self.call("POST", f"sys/mounts/{_NAME}-kv2", {"type": "kv", "options": {"version": "2"}}, _NAME)
        self.put("db/prod", {"username": "alice-0001", "password": "s3cret-value-77"}, namespace=_NAME)
        body = {"policies": [_NAME], "ttl": "1h", "no_parent": True}
        self.ROOT = self.call("POST", "auth/token/create", body, _NAME)["auth"]["client_token"]
        return _NAME

    def make_role(self, name, seconds=600, max_seconds=600):
        if self.postgres is None:
            pytest.skip("the server would have to reach a database on this host")
        if self.call("GET", f"{_NAME}-db/config/shop", may_fail=True) is None:
            self._make_database()
        times = {"default_ttl": seconds, "max_ttl": max_seconds}
        role = {"db_name": "shop", "creation_statements": [_CREATE], **times}
        self.call("POST", f"{_NAME}-db/roles/{name}", role)

    def _make_database(self):
        if not self.postgres.sql(
            "select 1 from pg_roles where rolname = 'vault_admin'"
        ):  # the module's before
            self.postgres.create(role="vault_admin", password="vault-admin-password", database="vault_shop")
            self.postgres.sql("alter role vault_admin superuser")
        self.call("POST", f"sys/mounts/{_NAME}-db", {"type": "database"})
        place = f"127.0.0.1:{self.postgres.port}/vault_shop?sslmode=disable"
        config = {
            "plugin_name": "postgresql-database-plugin",
            "allowed_roles": "*",
            "connection_url": "postgresql://{{username}}:{{password}}@" + place,
            "username": "vault_admin",
            "password": "vault-admin-password",
        }
        self.call("POST", f"{_NAME}-db/config/shop", config)

    def await_end_of_lease(self, lease):
        """Wait until the server has ended a lease by itself."""
        lookup = "sys/leases/lookup"
        wait_until(
            "the end of a lease", lambda: self.call("PUT", lookup, {"lease_id": lease}, may_fail=True) is None,
            timeout=60,
        )  # fmt: skip

    def end_leases(self):
        self.call("PUT", f"sys/leases/revoke-prefix/{_NAME}-db", {"sync": True})

    def opens(self, credentials):
        role, password = credentials["username"], credentials["password"]
        return self.postgres.accepts(role=role, password=password, database="vault_shop")


def _authority():
    with tempfile.TemporaryDirectory() as folder:
        return Path(make_tls(Path(folder)).ca).read_text()


class _TokenReviewer(FakeHttpServer):
    """The one call of a Kubernetes API server that Vault makes: it knows one token."""

    token = None

    def answer(self, request):
        known = request.json()["spec"]["token"] == self.token
        user = {"username": "system:serviceaccount:shop:spark", "uid": "account-uid", "groups": []}
        status = {"authenticated": known, "user": user if known else {}}
        # As a real one answers: those of the audiences asked for that the token is good for.
        status |= {"audiences": request.json()["spec"].get("audiences") or ["vault"]} if known else {}
        review = {"kind": "TokenReview", "apiVersion": "authentication.k8s.io/v1"}
        return Response.of({**review, "status": status}, 201)
