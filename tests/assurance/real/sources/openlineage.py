"""OpenLineage's listener, which reads its confs itself, against a server that takes a secret path and API keys."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from real.sources.base import CACHE, SPARK, Source, Store
from support.maven import maven_jars
from support.postgres import new_password
from support.processes import Run, wait_until

_VERSION = "1.53.0"


class OpenLineage(Source):
    """A job on local files, of which the server hears; it ends an old key when the next application starts."""

    name = "openlineage"
    title = f"OpenLineage {_VERSION}, its listener, to a server of ours; a new key counts from the next application on"
    listener = "io.openlineage.spark.agent.OpenLineageSparkListener"

    def __init__(self, run: Run, store: Store) -> None:
        super().__init__(run, store)
        self._rows = run.private_dir(self.name) / "rows"
        self._path = f"/{secrets.token_urlsafe(24)}/lineage"
        self._server = _Lineage(self._path)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self._key = new_password()
        store.publish({
            f"{self.name}.url": f"http://127.0.0.1:{self._server.server_port}",
            f"{self.name}.path": self._path,
            f"{self.name}.key": self._key,
        })  # fmt: skip

    def jars(self) -> list[Path]:
        scala = "2.12" if SPARK.startswith("3.") else "2.13"
        wanted = [f"io.openlineage:openlineage-spark_{scala}:{_VERSION}"]
        return maven_jars(self.run, f"openlineage-{scala}-{_VERSION}", wanted, cache=CACHE, transitive=False)

    def confs(self) -> dict[str, str]:
        # An application that starts now reads this key; the ones before end here.
        self._server.keys = {self._key}
        prefix = "spark.openlineage.transport"
        return {
            f"{prefix}.type": "http",
            f"{prefix}.url": self.store.reference(f"{self.name}.url"),
            f"{prefix}.endpoint": self.store.reference(f"{self.name}.path"),
            f"{prefix}.auth.type": "api_key",
            f"{prefix}.auth.apiKey": self.store.reference(f"{self.name}.key"),
            "spark.openlineage.capturedProperties": "spark.master,spark.app.name",
        }

    def write(self, spark: Any, numbers: Iterable[int]) -> None:
        told = self._server.told("outputs", self._rows)
        frame = spark.createDataFrame([(number,) for number in numbers], "id long")
        frame.write.mode("append").parquet(str(self._rows))
        self._hears("outputs", told)

    def frame(self, spark: Any) -> Any:
        told = self._server.told("inputs", self._rows)
        frame = spark.read.schema("id long").parquet(str(self._rows))
        frame.write.mode("overwrite").parquet(str(self._rows.with_name("copy")))
        self._hears("inputs", told)
        return frame

    def _hears(self, side: str, before: int) -> None:
        wait_until(
            f"the server to hear of {side}",
            lambda: self._server.told(side, self._rows) > before,
            timeout=60,
        )
        assert self._server.refused == 0, "the listener sent another key, or to another path"

    def rotate(self) -> None:
        self._key = new_password()
        self.store.publish({f"{self.name}.key": self._key})
        # The listener keeps the key that it read when it started.
        self._server.keys.add(self._key)

    def texts(self) -> Iterable[bytes]:
        return list(self._server.bodies)

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Lineage(ThreadingHTTPServer):
    """OpenLineage's HTTP interface: one event a request.

    Attributes:
        keys: those that are let in.
        refused: how many requests were not.
        bodies: of all requests.
    """

    daemon_threads = True

    def __init__(self, path: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.path = path
        self.keys: set[str] = set()
        self.refused = 0
        self.bodies: list[bytes] = []

    def told(self, side: str, rows: Path) -> int:
        """How many jobs that ended had these rows as input or output."""
        ended = [event for event in map(json.loads, list(self.bodies)) if event["eventType"] == "COMPLETE"]
        return sum(each["name"] == str(rows) for event in ended for each in event.get(side, []))


class _Handler(BaseHTTPRequestHandler):
    server: _Lineage

    def do_POST(self) -> None:
        self.server.bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
        key = (self.headers["Authorization"] or "").removeprefix("Bearer ")
        known = self.path == self.server.path and key in self.server.keys
        self.server.refused += not known
        self.send_response(201 if known else 401)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Requests are not printed."""
