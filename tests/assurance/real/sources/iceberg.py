"""Iceberg's REST catalog, of SeaweedFS: with the keys that S3 takes, and behind a door that wants bearer tokens."""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
import urllib.error
import urllib.request
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from real.sources.base import CACHE, SPARK, Store
from real.sources.s3 import REGION, SeaweedFs, quiet_port
from support.maven import maven_jars
from support.processes import Run
from support.shim import connector_jar

_SERVICE = "s3tables"
_TOKENS = "/oauth/tokens"


class IcebergRest(SeaweedFs):
    """A user whose pair of keys changes: the catalog's requests are signed with it, and those for files."""

    name = "iceberg-rest"
    title = "Iceberg 1.11: REST catalog of SeaweedFS, SigV4, files by Hadoop's S3A"
    # Iceberg signs with the AWS SDK 2, which Hadoop 3.3 in Spark 3.5 does not bring.
    sparks = ("4.0",)
    extension = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
    _port = 0
    _catalog = "ice"

    def _iceberg(self) -> int:
        self._port = quiet_port()
        return self._port

    def _make_bucket(self) -> None:
        self._admin("s3tables").create_table_bucket(name=self.name)

    def jars(self) -> list[Path]:
        # Iceberg's signer names classes of KMS, which S3A does not need.
        wanted = [
            f"org.apache.iceberg:iceberg-spark-runtime-{SPARK}_2.13:1.11.0",
            "software.amazon.awssdk:kms:2.29.52",
        ]
        found = maven_jars(
            self.run, f"iceberg-runtime-{SPARK}-1.11.0-kms", wanted, cache=CACHE, transitive=False
        )
        return [*super().jars(), *found]

    def confs(self) -> dict[str, str]:
        catalog = {
            "": "org.apache.iceberg.spark.SparkCatalog",
            ".type": "rest",
            ".uri": f"http://127.0.0.1:{self._port}",
            ".warehouse": f"s3://{self.name}",
            ".io-impl": "org.apache.iceberg.hadoop.HadoopFileIO",
            **self._login(),
        }
        return {
            **super().confs(),
            "spark.hadoop.fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
            **{f"spark.sql.catalog.{self._catalog}{key}": text for key, text in catalog.items()},
        }

    def _login(self) -> dict[str, str]:
        return {
            ".rest.auth.type": "sigv4",
            ".rest.auth.sigv4.delegate-auth-type": "none",
            ".rest.signing-name": _SERVICE,
            ".rest.signing-region": REGION,
            ".rest.access-key-id": self.store.reference(f"{self.name}.id"),
            ".rest.secret-access-key": self.store.reference(f"{self.name}.secret"),
        }

    def write(self, spark: Any, numbers: Iterable[int]) -> None:
        spark.sql(f"create namespace if not exists {self._catalog}.shop")
        spark.sql(f"create table if not exists {self._catalog}.shop.numbers (id bigint) using iceberg")
        frame = spark.createDataFrame([(number,) for number in numbers], "id long")
        frame.writeTo(f"{self._catalog}.shop.numbers").append()

    def frame(self, spark: Any) -> Any:
        return spark.table(f"{self._catalog}.shop.numbers")


class IcebergToken(IcebergRest):
    """The same catalog behind a door that knows one token; ours puts the newest one into each request."""

    name = "iceberg-token"
    title = "Iceberg 1.11: the same REST catalog behind a door for bearer tokens"
    extension = ""  # named already
    within = True
    _catalog = "guarded"

    def __init__(self, run: Run, store: Store) -> None:
        self._door: _Door | None = None
        super().__init__(run, store)

    def jars(self) -> list[Path]:
        return [*super().jars(), connector_jar("iceberg")]

    def confs(self) -> dict[str, str]:
        assert self._door is not None
        address = f"http://127.0.0.1:{self._door.server_port}"
        return {**super().confs(), f"spark.sql.catalog.{self._catalog}.uri": address}

    def _login(self) -> dict[str, str]:
        return {
            ".rest.auth.type": "io.sparkconfig.iceberg.ReferenceTokens",
            ".token": self.store.reference(f"{self.name}.token"),
        }

    def append(self, frame: Any) -> None:
        # Its task writes a file; the driver, which alone talks with the catalog, commits it afterwards.
        frame.writeTo(f"{self._catalog}.shop.more").using("iceberg").create()

    def count(self, spark: Any) -> int:
        return int(spark.table(f"{self._catalog}.shop.more").count())

    def rotate(self) -> None:
        super().rotate()
        if self._door is None:
            bait = self.store.reference(f"{self.name}.secret")
            self._door = _Door(f"http://127.0.0.1:{self._port}", *self._keys, bait)
            threading.Thread(target=self._door.serve_forever, daemon=True).start()
        else:
            assert self._door.answered > 0, "no request with a token since the last rotation"
        self._door.token, self._door.answered = secrets.token_urlsafe(24), 0
        self.store.publish({f"{self.name}.token": self._door.token})

    def stop(self) -> None:
        if self._door is not None:
            self._door.shutdown()
            self._door.server_close()


class IcebergCredential(IcebergToken):
    """The same catalog and door; Iceberg's own OAuth2 manager gets the tokens, for a client whose secret changes."""

    within = False
    name = "iceberg-credential"
    title = "Iceberg 1.11: the same REST catalog, tokens that Iceberg's OAuth2 manager gets with a client's secret"
    _catalog = "client"

    def _login(self) -> dict[str, str]:
        assert self._door is not None
        return {
            ".rest.auth.type": "oauth2",
            ".oauth2-server-uri": f"http://127.0.0.1:{self._door.server_port}{_TOKENS}",
            ".credential": f"shop:{self.store.reference(f'{self.name}.client')}",
        }

    def rotate(self) -> None:
        super().rotate()  # the old token ends; the new one goes to the client that has the new secret
        assert self._door is not None
        self._door.bait, self._door.client = "", secrets.token_urlsafe(24)
        self.store.publish({f"{self.name}.client": self._door.client})


class _Door(ThreadingHTTPServer):
    """Refuses what has not the token of the moment, and signs the rest for the catalog.

    Attributes:
        client: the secret of the client ``shop``, who gets the token for it.
    """

    daemon_threads = True

    def __init__(self, behind: str, key: str, secret: str, bait: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behind = behind
        self.keys = key, secret
        self.bait = bait
        self.token = self.client = ""
        self.answered = 0


class _Handler(BaseHTTPRequestHandler):
    server: _Door

    def _pass(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == _TOKENS:
            self._grant(dict(parse_qsl(body.decode())))
            return
        if self.headers.get("Authorization") != f"Bearer {self.server.token}":
            said = b'{"error": {"message": "not this token", "type": "NotAuthorizedException", "code": 401}}'
            self._answer(401, said)
            return
        try:
            with urllib.request.urlopen(self._signed(body), timeout=60) as answer:
                status, text = answer.status, answer.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        self.server.answered += 1
        if self.server.bait and self.path.startswith("/v1/config"):
            # What a server that went over to the enemy would try: to be sent another secret as the token.
            said = json.loads(text)
            said["overrides"] = {**said.get("overrides", {}), "token": self.server.bait}
            text = json.dumps(said).encode()
        self._answer(status, text)

    do_GET = do_POST = do_HEAD = do_DELETE = _pass  # noqa: N815 - the base class's names

    def _grant(self, form: dict[str, str]) -> None:
        """RFC 6749's client credentials."""
        if (form.get("client_id"), form.get("client_secret")) == ("shop", self.server.client):
            made = {"access_token": self.server.token, "token_type": "bearer", "expires_in": 3600}
            self._answer(200, json.dumps(made).encode())
        else:
            self._answer(401, b'{"error": "invalid_client"}')

    def _signed(self, body: bytes) -> urllib.request.Request:
        from botocore.auth import SigV4Auth
        from botocore.awsrequest import AWSRequest
        from botocore.credentials import Credentials

        headers = {"X-Amz-Content-SHA256": hashlib.sha256(body).hexdigest()}
        if body:
            headers["Content-Type"] = "application/json"
        url = self.server.behind + self.path
        request = AWSRequest(method=self.command, url=url, data=body, headers=headers)
        SigV4Auth(Credentials(*self.server.keys), _SERVICE, REGION).add_auth(request)
        return urllib.request.Request(
            url, data=body or None, headers=dict(request.headers), method=self.command
        )

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Requests are not printed."""
