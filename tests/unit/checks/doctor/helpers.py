"""What the doctor's tests share: files that it looks at, and its findings by kind."""

import zipfile
from pathlib import Path

from sparkconfig import __version__
from sparkconfig.checks.doctor import Level

VALUE = "doctor-canary-5d1e-value"
GOOD = """
spark.plugins io.sparkconfig.ConfigPlugin
spark.master local[2]
spark.config.providers files
spark.config.providers.files.class file
"""


def make_jar(path: Path, names=(), *, about: str | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, "")
        if about is not None:
            archive.writestr("META-INF/sparkconfig.properties", about)
    return path


def own_jar(path: Path, version=__version__, scala="2.13-jakarta") -> Path:
    return make_jar(path, about=f"version={version}\nflavour=scala-{scala}\n")


def make_java(folder: Path, version: str) -> None:
    (folder / "bin").mkdir(parents=True, exist_ok=True)
    java = folder / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n")
    java.chmod(0o755)


def found(diagnosis, area: str, level: Level) -> list[str]:
    return [each.found for each in diagnosis.findings if (each.area, each.level) == (area, level)]


def errors(diagnosis) -> dict[str, str]:
    return {each.area: each.found for each in diagnosis.findings if each.level is Level.ERROR}
