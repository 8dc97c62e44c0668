"""The PostgreSQL JDBC driver by its Maven coordinates, cached in the checkout."""

from __future__ import annotations

import os
import shutil
import ssl
import warnings
from collections.abc import Mapping
from pathlib import Path

import pyspark
from cryptography import x509
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption
from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12Certificate, serialize_java_truststore

from support.processes import PATIENCE, HarnessError, Run
from support.spark_home import spark_environment, spark_home

#: Of Derby, which is in Spark's jars. Spark 4 brings 10.16, where it has another package.
DERBY = f"org.apache.derby.{'' if pyspark.__version__.startswith('3.') else 'iapi.'}jdbc.AutoloadedDriver"
COORDINATES = "org.postgresql:postgresql:42.7.4"


def postgresql_driver(run: Run, *, cache: Path, env: Mapping[str, str] | None = None) -> Path:
    """The path of the driver's jar: cached, through ``mvn``, or through Spark's own ``--packages``.

    Args:
        cache: where the jar is kept between runs.
        env: added to the environment of what downloads it.
    """
    return artifact_jar(run, COORDINATES, cache=cache, env=env)


def artifact_jar(run: Run, coordinates: str, *, cache: Path, env: Mapping[str, str] | None = None) -> Path:
    """The path of any jar of Maven Central; as :func:`postgresql_driver`."""
    _, artifact, version = coordinates.split(":")
    jar = cache / "jars" / f"{artifact}-{version}.jar"
    if jar.is_file():
        return jar
    jar.parent.mkdir(parents=True, exist_ok=True)
    fetch = _with_maven if shutil.which("mvn") else _with_spark
    found = fetch(run, coordinates, env)
    # Copied, then renamed: an interrupted download never leaves half a jar under the final name.
    part = jar.with_suffix(".part")
    shutil.copyfile(found, part)
    return part.replace(jar)


def _with_maven(run: Run, coordinates: str, env: Mapping[str, str] | None) -> Path:
    folder = run.private_dir(f"maven-{coordinates.split(':')[1]}")
    goal = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
    command = ["mvn", "-B", "-q", goal, f"-Dartifact={coordinates}", f"-DoutputDirectory={folder}"]
    _finish(run, "maven", coordinates, command, env)
    return _only_jar(folder, coordinates)


def _with_spark(run: Run, coordinates: str, env: Mapping[str, str] | None) -> Path:
    ivy = run.private_dir(f"ivy-{coordinates.split(':')[1]}")
    (run.dir / "ivy-conf").mkdir(exist_ok=True)
    script = run.private_file("nothing.py", "")
    command = [
        str(spark_home() / "bin" / "spark-submit"), "--master", "local[1]", "--packages", coordinates,
        "--conf", f"spark.jars.ivy={ivy}", str(script),
    ]  # fmt: skip
    trust = {"SPARK_SUBMIT_OPTS": java_trust_options(run)}
    environment = {**spark_environment(run.dir / "ivy-conf", ivy), **trust, **(env or {})}
    _finish(run, "packages", coordinates, command, environment)
    return _only_jar(ivy / "jars", coordinates)


def java_trust_options(run: Run) -> str:
    """JVM options with which Java trusts the certificate authorities that Python and pip trust.

    A Java runtime brings a list of its own. Where connections pass an inspecting proxy, the administrator has
    added its authority to the system's list and to pip's, but not to the list of a runtime that pip installed.
    """
    context = ssl.create_default_context()
    if "PIP_CERT" in os.environ:
        context.load_verify_locations(os.environ["PIP_CERT"])
    with warnings.catch_warnings():
        # Some old authorities have serial numbers that today's rules forbid.
        warnings.simplefilter("ignore")
        certificates = [
            PKCS12Certificate(x509.load_der_x509_certificate(encoded), f"ca-{number}".encode())
            for number, encoded in enumerate(context.get_ca_certs(binary_form=True))
        ]
    if not certificates:
        return ""
    # The password is a formality: the certificates are public.
    encryption = BestAvailableEncryption(b"public")
    store = run.dir / "authorities.p12"
    store.write_bytes(serialize_java_truststore(certificates, encryption))
    property_ = "-Djavax.net.ssl.trustStore"
    return f"{property_}={store} {property_}Password=public {property_}Type=PKCS12"


def _finish(run: Run, name: str, coordinates: str, command: list[str], env: Mapping[str, str] | None) -> None:
    child = run.start(name, command, env=env)
    if child.wait(timeout=PATIENCE) != 0:
        reason = child.output().strip()[-1500:]
        raise HarnessError(f"could not get {coordinates}: {reason}")


def _only_jar(folder: Path, coordinates: str) -> Path:
    _, artifact, version = coordinates.split(":")
    jars = list(folder.glob(f"*{artifact}-{version}.jar"))
    if len(jars) != 1:
        raise HarnessError(f"expected one {artifact} in {folder}, found {len(jars)}")
    return jars[0]
