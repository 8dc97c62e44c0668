"""A contract fake of the Kubernetes API server, written by us from its public API documentation.

Secrets and ConfigMaps: read, and list with watch. It is not a cluster: no admission, no RBAC beyond one token and
a forbidden namespace. tests/support/kubernetes_api.py offers the same arrangements on kmock and on a real API server.
"""

import base64
import json
import queue
import re

from support.fakes.http_server import BODY_MARK, FakeHttpServer, Response

_ONE = re.compile(r"/api/v1/namespaces/([^/]+)/(secrets|configmaps)/([^/]+)")
_MANY = re.compile(r"/api/v1/namespaces/([^/]+)/(secrets|configmaps)")
_KINDS = {"secrets": "Secret", "configmaps": "ConfigMap"}


class FakeKubernetes(FakeHttpServer):
    ca = None
    denies = True

    def __init__(self, tls=None):
        super().__init__(tls)
        self.token = "service-account-token-01"
        self.objects = {}
        self.version = 1
        self.may_watch = True
        self._watchers = []

    def put(self, namespace, name, values, kind="secrets", binary=None):
        """Create or replace an object, and tell the watchers."""
        self.version += 1
        body = {
            "apiVersion": "v1",
            "kind": _KINDS[kind],
            "metadata": {"name": name, "namespace": namespace, "resourceVersion": str(self.version)},
        }
        if kind == "secrets":
            data = {
                key: value if isinstance(value, bytes) else value.encode() for key, value in values.items()
            }
            body["data"] = {key: base64.b64encode(value).decode() for key, value in data.items()}
        else:
            body["data"] = values
            body["binaryData"] = {
                key: base64.b64encode(value).decode() for key, value in (binary or {}).items()
            }
        event = "MODIFIED" if (namespace, kind, name) in self.objects else "ADDED"
        self.objects[namespace, kind, name] = body
        self._tell(event, namespace, kind, name, body)

    def delete(self, namespace, name, kind="secrets"):
        self._tell("DELETED", namespace, kind, name, self.objects.pop((namespace, kind, name)))

    def end_watches(self):
        """Close every open watch, as a server does that restarts."""
        for _, inbox in self._watchers:
            inbox.put(None)

    def _tell(self, event, namespace, kind, name, body):
        line = json.dumps({"type": event, "object": body}).encode() + b"\n"
        for place, inbox in self._watchers:
            if place == (namespace, kind, f"metadata.name={name}"):
                inbox.put(line)

    def answer(self, request):
        if request.headers.get("authorization") != f"Bearer {self.token}":
            return _status(401)
        if one := _ONE.fullmatch(request.path):
            namespace, kind, name = one.groups()
            if namespace.endswith("locked"):
                return _status(403)
            body = self.objects.get((namespace, kind, name))
            return Response.of(body) if body else _status(404)
        if (many := _MANY.fullmatch(request.path)) and request.query.get("watch") == "True":
            return (
                self._watch(*many.groups(), request.query["fieldSelector"])
                if self.may_watch
                else _status(403)
            )
        return _status(404)

    def _watch(self, namespace, kind, selector):
        inbox = queue.Queue()
        place = (namespace, kind, selector)
        body = self.objects.get((namespace, kind, selector.removeprefix("metadata.name=")))
        if body:
            inbox.put(json.dumps({"type": "ADDED", "object": body}).encode() + b"\n")
        self._watchers.append((place, inbox))

        def lines():
            while not self.stopping.is_set():
                try:
                    line = inbox.get(timeout=0.05)
                except queue.Empty:
                    continue
                if line is None:
                    return
                yield line

        return Response(200, chunks=lines())


def _status(code):
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": BODY_MARK, "code": code}
    return Response.of(body, code)
