"""The upgrade of a cluster: the next version lies beside this one, and an application that runs keeps its own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from sparkconfig._base.version import __version__
from sparkconfig._spark import driver
from support.processes import wait_until
from support.rotation import provider_confs, replace_file
from support.session import QUIET, running_session
from support.shim import ROOT, shim_jar

pytestmark = pytest.mark.spark

NEXT = "9.9.9"
JOB = """
import sys
from pyspark.sql import SparkSession
import sparkconfig
spark = SparkSession.builder.getOrCreate()
print("STARTED", sparkconfig.__version__, len(sparkconfig.current(sys.argv[1]).reveal()))
spark.stop()
"""


@dataclass
class Version:
    """One version as a cluster has it: an interpreter with the package, in a folder of its own, and the jar."""

    folder: Path
    jar: Path

    @property
    def python(self) -> Path:
        return self.folder / "python"

    def confs(self) -> dict[str, str]:
        return {"spark.jars": str(self.jar), "spark.config.agent.python": str(self.python)}


def installed(folder: Path, version: str) -> Version:
    package = folder / "packages" / "sparkconfig"
    shutil.copytree(ROOT / "python" / "sparkconfig", package, ignore=shutil.ignore_patterns("jars"))
    (package / "_base" / "version.py").write_text(f'__version__ = "{version}"\n')
    found = Version(folder, folder / f"sparkconfig-{version}.jar")
    found.python.write_text(f'#!/bin/sh\nPYTHONPATH={package.parent} exec {sys.executable} "$@"\n')
    found.python.chmod(0o755)
    with zipfile.ZipFile(shim_jar()) as jar, zipfile.ZipFile(found.jar, "w") as copy:
        for name in jar.namelist():
            content = jar.read(name)
            if name == "META-INF/sparkconfig.properties":
                assert f"version={__version__}".encode() in content
                content = content.replace(f"version={__version__}".encode(), f"version={version}".encode())
            copy.writestr(name, content)
    return found


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[Version, Version, Path, dict[str, str]]]:
    store = tmp_path / "shop.properties"
    store.write_text("password=first-value\n")
    confs = {
        **QUIET,
        **provider_confs("files", "file", {}),
        "spark.master": "local[1]",
        "spark.plugins": "io.sparkconfig.ConfigPlugin",
        "spark.config.providers": "files",
        "spark.config.poll.interval": "200ms",
        "spark.shop.password": f"${{files:{store}:password}}",
    }
    now, later = installed(tmp_path / "now", __version__), installed(tmp_path / "later", NEXT)
    with running_session({**confs, **now.confs()}, folder=tmp_path):
        yield now, later, store, confs


def submit(confs: dict[str, str], store: Path, version: Version) -> str:
    """Start an application as a job of its own, and return what it printed."""
    job = store.parent / "job.py"
    job.write_text(JOB)
    options = [part for key, value in confs.items() for part in ("--conf", f"{key}={value}")]
    command = [Path(sys.executable).parent / "spark-submit", *options, job, f"${{files:{store}:password}}"]
    environment = {**os.environ, "PYSPARK_PYTHON": str(version.python), "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=240, check=False, cwd=store.parent
    )
    return done.stdout + done.stderr


def test_the_next_version_starts_beside_an_application_that_keeps_its_own(site) -> None:
    now, later, store, confs = site
    # Each change of the defaults names jar and interpreter of one version.
    assert f"STARTED {NEXT} 11" in submit({**confs, **later.confs()}, store, later)
    mixed = {**confs, **later.confs(), "spark.config.agent.python": str(now.python)}
    refused = submit(mixed, store, now)
    assert f"jar has version {NEXT}" in refused
    assert f"version {__version__}. Install the same version of both" in refused
    # The side process of the older one starts again, and its values change.
    before = driver.status()["side_process"]["pid"]
    os.kill(before, signal.SIGKILL)
    wait_until(
        "another side process", lambda: driver.status()["side_process"]["pid"] not in (before, -1), timeout=60
    )
    replace_file(store, "password=second-value\n")
    assert driver.current(f"${{files:{store}:password}}", fresh=True).reveal() == "second-value"


def test_a_package_that_is_replaced_in_place_leaves_the_last_values_without_a_side_process(site) -> None:
    now, later, store, _ = site
    reference = f"${{files:{store}:password}}"
    shutil.rmtree(now.folder / "packages")
    shutil.copytree(later.folder / "packages", now.folder / "packages")
    os.kill(driver.status()["side_process"]["pid"], signal.SIGKILL)
    replace_file(store, "password=second-value\n")
    wait_until("no side process", lambda: not driver.status()["side_process"]["answers"], timeout=60)
    assert driver.current(reference).reveal() == "first-value"
    # Its own version is put back.
    shutil.rmtree(now.folder / "packages")
    shutil.copytree(ROOT / "python" / "sparkconfig", now.folder / "packages" / "sparkconfig")
    wait_until("the new value", lambda: driver.current(reference).reveal() == "second-value", timeout=90)
