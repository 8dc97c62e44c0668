"""Complete what ``python -m build`` wrote: a Maven repository, the SBOM, and the checksums of all files.

    python tools/jars/release.py dist

``dist/maven`` is a repository in a folder, from which ``spark-submit --packages`` resolves. A release signs its
files and hands it to Maven Central. The same wheel always makes the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import maven
from build import FLAVOURS, jar_names


def main() -> None:
    """Parse the command line and write the files."""
    parser = argparse.ArgumentParser(description="write what a release has beside wheel and sdist")
    parser.add_argument("dist", type=Path, help="the folder with the wheel")
    folder: Path = parser.parse_args().dist
    (wheel,) = folder.glob("*.whl")
    # The wheel's own jars: all that is published holds the same bytes.
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as scratch:
        jars = [name for name in archive.namelist() if name.endswith(".jar")]
        wanted = sum(len(jar_names(scala)) for scala in FLAVOURS)
        if len(jars) != wanted:
            raise SystemExit(
                f"{wheel.name} has {len(jars)} jars instead of {wanted}; build it with 'make dist'"
            )
        for name in jars:
            maven.publish(Path(archive.extract(name, scratch)), folder / "maven")
    subprocess.run([sys.executable, str(Path(__file__).with_name("sbom.py")), str(folder)], check=True)
    checksums(folder)


def checksums(folder: Path) -> None:
    """Write ``SHA256SUMS`` of every file, as ``sha256sum --check`` reads it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "SHA256SUMS")
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}\n"
        for path in files
    ]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="ascii")


if __name__ == "__main__":
    main()
