"""A contract fake of Azure Data Lake Storage Gen2 for reading, written by us from its public REST documentation."""

import json

from support.fakes.http_server import BODY_MARK, FakeHttpServer, Response

_TIME = "Thu, 01 Jan 2026 00:00:00 GMT"
_VERSION = {"x-ms-request-id": "0", "x-ms-version": "2021-06-08"}


class FakeDataLake(FakeHttpServer):
    """One file system in two accounts: ``token`` is open to a bearer, ``signature`` to a shared access signature.

    As with Azure's own emulator, the account is the first part of the path.

    Attributes:
        token: the newest access token, which alone is good.
        signature: the newest signature (``sig``), likewise.
        refused: how many requests came with another.
    """

    FILE_SYSTEM = "shop"

    def __init__(self, files):
        super().__init__()
        self._files = dict(files)
        self.token = self.signature = ""
        self.refused = 0

    def is_read(self, request):
        """Whether it reads from a file, and neither describes nor lists one."""
        return request.method == "GET" and "resource" not in request.query

    def sent(self, request):
        """Whatever the request logs in with."""
        return request.query.get("sig") or request.headers.get("authorization", "").removeprefix("Bearer ")

    def answer(self, request):
        account, system, name = [*request.path.lstrip("/").split("/", 2), "", ""][:3]
        if self.sent(request) != {"token": self.token, "signature": self.signature}.get(account):
            self.refused += 1
            return self._failure(403, "AuthenticationFailed")
        if system != self.FILE_SYSTEM:
            return self._failure(404, "FilesystemNotFound")
        if request.query.get("resource") == "filesystem":
            return self._listed(request.query.get("directory", "").strip("/"))
        if request.method == "HEAD":
            return self._described(name)
        if name not in self._files:
            return self._failure(404, "PathNotFound")
        return self._content(self._files[name], request.headers.get("range") or request.headers["x-ms-range"])

    def _described(self, name):
        if name in self._files:
            kind, size = "file", len(self._files[name])
        elif self._below(name):
            kind, size = "directory", 0
        else:
            return self._failure(404, "PathNotFound")
        return Response(
            200, b"", {**self._headers(), "x-ms-resource-type": kind, "Content-Length": str(size)}
        )

    def _listed(self, folder):
        found = self._below(folder)
        if not found:
            return self._failure(404, "PathNotFound")
        paths = [
            {
                "name": name, "contentLength": str(len(self._files[name])), "lastModified": _TIME, "etag": "0x1",
                "owner": "$superuser", "group": "$superuser", "permissions": "rw-r-----",
            }
            for name in found
        ]  # fmt: skip
        return Response(200, json.dumps({"paths": paths}).encode(), self._headers("application/json"))

    def _below(self, folder):
        return [name for name in sorted(self._files) if name.startswith(f"{folder}/" if folder else "")]

    def _content(self, whole, span):
        start, _, end = span.removeprefix("bytes=").partition("-")
        start, end = int(start), min(int(end or len(whole) - 1), len(whole) - 1)
        if start >= len(whole):
            return self._failure(416, "InvalidRange")
        headers = {**self._headers(), "Content-Range": f"bytes {start}-{end}/{len(whole)}"}
        return Response(206, whole[start : end + 1], headers)

    @staticmethod
    def _headers(kind="application/octet-stream"):
        owner = {"x-ms-owner": "$superuser", "x-ms-group": "$superuser", "x-ms-permissions": "rwxr-x---"}
        return {"Content-Type": kind, "ETag": '"0x1"', "Last-Modified": _TIME, **owner, **_VERSION}

    def _failure(self, status, code):
        said = json.dumps({"error": {"code": code, "message": BODY_MARK}}).encode()
        return Response(
            status, said, {"Content-Type": "application/json", "x-ms-error-code": code, **_VERSION}
        )
