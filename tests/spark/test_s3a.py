"""Hadoop's file systems: credentials are references, asked for on the driver and on executors of a cluster.

S3 is moto's. Cloud Storage and Azure's Data Lake are fakes of ours, read through Google's and Hadoop's own connectors;
one more file system is ours, behind a lock that tells who opened it.
The AWS SDK comes as its modules, 19 MB, instead of Hadoop's bundle of 690 MB.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest

from spark.options.compile_sources import sources_jar
from support.cloud_site import USER, Site
from support.fakes.cloud_storage import FakeCloudStorage
from support.fakes.data_lake import FakeDataLake
from support.fakes.fault_proxy import FaultProxy
from support.fakes.http_server import BODY_MARK
from support.leaks import LeakFinder
from support.processes import wait_until
from support.s3a import abfs_jars, gcs_jars, s3a_jars
from support.session import running_session
from support.shim import connector_jar, shim_jar

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

SPARK_3 = pyspark.__version__.startswith("3.")
CACHE = Path(__file__).resolve().parents[2] / ".cache"
#: Hadoop 3.5 has defaults for its own connector, such as 64m, which Google's cannot read.
PLAIN_NUMBERS = {
    "block.size": "67108864",
    "rewrite.max.chunk.size": "536870912",
    "outputstream.buffer.size": "8388608",
    "inputstream.inplace.seek.limit": "8388608",
    "inputstream.min.range.request.size": "2097152",
}
AZURE = "dfs.core.windows.net"
ROWS = sorted(map(str, range(40)))
#: Hadoop 3.3, in Spark 3.5, has the first AWS SDK.
REFERENCE_CREDENTIALS = "io.sparkconfig.aws.ReferenceCredentials" + ("V1" if SPARK_3 else "")


@pytest.fixture(scope="module")
def site(cluster, harness_run, tmp_path_factory) -> Iterator[Site]:
    from support.fakes.moto_server import REGION, moto_server

    folder = tmp_path_factory.mktemp("s3a")
    (folder / "events").mkdir()
    ours = [shim_jar(), *map(connector_jar, ("aws", "azure", "gcs")), sources_jar()]
    theirs = [jar for jars in (s3a_jars, abfs_jars, gcs_jars) for jar in jars(harness_run, cache=CACHE)]
    path = ":".join(map(str, dict.fromkeys([*ours, *theirs])))
    rows = {
        f"rows/{part}": "".join(f"{part * 10 + row}\n" for row in range(10)).encode() for part in range(4)
    }
    with (
        moto_server() as moto,
        FaultProxy(moto.url) as front,
        FakeCloudStorage(rows) as gcs,
        FakeDataLake(rows) as azure,
    ):
        site = Site(folder, moto, front, gcs, azure)
        moto.make_user(USER, ["s3:*"])
        site.rotate()
        import boto3

        admin = boto3.client(
            "s3", endpoint_url=moto.url, region_name=REGION,
            aws_access_key_id=site.keys[0]["id"], aws_secret_access_key=site.keys[0]["secret"],
        )  # fmt: skip
        for bucket in ("plain", "guarded", "late", "front"):
            admin.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": REGION})
        for name, text in rows.items():
            admin.put_object(Bucket="front", Key=name, Body=text)
        s3a = "spark.hadoop.fs.s3a."
        conf = {
            **cluster.application(),
            "spark.app.name": "s3a",
            "spark.jars": "",
            "spark.ui.enabled": "false",
            "spark.driver.extraClassPath": path,
            "spark.executor.extraClassPath": path,
            "spark.eventLog.enabled": "true",
            "spark.eventLog.compress": "false",
            "spark.eventLog.dir": (folder / "events").as_uri(),
            "spark.config.providers": "keys",
            "spark.config.providers.keys.class": "file",
            "spark.config.poll.interval": "500ms",
            f"{s3a}endpoint": moto.url,
            f"{s3a}endpoint.region": REGION,
            f"{s3a}path.style.access": "true",
            f"{s3a}connection.ssl.enabled": "false",
            f"{s3a}attempts.maximum": "1",
            f"{s3a}retry.limit": "1",
            # Without it Hadoop's cache keeps the file system, and with it the keys it was made with.
            f"{s3a}impl.disable.cache": "true",
            f"{s3a}aws.credentials.provider": "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
            f"{s3a}access.key": site.reference("id"),
            f"{s3a}secret.key": site.reference("secret"),
            # This bucket's keys stay references even in the configuration that Spark sends to executors.
            "spark.hadoop.hadoop.security.credential.provider.path": "sparkconfig:///",
            "spark.hadoop.sparkconfig.credential.fs.s3a.bucket.guarded.access.key": site.reference("id"),
            "spark.hadoop.sparkconfig.credential.fs.s3a.bucket.guarded.secret.key": site.reference("secret"),
            # The same file system under a name for which Hadoop's cache is on; each request asks for the keys.
            "spark.hadoop.fs.s3.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
            **{f"spark.hadoop.fs.gs.{name}": text for name, text in PLAIN_NUMBERS.items()},
            "spark.hadoop.fs.gs.impl": "com.google.cloud.hadoop.fs.gcs.GoogleHadoopFileSystem",
            "spark.hadoop.fs.gs.storage.root.url": f"{gcs.url}/",
            "spark.hadoop.fs.gs.auth.type": "ACCESS_TOKEN_PROVIDER",
            "spark.hadoop.fs.gs.auth.access.token.provider": "io.sparkconfig.gcs.ReferenceTokens",
            "spark.hadoop.sparkconfig.credential.fs.gs.auth.access.token": site.reference("secret"),
            # Hadoop's own way to its tests: the account becomes a part of the path.
            "spark.hadoop.fs.azure.abfs.endpoint": f"127.0.0.1:{azure.port}",
            "spark.hadoop.fs.azure.always.use.https": "false",
            # The other one, the default of Hadoop 3.5, cannot be made without TLS.
            "spark.hadoop.fs.azure.networking.library": "JDK_HTTP_URL_CONNECTION",
            "spark.hadoop.fs.azure.account.hns.enabled": "true",
            f"spark.hadoop.fs.azure.account.auth.type.token.{AZURE}": "Custom",
            f"spark.hadoop.fs.azure.account.oauth.provider.type.token.{AZURE}": "io.sparkconfig.azure.ReferenceTokens",
            "spark.hadoop.sparkconfig.credential.fs.azure.account.access.token": site.reference("secret"),
            f"spark.hadoop.fs.azure.account.auth.type.signature.{AZURE}": "SAS",
            f"spark.hadoop.fs.azure.sas.token.provider.type.signature.{AZURE}": "io.sparkconfig.azure.ReferenceSas",
            f"spark.hadoop.sparkconfig.credential.fs.azure.sas.fixed.token.signature.{AZURE}": site.reference(
                "sas"
            ),
            f"{s3a}bucket.front.endpoint": front.url,
            "spark.hadoop.fs.locked.impl": "sparkconfigtest.LockedFiles",
            "spark.hadoop.fs.locked.impl.disable.cache": "true",
            "spark.hadoop.fs.locked.lock": str(folder / "lock"),
            "spark.hadoop.fs.locked.plain.key": site.reference("secret"),
            "spark.hadoop.sparkconfig.credential.fs.locked.key": site.reference("secret"),
        }
        for bucket in ("late", "front"):
            keys = f"spark.hadoop.sparkconfig.credential.fs.s3a.bucket.{bucket}"
            conf[f"{s3a}bucket.{bucket}.aws.credentials.provider"] = REFERENCE_CREDENTIALS
            conf |= {
                f"{keys}.access.key": site.reference("id"),
                f"{keys}.secret.key": site.reference("secret"),
            }
        with running_session(conf, folder=folder) as session:
            site.spark = session
            status = session.sparkContext._jsc.sc().statusTracker()
            wait_until("two executors", lambda: len(status.getExecutorInfos()) == 3, timeout=60)
            yield site


def test_files_open_on_executors_with_the_keys_of_the_moment(site: Site) -> None:
    data = f"locked://{site.folder}/data"
    site.spark.range(0, 40, 1, 4).write.parquet(data)
    for _ in range(2):
        assert site.spark.read.parquet(data).selectExpr("sum(id)").first()[0] == 780
        opened = (site.folder / "lock.opened").read_text().split()
        assert {"0", "1"} <= set(opened), "both executors opened the file system"
        site.rotate()


def test_a_reference_without_a_value_fails_the_tasks_with_its_name(site: Site) -> None:
    session = site.spark.newSession()
    # Only what asks through the credential provider is missing; the driver asks first.
    session.conf.set("sparkconfig.credential.fs.locked.key", "${keys:/nowhere.properties:key}")
    with pytest.raises(Exception, match=r"nowhere\.properties"):
        session.read.parquet(f"locked://{site.folder}/data").count()


@pytest.mark.sparks(since="4.0")  # Google's connector 3 needs Hadoop 3.3.5
def test_google_gets_the_newest_token_with_each_request(site: Site) -> None:
    """With Hadoop's cache on, in a frame that was made before, within one task and between the tasks of one read."""
    held = site.spark.read.text("gs://shop/rows").selectExpr("int(value) id")
    assert held.rdd.getNumPartitions() > 1
    rows = held.toLocalIterator()
    found = [next(rows).id]
    site.rotate()
    found += [row.id for row in rows]
    assert sorted(found) == list(range(40))
    before, begun = site.keys[-1], len(site.gcs.requests)
    with site.gcs.meanwhile(site.gcs.is_read, site.rotate):
        assert site.by_one_task(site.spark.read.text("gs://shop/rows")) == ROWS
    sent = [each.headers["authorization"] for each in site.gcs.requests[begun:] if site.gcs.is_read(each)]
    followed = sent == [f"Bearer {keys['secret']}" for keys in (before, *[site.keys[-1]] * 3)]
    assert followed, "other tokens, or more requests"
    assert held.selectExpr("sum(id)").first()[0] == 780
    assert site.gcs.refused == 0
    site.gcs.token = "another"
    with pytest.raises(Exception, match="401") as error:
        site.spark.read.text("gs://shop/rows").count()
    assert site.gcs.refused > 0
    assert BODY_MARK in str(error.value), "Google's connector repeats what the server sends"
    assert LeakFinder([keys["secret"] for keys in site.keys]).count(str(error.value).encode()) == 0
    site.gcs.token = site.keys[-1]["secret"]


@pytest.mark.parametrize("account", ["token", "signature"])
def test_abfs_gets_the_newest_token_and_signature_within_a_task(site: Site, account: str) -> None:
    place = f"abfs://shop@{account}.{AZURE}/rows"
    held = site.spark.read.text(place)
    before, begun = site.keys[-1], len(site.azure.requests)
    with site.azure.meanwhile(site.azure.is_read, site.rotate):
        assert site.by_one_task(held) == ROWS
    name = {"token": "secret", "signature": "id"}[account]
    sent = [site.azure.sent(each) for each in site.azure.requests[begun:] if site.azure.is_read(each)]
    followed = sent == [before[name], *[site.keys[-1][name]] * 3]
    assert followed, "other credentials, or more requests"
    assert site.azure.refused == 0
    setattr(site.azure, account, "another")
    with pytest.raises(Exception, match="403") as error:
        site.spark.read.text(place).count()
    assert site.azure.refused > 0
    assert LeakFinder([keys[name] for keys in site.keys]).count(str(error.value).encode()) == 0
    setattr(site.azure, account, site.keys[-1][name])
    site.azure.refused = 0


def test_abfs_without_a_reference_says_which_is_missing(site: Site) -> None:
    jvm = site.spark._jvm
    conf = jvm.org.apache.hadoop.conf.Configuration(site.spark.sparkContext._jsc.hadoopConfiguration())
    conf.unset("sparkconfig.credential.fs.azure.account.access.token")
    path = jvm.org.apache.hadoop.fs.Path(f"abfs://shop@token.{AZURE}/rows")
    with pytest.raises(Exception, match=r"fs\.azure\.account\.access\.token' is not set"):
        jvm.org.apache.hadoop.fs.FileSystem.newInstance(path.toUri(), conf)


@pytest.mark.parametrize("bucket", ["plain", "guarded"])
def test_write_and_two_reads_with_a_rotation_between(site: Site, bucket: str) -> None:
    numbers = f"s3a://{bucket}/numbers"
    site.spark.range(0, 40, 1, 2).write.parquet(numbers)
    assert site.spark.read.parquet(numbers).selectExpr("sum(id)").first()[0] == 780
    before = site.keys[-1]
    site.rotate()
    assert site.refuses(before)
    assert not site.refuses(site.keys[-1])
    assert site.spark.read.parquet(numbers).selectExpr("sum(id)").first()[0] == 780


def test_keys_of_each_request_follow_in_the_middle_of_a_read(site: Site) -> None:
    """With Hadoop's cache on, in a frame and in a stream that were made before, and between the tasks of one read."""
    numbers, copy = "s3://late/numbers", "s3://late/copy"
    site.spark.range(0, 40, 1, 4).write.parquet(numbers)
    held = site.spark.read.parquet(numbers)
    stream = site.spark.readStream.schema(held.schema).option("maxFilesPerTrigger", 1).parquet(numbers)
    batches = 0

    def between(batch: object, number: int) -> None:
        nonlocal batches
        batches += 1
        batch.write.mode("append").parquet(copy)
        if batches == 2:
            site.rotate()

    query = (
        stream.writeStream.foreachBatch(between).trigger(availableNow=True)
        .option("checkpointLocation", "s3://late/checkpoint").start()
    )  # fmt: skip
    before = site.keys[-1]
    assert query.awaitTermination(120)
    assert site.refuses(before)
    parts = site.spark.read.parquet(copy)
    assert parts.rdd.getNumPartitions() > 1
    rows = parts.toLocalIterator()
    found = [next(rows).id]
    before = site.keys[-1]
    site.rotate()
    found += [row.id for row in rows]
    assert site.refuses(before)
    assert (batches, sorted(found)) == (4, list(range(40)))
    assert held.selectExpr("sum(id)").first()[0] == 780


def test_a_running_task_signs_its_next_request_with_the_newest_keys(site: Site) -> None:
    def is_read(request) -> bool:
        return request.method == "GET" and request.path.startswith("/front/rows/")

    held = site.spark.read.text("s3://front/rows")
    before, begun = site.keys[-1], len(site.front.requests)
    with site.front.meanwhile(is_read, site.rotate):
        assert site.by_one_task(held) == ROWS
    assert site.refuses(before)
    sent = [each.headers["authorization"] for each in site.front.requests[begun:] if is_read(each)]
    signers = [re.search(r"Credential=(\w+)/", each)[1] for each in sent]
    followed = signers == [before["id"], *[site.keys[-1]["id"]] * 3]
    assert followed, "other keys, or more requests"


def test_refused_keys_are_s3s_own_error(site: Site) -> None:
    before = (site.folder / "aws.properties").read_text()
    session = site.spark.newSession()
    session.conf.set("fs.s3a.access.key", "AKIAnobody")
    with pytest.raises(
        Exception, match=re.compile("Access Key|InvalidAccessKeyId|403", re.IGNORECASE)
    ) as error:
        session.read.parquet("s3a://plain/numbers").count()
    assert LeakFinder([keys["secret"] for keys in site.keys]).count(str(error.value).encode()) == 0
    assert (site.folder / "aws.properties").read_text() == before


def test_no_secret_key_is_in_the_event_log_or_in_the_executors_logs(site: Site, cluster) -> None:
    site.spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    finder = LeakFinder([text for keys in site.keys for text in keys.values()])
    events = [path for path in (site.folder / "events").rglob("*") if path.is_file()]
    assert any("fs.s3a.secret.key" in path.read_text() for path in events)
    for path in [*events, *cluster.executor_logs()]:
        assert finder.count(path.read_bytes()) == 0, f"{path.name} shows a key"
