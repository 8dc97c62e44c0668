"""A recording API server for Spark's Kubernetes backend, written by us from Kubernetes' public API documentation.

It keeps the objects of one namespace that it is sent, lists them by label, and tells watchers. It is not a cluster: it
knows no rights, no admission and no garbage collection, and nothing runs there; `support.kubelet` starts pods.
"""

from __future__ import annotations

import base64
import copy
import json
import queue
import re
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import yaml

from support.fakes.http_server import FakeHttpServer, Request, Response

Body = dict[str, Any]
_PATH = re.compile(r"/apis?/(?:networking\.k8s\.io/)?v1/namespaces/([^/]+)/([a-z]+)(?:/([^/]+))?(/status)?")
_KINDS = {
    "pods": "Pod", "configmaps": "ConfigMap", "services": "Service", "secrets": "Secret",
    "persistentvolumeclaims": "PersistentVolumeClaim", "networkpolicies": "NetworkPolicy",
}  # fmt: skip


class RecordingKubernetes(FakeHttpServer):
    """Objects that Spark makes; those that a test makes with `put` are the cluster's own.

    Attributes:
        created: what it calls with each new pod, in the request's thread.
        deleted: what it calls with each pod that is gone.
    """

    NAMESPACE = "spark"

    def __init__(self) -> None:
        super().__init__()
        self.created: Callable[[Body], None] = lambda pod: None
        self.deleted: Callable[[Body], None] = lambda pod: None
        self._lock = threading.RLock()
        self._objects: dict[tuple[str, str], Body] = {}
        self._events: list[tuple[int, str, str, Body]] = []
        self._watchers: list[queue.Queue[tuple[int, str, str, Body]]] = []
        self._version = 1

    def recorded(self) -> Iterator[tuple[str, bytes]]:
        """What clients wrote: method with path, and the body as it came."""
        for request in list(self.requests):
            if request.method in ("POST", "PUT", "PATCH"):
                yield f"{request.method} {request.path}", request.body

    def objects(self, plural: str) -> list[Body]:
        """The newest state of each object of a kind that ever was, in the order in which they came."""
        with self._lock:
            newest = {body["metadata"]["name"]: body for _, _, kind, body in self._events if kind == plural}
        return list(newest.values())

    def get(self, plural: str, name: str) -> Body | None:
        """An object that is there."""
        with self._lock:
            return copy.deepcopy(self._objects.get((plural, name)))

    def secret(self, name: str, values: Mapping[str, str]) -> None:
        """Make a Secret, or replace it, as the cluster's users do."""
        data = {key: base64.b64encode(text.encode()).decode() for key, text in values.items()}
        self._put("secrets", {"metadata": {"name": name}, "data": data})

    def pod_status(self, name: str, status: Body) -> None:
        """Say how a pod is, as its kubelet does."""
        with self._lock:
            pod = self.get("pods", name)
            if pod:
                self._put("pods", {**pod, "status": {**pod["status"], **status}})

    def answer(self, request: Request) -> Response:
        match = _PATH.fullmatch(request.path)
        if match is None or match[1] != self.NAMESPACE or match[2] not in _KINDS:
            return _status(404, "NotFound")
        _, plural, name, _ = match.groups()
        if "upgrade" in request.headers:  # a web socket; its client then watches by plain HTTP
            return Response(200)
        answers = {"GET": self._read, "POST": self._post, "PUT": self._replace, "PATCH": self._patch}
        return answers.get(request.method, self._delete)(plural, name, request)

    def _read(self, plural: str, name: str | None, request: Request) -> Response:
        if request.query.get("watch") in ("true", "1"):
            return Response(200, chunks=self._watch(plural, request.query))
        with self._lock:
            if name:
                body = self._objects.get((plural, name))
                return Response.of(body) if body else _status(404, "NotFound")
            fits = _selected(request.query)
            items = [body for (kind, _), body in self._objects.items() if kind == plural and fits(body)]
            version = {"resourceVersion": str(self._version)}
            kind = f"{_KINDS[plural]}List"
            return Response.of({"apiVersion": "v1", "kind": kind, "metadata": version, "items": items})

    def _post(self, plural: str, _: str | None, request: Request) -> Response:
        sent = yaml.safe_load(request.body)
        if self.get(plural, sent["metadata"]["name"]):
            return _status(409, "AlreadyExists")
        return self._made(plural, sent, 201)

    def _patch(self, plural: str, name: str, request: Request) -> Response:
        sent = yaml.safe_load(request.body)
        found = self.get(plural, name)
        if found is None:
            if "apply" not in request.headers["content-type"]:
                return _status(404, "NotFound")
            return self._made(plural, sent, 201)
        if isinstance(sent, list):
            for step in sent:
                _step(found, step)
        else:
            _merge(found, sent)
        return Response.of(self._put(plural, found))

    def _replace(self, plural: str, name: str, request: Request) -> Response:
        return Response.of(self._put(plural, yaml.safe_load(request.body)))

    def _delete(self, plural: str, name: str | None, request: Request) -> Response:
        with self._lock:
            one = {"fieldSelector": f"metadata.name={name}"} if name else {}
            fits = _selected({**request.query, **one})
            gone = [body for (kind, _), body in self._objects.items() if kind == plural and fits(body)]
            for body in gone:
                self._objects.pop((plural, body["metadata"]["name"]))
                self._tell("DELETED", plural, body)
        if plural == "pods":
            for body in gone:
                self.deleted(body)
        if name and not gone:
            return _status(404, "NotFound")
        return Response.of(gone[0]) if name else _status(200, "")

    def _made(self, plural: str, sent: Body, status: int) -> Response:
        body = self._put(plural, sent)
        if plural == "pods":
            self.created(copy.deepcopy(body))
        return Response.of(body, status)

    def _put(self, plural: str, body: Body) -> Body:
        with self._lock:
            place = (plural, body["metadata"]["name"])
            event = "MODIFIED" if place in self._objects else "ADDED"
            body = {"apiVersion": "v1", "kind": _KINDS[plural], **copy.deepcopy(body)}
            known = {"namespace": self.NAMESPACE, "creationTimestamp": "2026-01-01T00:00:00Z"}
            body["metadata"] = {"uid": str(uuid.uuid4()), **known, **body["metadata"]}
            if plural == "pods":
                body.setdefault("status", {"phase": "Pending"})
            self._tell(event, plural, body)
            self._objects[place] = body
            return body

    def _tell(self, event: str, plural: str, body: Body) -> None:
        self._version += 1
        body["metadata"]["resourceVersion"] = str(self._version)
        told = (self._version, event, plural, copy.deepcopy(body))
        self._events.append(told)
        for inbox in self._watchers:
            inbox.put(told)

    def _watch(self, plural: str, query: Mapping[str, str]) -> Iterator[bytes]:
        inbox: queue.Queue[tuple[int, str, str, Body]] = queue.Queue()
        since, fits = int(query.get("resourceVersion") or 0), _selected(query)
        with self._lock:
            self._watchers.append(inbox)
            if since:
                first = [told for told in self._events if told[0] > since]
            else:
                first = [(0, "ADDED", kind, body) for (kind, _), body in self._objects.items()]
        for told in first:
            inbox.put(told)
        while not self.stopping.is_set():
            try:
                _, event, kind, body = inbox.get(timeout=0.05)
            except queue.Empty:
                continue
            if kind == plural and fits(body):
                yield json.dumps({"type": event, "object": body}).encode() + b"\n"


def _selected(query: Mapping[str, str]) -> Callable[[Body], bool]:
    """What label and field selectors of a query say of an object."""
    tests = [_label(text) for text in re.split(r",(?![^(]*\))", query.get("labelSelector", "")) if text]
    field = re.fullmatch(r"metadata\.name==?(.+)", query.get("fieldSelector", ""))

    def fits(body: Body) -> bool:
        labels = body["metadata"].get("labels") or {}
        return (not field or body["metadata"]["name"] == field[1]) and all(test(labels) for test in tests)

    return fits


def _label(text: str) -> Callable[[Mapping[str, str]], bool]:
    if match := re.fullmatch(r"(\S+) (in|notin) \((.*)\)", text):
        key, how, listed = match.groups()
        return lambda labels: (labels.get(key) in listed.split(",")) == (how == "in")
    if match := re.fullmatch(r"([^!=]+)(!=|==?)(.*)", text):
        key, how, value = match.groups()
        return lambda labels: (labels.get(key) == value) == (how != "!=")
    return lambda labels: (text.removeprefix("!") in labels) != text.startswith("!")


def _merge(into: Body, patch: Body) -> None:
    for key, value in patch.items():
        if value is None:
            into.pop(key, None)
        elif isinstance(value, dict) and isinstance(into.get(key), dict):
            _merge(into[key], value)
        else:
            into[key] = value


def _step(body: Body, step: Body) -> None:
    """One step of a JSON patch on objects; Spark's client sends no others."""
    *way, last = (part.replace("~1", "/").replace("~0", "~") for part in step["path"].split("/")[1:])
    for part in way:
        body = body.setdefault(part, {})
    if step["op"] == "remove":
        body.pop(last, None)
    else:
        body[last] = step["value"]


def _status(code: int, reason: str) -> Response:
    what = "Failure" if code >= 400 else "Success"
    body = {"kind": "Status", "apiVersion": "v1", "status": what, "reason": reason, "code": code}
    return Response.of(body, code)
