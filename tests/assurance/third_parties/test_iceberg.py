"""Iceberg's catalogs over a real database and real keys: they follow rotations in the same session.

``kept`` gets the password when it is loaded, as every catalog; ``late`` goes through sparkconfig's own doors, which ask
at each connection and at each request. Part of ``make third-parties``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark
import pytest

from sparkconfig._spark import driver
from support.fakes.fault_proxy import FaultProxy
from support.leaks import LeakFinder
from support.maven import maven_jars
from support.one_task import one_task
from support.postgres import PostgresServer, new_password
from support.processes import Run, wait_until
from support.scala_objects import scala_object
from support.session import running_session
from support.shim import connector_jar, shim_jar
from support.spark_home import spark_home

if TYPE_CHECKING:
    from support.cluster import SparkCluster

SPARK = ".".join(pyspark.__version__.split(".")[:2])
ICEBERG = {
    "3.5": "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.12.0",
    "4.1": "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
}
CACHE = Path(__file__).parents[3] / ".cache"
OURS = "io.sparkconfig.ConfigExtensions"
THEIRS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
#: The plugin adds its extension by itself, behind theirs.
ORDERS = {"behind": THEIRS, "in_front": f"{OURS},{THEIRS}"}

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    pytest.mark.timeout(900),
    pytest.mark.skipif(SPARK not in ICEBERG, reason="Iceberg has no release for this Spark"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@dataclass
class Lake:
    """The application and its two stores, with every secret that they ever had."""

    folder: Path
    postgres: PostgresServer
    moto: Any
    front: FaultProxy
    role: str
    spark: Any = None
    secrets: list[str] = field(default_factory=list, repr=False)
    key: str = ""

    def reference(self, key: str) -> str:
        return f"${{files:{self.folder}/store.properties:{key}}}"

    def rotate(self) -> None:
        """A new password and a new pair of keys; the old ones are refused, and old connections are cut."""
        iam = self.moto.client("iam")
        made = iam.create_access_key(UserName=self.role)["AccessKey"]
        if self.key:
            iam.delete_access_key(UserName=self.role, AccessKeyId=self.key)
        self.key, password = made["AccessKeyId"], new_password()
        self.secrets += [made["SecretAccessKey"], password]
        self.postgres.set_password(self.role, password)
        self.postgres.sql(
            f"select pg_terminate_backend(pid) from pg_stat_activity where usename = '{self.role}'",
            database=self.role,
        )
        part = self.folder / "store.part"
        part.write_text(f"password={password}\nid={self.key}\nsecret={made['SecretAccessKey']}\n")
        part.replace(self.folder / "store.properties")
        if self.spark is not None:
            scala_object(self.spark._jvm, "io.sparkconfig.driver.DriverApi").refresh()
            wait_until("the executors' news", lambda: driver.status()["executors_behind"] == 0, timeout=60)

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        frame = self.spark.sql(statement)
        plan = frame._jdf.queryExecution().toString()
        assert LeakFinder(self.secrets).count(plan.encode()) == 0, "a plan shows a secret"
        return sorted(tuple(row) for row in frame.collect())


@pytest.fixture(scope="module", params=list(ORDERS))
def lake(
    request: pytest.FixtureRequest,
    cluster: SparkCluster,
    postgres: PostgresServer,
    pg_driver: Path,
    harness_run: Run,
    tmp_path_factory: Any,
) -> Iterator[Lake]:
    pytest.importorskip("moto")
    from support.fakes.moto_server import REGION, moto_server

    found = maven_jars(
        harness_run, f"iceberg-{SPARK}", [ICEBERG[SPARK], "org.apache.iceberg:iceberg-aws-bundle:1.12.0"],
        cache=CACHE, transitive=False,
    )  # fmt: skip
    own = {re.sub(r"-\d.*", "", jar.name) for jar in (spark_home() / "jars").glob("*.jar")}
    jars = [jar for jar in found if re.sub(r"-\d.*", "", jar.name) not in own]
    folder = tmp_path_factory.mktemp("iceberg")
    (folder / "events").mkdir()
    role = f"iceberg_{request.param}"
    postgres.create(role=role, password=new_password(), database=role)
    with moto_server() as moto, FaultProxy(moto.url) as front:
        lake = Lake(folder, postgres, moto, front, role)
        moto.make_user(role, ["s3:*"])
        lake.rotate()
        import boto3

        boto3.client(
            "s3", endpoint_url=moto.url, region_name=REGION,
            aws_access_key_id=lake.key, aws_secret_access_key=lake.secrets[0],
        ).create_bucket(Bucket="lake", CreateBucketConfiguration={"LocationConstraint": REGION})  # fmt: skip
        url = postgres.jdbc_url(role)
        kept, late = "spark.sql.catalog.kept", "spark.sql.catalog.late"
        path = ":".join(map(str, [shim_jar(), connector_jar("aws"), pg_driver, *jars]))
        conf = {
            **cluster.application(),
            "spark.app.name": "iceberg",
            "spark.ui.enabled": "false",
            "spark.jars": "",
            "spark.driver.extraClassPath": path,
            "spark.executor.extraClassPath": path,
            "spark.sql.extensions": ORDERS[request.param],
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": (folder / "events").as_uri(),
            "spark.config.providers": "files",
            "spark.config.providers.files.class": "file",
            **{
                f"{name}{key}": text
                for name in (kept, late)
                for key, text in {
                    "": "org.apache.iceberg.spark.SparkCatalog",
                    ".type": "jdbc",
                    ".jdbc.user": role,
                    ".jdbc.password": lake.reference("password"),
                    ".jdbc.schema-version": "V1",
                    # What PostgreSQL says to a connection that it cuts.
                    ".retryable_status_codes": "57P01",
                }.items()
            },
            f"{kept}.uri": url,
            f"{kept}.warehouse": str(folder / "kept"),
            f"{late}.uri": url.replace("jdbc:", "jdbc:sparkconfig:"),
            f"{late}.warehouse": "s3://lake/late",
            f"{late}.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
            f"{late}.s3.endpoint": front.url,
            f"{late}.s3.path-style-access": "true",
            f"{late}.client.region": REGION,
            f"{late}.client.credentials-provider": "io.sparkconfig.aws.ReferenceCredentials",
            f"{late}.client.credentials-provider.access-key-id": lake.reference("id"),
            f"{late}.client.credentials-provider.secret-access-key": lake.reference("secret"),
        }
        with running_session(conf, folder=folder) as session:
            lake.spark = session
            yield lake


@pytest.mark.parametrize("name", ["kept", "late"])
def test_tables_and_streams_follow_two_rotations(lake: Lake, name: str, tmp_path: Path) -> None:
    table = f"{name}.shop.sales"
    lake.rows(f"CREATE NAMESPACE IF NOT EXISTS {name}.shop")
    lake.rows(f"CREATE TABLE {table} (id INT, city STRING) USING iceberg")
    lake.rows(f"INSERT INTO {table} VALUES (1, 'Oslo'), (2, 'Rome')")
    # MERGE overwrites, and a stream reads what is added.
    held = lake.spark.readStream.option("streaming-skip-overwrite-snapshots", "true").table(table)
    for number in (10, 20):
        lake.rotate()
        lake.rows(
            f"MERGE INTO {table} s USING (SELECT 2 AS id, 'Bern' AS city) f ON s.id = f.id "
            "WHEN MATCHED THEN UPDATE SET s.city = f.city"
        )
        lake.rows(f"INSERT INTO {table} VALUES ({number}, 'Graz')")
        query = (
            held.writeStream.format("parquet").option("path", str(tmp_path / "out"))
            .option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True).start()
        )  # fmt: skip
        assert query.awaitTermination(60)
        assert (number, "Graz") in lake.rows(f"SELECT * FROM {table}")
        assert lake.rows(f"CALL {name}.system.ancestors_of('shop.sales')")
    found = {row.id for row in lake.spark.read.parquet(str(tmp_path / "out")).collect()}
    assert {1, 2, 10, 20} <= found


def test_a_running_task_opens_its_next_file_with_the_newest_keys(lake: Lake) -> None:
    def is_read(request: Any) -> bool:
        return request.method == "GET" and "/late/shop/files/data/" in request.path

    table = "late.shop.files"
    lake.rows("CREATE NAMESPACE IF NOT EXISTS late.shop")
    lake.rows(f"CREATE TABLE {table} (id BIGINT) USING iceberg")
    for number in range(3):
        lake.spark.range(number * 10, number * 10 + 10, 1, 1).writeTo(table).append()
    held = lake.spark.table(table).coalesce(1)
    before, begun = lake.key, len(lake.front.requests)
    with lake.front.meanwhile(is_read, lake.rotate), one_task(lake.spark.sparkContext):
        assert sorted(row.id for row in held.collect()) == list(range(30))
    reads = [each for each in lake.front.requests[begun:] if is_read(each)]
    assert len({each.path for each in reads}) == 3
    signers = [re.search(r"Credential=(\w+)/", each.headers["authorization"])[1] for each in reads]
    followed = signers == [before, *[lake.key] * (len(reads) - 1)]
    assert followed, "other keys"


def test_no_secret_is_in_the_event_log(lake: Lake) -> None:
    lake.spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    files = [path for path in (lake.folder / "events").rglob("*") if path.is_file()]
    text = b"".join(path.read_bytes() for path in files)
    assert lake.reference("password").encode() in text
    assert LeakFinder(lake.secrets).count(text) == 0
