"""The same sources give the same wheel, sdist and jars anywhere, and the SBOM lists what is in them.

They compile everything twice: ``make release-check`` runs them, ``make test`` does not.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from sparkconfig._spark.jars import CONNECTORS
from support.distribution import build
from support.shim import all_jars
from support.spark_home import spark_home

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the wheel and the sdist of this checkout."""
    folder = tmp_path_factory.mktemp("dist")
    build(folder)
    return folder


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a checkout is built from, in another folder, with other times and permissions of its files."""
    root = tmp_path_factory.mktemp("copy") / "of a checkout"
    for name in ("python", "jvm-shim", "tools", "conf"):
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, root / name, ignore=ignore, copy_function=shutil.copyfile)
    for name in ("README.md", "LICENSE", "NOTICE", "CHANGELOG.md", "pyproject.toml", ".gitignore"):
        shutil.copyfile(ROOT / name, root / name)
    for path in root.rglob("*.*"):
        if path.is_file():
            path.chmod(0o700 if (ROOT / path.relative_to(root)).stat().st_mode & 0o100 else 0o600)
            os.utime(path, (1_000_000_000, 1_000_000_000))
    return root


def test_another_folder_gives_the_same_wheel_and_sdist(built: Path, elsewhere: Path, tmp_path: Path) -> None:
    build(tmp_path, elsewhere, TZ="Asia/Tokyo", PYTHONHASHSEED="7")
    assert _digests(tmp_path) == _digests(built)
    assert len(_digests(built)) == 2


def test_another_folder_gives_the_same_jars(elsewhere: Path, tmp_path: Path) -> None:
    """Compiled again, from sources in another folder: the bytes of the jars that ``make jar`` built here."""
    for root, out in ((ROOT, tmp_path / "here"), (elsewhere, tmp_path / "there")):
        out.mkdir()
        if root == ROOT:  # with what changed since then, apart from Scala
            for jar in all_jars():
                shutil.copy(jar, out)
        command = [
            sys.executable,
            root / "tools" / "jars" / "build.py",
            "--pyspark",
            spark_home(),
            "--out",
            out,
        ]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "TZ": "Asia/Tokyo"})
    assert _digests(tmp_path / "there") == _digests(tmp_path / "here")


def test_the_sbom_lists_the_wheel_its_jars_and_what_it_needs(built: Path, tmp_path: Path) -> None:
    wheel = _with_jars_of_both_scalas(next(built.glob("*.whl")), tmp_path)
    texts = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        shutil.copy(wheel, folder)
        # What 'make dist' runs once the wheel is there: it wants each of our jars in the wheel.
        subprocess.run(
            [sys.executable, ROOT / "tools" / "jars" / "release.py", folder],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        assert len([*folder.glob("maven/io/sparkconfig/*/*/*.pom")]) == 2 * (1 + len(CONNECTORS))
        (written,) = folder.glob("*.cdx.json")
        texts.append(written.read_text(encoding="utf-8"))
    assert texts[0] == texts[1]
    bill = json.loads(texts[0])
    assert bill["bomFormat"] == "CycloneDX"
    assert bill["metadata"]["component"]["hashes"] == [{"alg": "SHA-256", "content": _digest(wheel)}]
    parts = {part["name"]: part for part in bill["components"]}
    with zipfile.ZipFile(wheel) as archive:
        jars = {
            name.rpartition("/")[2]: archive.read(name)
            for name in archive.namelist()
            if name.endswith(".jar")
        }
    assert {name for name in parts if name.endswith(".jar")} == jars.keys()
    for name, content in jars.items():
        assert parts[name]["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(content).hexdigest()}]
    assert {name for name, part in parts.items() if part["scope"] == "required"} == {
        *jars, "cffi", "cryptography", "py4j", "pycparser", "zstandard",
    }  # fmt: skip
    assert parts["hvac"]["scope"] == "optional"
    (direct,) = [
        each["dependsOn"] for each in bill["dependencies"] if each["ref"].startswith("sparkconfig==")
    ]
    assert {"cryptography", "hvac", "py4j"} <= {ref.partition("==")[0] for ref in direct}


def _with_jars_of_both_scalas(wheel: Path, folder: Path) -> Path:
    """A checkout builds the jars of its own Spark alone: those of the other Scala are copies under its names."""
    copy = folder / wheel.name
    shutil.copy(wheel, copy)
    with zipfile.ZipFile(copy, "a") as archive:
        names = archive.namelist()
        for name in [name for name in names if name.endswith(".jar") and "_2.13-" in name]:
            other = name.replace("_2.13-", "_2.12-")
            if other not in names:
                # The same time in each run, or the wheel would be another one.
                archive.writestr(zipfile.ZipInfo(other), archive.read(name))
    return copy


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digests(folder: Path) -> dict[str, str]:
    return {path.name: _digest(path) for path in folder.iterdir()}
