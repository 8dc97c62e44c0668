"""Stand-ins of ours for stores that no package carries. Each answers as its vendor documents, and is not the store."""

from __future__ import annotations

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
