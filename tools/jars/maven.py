"""What Maven Central wants beside a jar: its POM, its sources and a javadoc jar, in the folders of a repository.

    python tools/jars/maven.py OUT JAR...

writes ``OUT/io/sparkconfig/sparkconfig_2.13/VERSION/…`` for each jar. ``OUT`` is a repository that
``spark-submit --packages … --repositories file:OUT`` resolves from, and zipped it is what Central's portal takes. The
same jars give the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from pathlib import Path
from xml.sax.saxutils import escape

from build import CONNECTORS, FLAVOURS, ROOT, package_version, repository_url, sources, write_jar

GROUP = "io.sparkconfig"
URL = repository_url()
ABOUT = {
    "sparkconfig": "The secrets and configuration layer of Apache Spark",
    "sparkconfig-aws": "What the AWS SDK's clients load of sparkconfig, beside the SDK",
    "sparkconfig-azure": "What ABFS loads of sparkconfig, beside hadoop-azure",
    "sparkconfig-cassandra": "What the Cassandra connector loads of sparkconfig, beside spark-cassandra-connector",
    "sparkconfig-gcs": "What Google's connector for Cloud Storage loads of sparkconfig, beside gcs-connector",
    "sparkconfig-iceberg": "What Iceberg's REST catalogs load of sparkconfig, beside iceberg-spark-runtime",
    "sparkconfig-kafka": "What Kafka's clients load of sparkconfig, beside kafka-clients",
}
_NAME = re.compile(r"(sparkconfig(?:-[a-z]+)?)_(2\.1[23])-(.+)\.jar")
# Java documentation of Scala sources would need Scala's own tool of the very version, and show internals.
_JAVADOC = f"""\
The API is described in docs/api-jvm.md of {URL},
for Scala and for Java. This file is here because Maven Central asks for one.
"""


def pom(artifact: str, scala: str) -> str:
    """Return the POM of a jar: without dependencies, since Spark brings all that it calls."""
    version = package_version()
    return f"""\
<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
         xsi:schemaLocation="http://maven.apache.org/POM/4.0.0 http://maven.apache.org/xsd/maven-4.0.0.xsd">
  <modelVersion>4.0.0</modelVersion>
  <groupId>{GROUP}</groupId>
  <artifactId>{artifact}_{scala}</artifactId>
  <version>{version}</version>
  <packaging>jar</packaging>
  <name>{artifact} for Scala {scala}</name>
  <description>{escape(ABOUT[artifact])}</description>
  <url>{URL}</url>
  <licenses>
    <license>
      <name>Apache-2.0</name>
      <url>https://www.apache.org/licenses/LICENSE-2.0.txt</url>
      <distribution>repo</distribution>
    </license>
  </licenses>
  <developers>
    <developer>
      <name>The authors of sparkconfig</name>
      <url>{URL}</url>
    </developer>
  </developers>
  <scm>
    <connection>scm:git:{URL}.git</connection>
    <developerConnection>scm:git:{URL}.git</developerConnection>
    <url>{URL}</url>
    <tag>v{version}</tag>
  </scm>
</project>
"""


def publish(jar: Path, into: Path) -> Path:
    """Write a jar and what belongs to it into a Maven repository in a folder.

    Returns:
        The folder of this version.
    """
    found = _NAME.fullmatch(jar.name)
    if found is None or found[3] != package_version():
        raise SystemExit(f"{jar.name} is not a jar of version {package_version()}; build it again")
    artifact, scala = found[1], found[2]
    name = f"{artifact}_{scala}-{package_version()}"
    folder = into.joinpath(*GROUP.split("."), f"{artifact}_{scala}", package_version())
    folder.mkdir(parents=True, exist_ok=True)
    (folder / jar.name).write_bytes(jar.read_bytes())
    (folder / f"{name}.pom").write_text(pom(artifact, scala), encoding="utf-8")
    manifest = {"META-INF/MANIFEST.MF": b"Manifest-Version: 1.0\r\n\r\n"}
    for notice in ("LICENSE", "NOTICE"):
        manifest[f"META-INF/{notice}"] = (ROOT / notice).read_bytes()
    write_jar({**manifest, **_sources(artifact, scala)}, folder / f"{name}-sources.jar")
    write_jar({**manifest, "README.txt": _JAVADOC.encode()}, folder / f"{name}-javadoc.jar")
    for path in sorted(folder.iterdir()):
        if path.suffix in (".jar", ".pom"):
            for kind in ("md5", "sha1", "sha256"):
                digest = hashlib.new(kind, path.read_bytes()).hexdigest()
                path.with_name(f"{path.name}.{kind}").write_text(digest, encoding="ascii")
    return folder


def _sources(artifact: str, scala: str) -> dict[str, bytes]:
    """Return the Scala sources of a jar, each at the place that its package says."""
    found = {}
    for path in sources(FLAVOURS[scala]):
        content = path.read_bytes()
        package = re.search(rb"^package ([\w.]+)", content, re.MULTILINE)
        if path.suffix != ".scala" or package is None:
            continue
        name = f"{package[1].decode().replace('.', '/')}/{path.name}"
        part = name.split("/")[2]
        if artifact == (f"sparkconfig-{part}" if part in CONNECTORS else "sparkconfig"):
            found[name] = content
    return found


def main() -> None:
    """Parse the command line and print the folders."""
    parser = argparse.ArgumentParser(description="write a Maven repository with jars of this project")
    parser.add_argument("out", type=Path, help="the folder of the repository")
    parser.add_argument("jars", type=Path, nargs="+", help="what 'make jar' or 'make dist' built")
    options = parser.parse_args()
    for jar in options.jars:
        sys.stdout.write(f"{publish(jar, options.out)}\n")


if __name__ == "__main__":
    main()
