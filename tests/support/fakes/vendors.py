"""Stand-ins of ours for stores that no package carries. Each answers as its vendor documents, and is not the store."""

from __future__ import annotations

import base64
import itertools
import json
from typing import Any

from support.fakes.http_server import BODY_MARK, FakeHttpServer, Request, Response


class ConnectServer(FakeHttpServer):
    """Ours, from the documentation of 1Password Connect: one vault, and items whose fields have labels."""

    vault = "hfnjv6aymbsnfc2xe7eohiezda"

    def __init__(self) -> None:
        super().__init__()
        self.token = "connect-token-3391"
        self.items: dict[str, dict[str, str]] = {}

    def answer(self, request: Request) -> Response:
        if request.headers.get("authorization") != f"Bearer {self.token}":
            return Response.of({"status": 401, "message": BODY_MARK}, 401)
        vault, _, item = request.path.removeprefix("/v1/vaults/").partition("/items/")
        if vault != self.vault or item not in self.items:
            return Response.of({"status": 404, "message": BODY_MARK}, 404)
        fields: list[dict[str, Any]] = [
            {"id": "notesPlain", "type": "STRING", "purpose": "NOTES", "label": "notesPlain"},
            *(
                {
                    "id": f"id-of-{label}",
                    "type": "CONCEALED",
                    "label": label,
                    "value": value,
                    "section": {"id": "s"},
                }
                for label, value in self.items[item].items()
            ),
        ]
        return Response.of(
            {"id": item, "title": "Shop", "vault": {"id": vault}, "category": "LOGIN", "fields": fields}
        )


class InfisicalServer(FakeHttpServer):
    """Ours, from the schema of Infisical's route ``GET /api/v4/secrets``: one project with folders."""

    project, environment = "5ad2c8f0", "prod"

    def __init__(self) -> None:
        super().__init__()
        self.token = "infisical-token-3392"
        self.folders: dict[str, dict[str, str]] = {}

    def answer(self, request: Request) -> Response:
        if request.headers.get("authorization") != f"Bearer {self.token}":
            return Response.of({"statusCode": 401, "message": BODY_MARK, "error": "TokenError"}, 401)
        query = request.query
        asked = (request.path, query.get("projectId"), query.get("environment"))
        folder = self.folders.get(query.get("secretPath", "/"))
        if asked != ("/api/v4/secrets", self.project, self.environment) or folder is None:
            return Response.of({"statusCode": 404, "message": BODY_MARK, "error": "NotFound"}, 404)
        secrets = [
            {
                "id": f"id-{key}", "workspace": self.project, "environment": self.environment, "version": 1,
                "type": "shared", "secretKey": key, "secretValue": value, "secretComment": "",
                "secretValueHidden": False, "secretPath": query["secretPath"], "tags": [],
            }
            for key, value in folder.items()
        ]  # fmt: skip
        return Response.of({"secrets": secrets, "imports": []})


class DopplerServer(FakeHttpServer):
    """Ours, from the documentation of Doppler's API: projects whose config ``prd`` holds secrets."""

    def __init__(self) -> None:
        super().__init__()
        self.token = "dp.st.prd.token3393"
        self.projects: dict[str, dict[str, str]] = {}

    def answer(self, request: Request) -> Response:
        if request.headers.get("authorization") != f"Bearer {self.token}":
            return Response.of({"messages": [BODY_MARK], "success": False}, 401)
        asked = (request.path, request.query.get("config"), request.query.get("format"))
        secrets = self.projects.get(request.query.get("project", ""))
        if asked != ("/v3/configs/config/secrets/download", "prd", "json") or secrets is None:
            return Response.of({"messages": [BODY_MARK], "success": False}, 404)
        system = {
            "DOPPLER_PROJECT": request.query["project"],
            "DOPPLER_CONFIG": "prd",
            "DOPPLER_ENVIRONMENT": "prd",
        }
        return Response.of({**system, **secrets})


class ConjurServer(FakeHttpServer):
    """Ours, from the documentation of Conjur's API: one host with an API key, and variables."""

    account, host = "shop", "host/spark"

    def __init__(self, tls: Any) -> None:
        super().__init__(tls)
        self.api_key = "conjur-key-3394"
        self.variables: dict[str, str] = {}
        self._tokens: set[str] = set()
        self._numbers = itertools.count(1)

    def answer(self, request: Request) -> Response:
        if request.path == f"/authn/{self.account}/{self.host}/authenticate":
            if request.method != "POST" or request.body.decode() != self.api_key:
                return Response(401)
            token = json.dumps(
                {"protected": "e30=", "payload": f"{next(self._numbers)}", "signature": "c2ln"}
            )
            self._tokens.add(base64.b64encode(token.encode()).decode())
            return Response(200, token.encode())
        named = request.headers.get("authorization", "").removeprefix('Token token="').removesuffix('"')
        if named not in self._tokens:
            return Response(401)
        value = self.variables.get(request.path.removeprefix(f"/secrets/{self.account}/variable/"))
        if value is None:
            return Response.of({"error": {"code": "not_found", "message": BODY_MARK}}, 404)
        return Response(200, value.encode(), {"Content-Type": "application/octet-stream"})


#: Ours, from the documentation of Bitwarden Secrets Manager: what ``bws secret get ID --output json`` prints.
BWS = """\
import json, os, pathlib, sys

store = json.loads(pathlib.Path(__file__).with_name("bws.json").read_text())
if sys.argv[1:3] != ["secret", "get"] or sys.argv[4:] != ["--output", "json"]:
    sys.exit(2)
if os.environ.get("BWS_ACCESS_TOKEN") != store["token"]:
    sys.exit("Error: " + store["mark"])
secret = store["secrets"].get(sys.argv[3])
if secret is None:
    sys.exit("Error: " + store["mark"])
print(json.dumps({
    "object": "secret", "id": sys.argv[3], "organizationId": "10e8cbfa", "projectId": "e325ea69",
    "key": "DB_PASSWORD", "value": secret, "note": "", "creationDate": "2026-01-01T00:00:00Z",
    "revisionDate": "2026-01-01T00:00:00Z",
}, indent=2))
"""
