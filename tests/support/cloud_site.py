"""An application with keys for three clouds, which change all at once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparkconfig._spark import driver
from support.fakes.cloud_storage import FakeCloudStorage
from support.fakes.data_lake import FakeDataLake
from support.fakes.fault_proxy import FaultProxy
from support.one_task import one_task
from support.processes import wait_until

if TYPE_CHECKING:
    from support.fakes.moto_server import Moto

USER = "spark"


@dataclass
class Site:
    """The application, its stores, and its user's current keys and all before."""

    folder: Path
    moto: Moto
    front: FaultProxy
    gcs: FakeCloudStorage
    azure: FakeDataLake
    spark: Any = None
    keys: list[dict[str, str]] = field(default_factory=list, repr=False)

    def reference(self, key: str) -> str:
        return f"${{keys:{self.folder}/aws.properties:{key}}}"

    def rotate(self) -> None:
        """A new pair of keys; the store refuses the old one from now on."""
        iam = self.moto.client("iam")
        made = iam.create_access_key(UserName=USER)["AccessKey"]
        if self.keys:
            iam.delete_access_key(UserName=USER, AccessKeyId=self.keys[-1]["id"])
        self.keys.append({"id": made["AccessKeyId"], "secret": made["SecretAccessKey"]})
        self.gcs.token = self.azure.token = made["SecretAccessKey"]
        self.azure.signature = made["AccessKeyId"]
        part = self.folder / "aws.part"
        written = {
            **self.keys[-1],
            "sas": f"?sv=2021-06-08&se=2099-01-01T00:00:00Z&sig={made['AccessKeyId']}",
        }
        part.write_text("".join(f"{key}={text}\n" for key, text in written.items()))
        part.replace(self.folder / "aws.properties")
        # The lock of `sparkconfigtest.LockedFiles` takes the newest key only, and forgets who opened it.
        (self.folder / "lock").write_text(hashlib.sha256(made["SecretAccessKey"].encode()).hexdigest())
        (self.folder / "lock.opened").write_text("")
        if self.spark is not None:
            context = self.spark.sparkContext
            hadoop = context._jsc.hadoopConfiguration()
            newest = self.keys[-1]["id"]
            wait_until("the driver's news", lambda: hadoop.get("fs.s3a.access.key") == newest, timeout=30)
            wait_until("the executors' news", lambda: driver.status()["executors_behind"] == 0, timeout=30)

    def refuses(self, keys: dict[str, str]) -> bool:
        """Whether the store refuses these keys; otherwise a rotation would prove nothing."""
        import boto3
        from botocore.exceptions import ClientError

        s3 = boto3.client(
            "s3", endpoint_url=self.moto.url, region_name="eu-west-1",
            aws_access_key_id=keys["id"], aws_secret_access_key=keys["secret"],
        )  # fmt: skip
        try:
            s3.list_objects_v2(Bucket="plain")
        except ClientError as error:
            return error.response["Error"]["Code"] == "InvalidAccessKeyId"
        return False

    def by_one_task(self, frame: Any) -> list[str]:
        """The frame's rows, from one task, which opens file after file."""
        with one_task(self.spark.sparkContext):
            return sorted(row[0] for row in frame.coalesce(1).collect())
