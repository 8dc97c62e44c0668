"""A contract fake of Google Cloud Storage's JSON API for reading, written by us from its public documentation."""

import re

from support.fakes.http_server import BODY_MARK, FakeHttpServer, Response


class FakeCloudStorage(FakeHttpServer):
    """One bucket, open to the bearer of the newest token alone.

    Attributes:
        token: the newest one.
        refused: how many requests came with another.
    """

    BUCKET = "shop"

    def __init__(self, objects):
        super().__init__()
        self._objects = dict(objects)
        self.token = ""
        self.refused = 0

    def is_read(self, request):
        """Whether it reads from an object, and neither describes nor lists one."""
        return request.query.get("alt") == "media"

    def answer(self, request):
        if request.headers.get("authorization") != f"Bearer {self.token}":
            self.refused += 1
            return Response.of({"error": {"code": 401, "message": BODY_MARK}}, 401)
        inside = re.fullmatch(rf"/(?:download/)?storage/v1/b/{self.BUCKET}(/o)?(?:/(.*))?", request.path)
        if inside is None:
            return Response.of({"error": {"code": 404, "message": BODY_MARK}}, 404)
        objects, name = inside.groups()
        if not objects:
            return Response.of({"kind": "storage#bucket", "name": self.BUCKET, "location": "EU"})
        if not name:
            return Response.of(self._listed(request.query.get("prefix", ""), request.query.get("delimiter")))
        if name not in self._objects:
            return Response.of({"error": {"code": 404, "message": BODY_MARK}}, 404)
        if request.query.get("alt") != "media":
            return Response.of(self._described(name))
        return self._content(self._objects[name], request.headers.get("range", ""))

    def _described(self, name):
        time = "2026-01-01T00:00:00.000Z"
        return {
            "kind": "storage#object", "name": name, "bucket": self.BUCKET, "size": str(len(self._objects[name])),
            "generation": "1", "metageneration": "1", "timeCreated": time, "updated": time,
            "contentType": "application/octet-stream",
        }  # fmt: skip

    def _listed(self, prefix, delimiter):
        items, folders = [], []
        for name in sorted(self._objects):
            if name.startswith(prefix):
                head, slash, _ = name.removeprefix(prefix).partition(delimiter or "\0")
                if slash:
                    folders.append(f"{prefix}{head}{slash}")
                else:
                    items.append(self._described(name))
        return {"kind": "storage#objects", "items": items, "prefixes": sorted(set(folders))}

    @staticmethod
    def _content(whole, span):
        headers = {"Content-Type": "application/octet-stream", "x-goog-generation": "1"}
        found = re.fullmatch(r"bytes=(\d+)-(\d*)", span)
        if found is None:
            return Response(200, whole, headers)
        start, end = int(found[1]), min(int(found[2] or len(whole) - 1), len(whole) - 1)
        headers["Content-Range"] = f"bytes {start}-{end}/{len(whole)}"
        return Response(206, whole[start : end + 1], headers)
