"""The jars of Hadoop's S3A and ABFS for this environment's Spark, with the AWS SDK as modules instead of its bundle."""

from __future__ import annotations

import re
from pathlib import Path

from support.maven import maven_jars
from support.processes import Run
from support.spark_home import spark_home

#: Of Google's connector.
GCS = "3.0.4"
#: The AWS SDK for which each hadoop-aws was built; newer ones that are not listed take the last. The one of 3.4.1 would
#: be 2.24.6, whose transfer manager could not be fetched.
_SDK = {"3.4.0": "2.23.19", "3.4.1": "2.29.52", "3.4.2": "2.29.52", "3.5.0": "2.35.4"}
_BUNDLES = ["software.amazon.awssdk:bundle", "com.amazonaws:aws-java-sdk-bundle"]


def hadoop_version() -> str:
    """The version of Hadoop that this Spark brings."""
    (client,) = (spark_home() / "jars").glob("hadoop-client-api-*.jar")
    return client.stem.removeprefix("hadoop-client-api-")


def s3a_jars(run: Run, *, cache: Path) -> list[Path]:
    """What Spark does not bring itself: on the class path before its own, other versions of those would be taken."""
    version = hadoop_version()
    found = maven_jars(run, f"s3a-{version}", _coordinates(version), cache=cache, without=_BUNDLES)
    own = {_artifact(jar) for jar in (spark_home() / "jars").glob("*.jar")}
    return [jar for jar in found if _artifact(jar) not in own]


def abfs_jars(run: Run, *, cache: Path) -> list[Path]:
    """The same of Hadoop's ABFS; the SDK for its other file system, WASB, stays out."""
    version = hadoop_version()
    wanted = [f"org.apache.hadoop:hadoop-azure:{version}"]
    found = maven_jars(run, f"abfs-{version}-all", wanted, cache=cache, without=["com.microsoft.azure:*"])
    own = {_artifact(jar) for jar in (spark_home() / "jars").glob("*.jar")}
    return [jar for jar in found if _artifact(jar) not in own]


def gcs_jars(run: Run, *, cache: Path) -> list[Path]:
    """Google's connector, which holds what it depends on."""
    wanted = [f"com.google.cloud.bigdataoss:gcs-connector:{GCS}:shaded"]
    return maven_jars(run, f"gcs-{GCS}", wanted, cache=cache, transitive=False)


def _coordinates(version: str) -> list[str]:
    hadoop = f"org.apache.hadoop:hadoop-aws:{version}"
    if version.startswith("3.3."):
        return [
            hadoop,
            *(f"com.amazonaws:aws-java-sdk-{module}:1.12.262" for module in ("s3", "dynamodb", "sts")),
        ]
    modules = ("s3", "s3-transfer-manager", "sts", "apache-client")
    sdk = _SDK.get(version, _SDK["3.5.0"])
    return [hadoop, *(f"software.amazon.awssdk:{module}:{sdk}" for module in modules)]


def _artifact(jar: Path) -> str:
    return re.sub(r"-\d.*", "", jar.stem)
