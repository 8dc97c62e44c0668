"""What the build of the shim fetches from Maven Central by coordinates, once: formatters and the test library."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"


def jars(name: str, group: str, artifact: str, version: str) -> Path:
    """Return the folder with a library and what it needs, ``.cache/jars/NAME-VERSION``; fetched if it is not there."""
    folder = ROOT / ".cache" / "jars" / f"{name}-{version}"
    if folder.is_dir():
        return folder
    if shutil.which("mvn") is None:
        raise SystemExit(f"{name} is fetched with mvn, which is not there: install Maven")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f"{name}.") as scratch:
        pom = Path(scratch) / "pom.xml"
        pom.write_text(
            "<project><modelVersion>4.0.0</modelVersion><groupId>tools</groupId><artifactId>jars</artifactId>"
            f"<version>1</version><dependencies><dependency><groupId>{group}</groupId>"
            f"<artifactId>{artifact}</artifactId><version>{version}</version></dependency></dependencies></project>",
            encoding="utf-8",
        )
        found = Path(scratch) / "jars"
        subprocess.run(["mvn", "-B", "-q", "-f", str(pom), GOAL, f"-DoutputDirectory={found}"], check=True)
        found.rename(folder)
    return folder
