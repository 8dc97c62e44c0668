"""The test's own data sources, among the classes of tests/jvm."""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path

from leaks.support import CONNECTORS, JOB, jvm_jar

__all__ = ["CONNECTORS", "JOB", "sources_jar"]

NAMES = ("V1Source", "V2Source", "EagerV2Source", "KeyedV2Source")
SERVICES = "META-INF/services/org.apache.spark.sql.sources.DataSourceRegister"


def sources_jar() -> Path:
    """The jar with the data sources and file systems beside this file, under their short names."""
    classes = jvm_jar()
    jar = classes.with_suffix(".sources.jar")
    if not jar.exists():
        part = shutil.copy(classes, jar.with_suffix(f".{os.getpid()}"))
        with zipfile.ZipFile(part, "a") as archive:
            archive.writestr(SERVICES, "".join(f"sparkconfigtest.{name}\n" for name in NAMES))
        Path(part).rename(jar)
    return jar
