"""A folder that is laid out like a Databricks node, and stand-ins for Databricks' own parts.

The layout is built from public descriptions; no part of it was ever compared with a node of Databricks.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from leaks.support import jvm_jar
from support.spark_home import spark_home

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "conf" / "databricks-init.sh"
LISTENER = "com.databricks.backend.daemon.driver.DBCEventLoggingListener"
CORE = "----workspace_spark_4_0--core--core-hive-2.3__hadoop-3.4_{}_deploy.jar"
BORROWED = ("cryptography", "cffi", "pycparser", "py4j", "typing_extensions", "zstandard")

# It stands for Databricks' own: it writes what happens into an event log of its own.


class Node:
    """A root like a Databricks node's, and the volume from which the script installs."""

    def __init__(self, folder: Path, python: Path) -> None:
        self.root = folder / "root"
        self.volume = folder / "volume"
        self.databricks = self.root / "databricks"
        self.python = self.databricks / "python" / "bin" / "python"
        self.jars = self.databricks / "jars"
        self.fragments = self.databricks / "driver" / "conf"
        self.fragment = self.fragments / "00-sparkconfig.conf"
        for each in (self.jars, self.fragments, self.databricks / "driver" / "eventlogs", self.volume):
            each.mkdir(parents=True)
        (self.databricks / "python").symlink_to(python, target_is_directory=True)
        # What the script notes of its installation goes with the Python: pip runs for the first node, and for extras.
        (python / "noted").mkdir(exist_ok=True)
        (self.databricks / "sparkconfig").symlink_to(python / "noted", target_is_directory=True)
        for jar in (spark_home() / "jars").glob("*.jar"):
            core = re.fullmatch(r"spark-core_(?P<scala>[0-9.]+)-(?P<version>[0-9.]+)\.jar", jar.name)
            if core:  # under the name that Databricks gives it; the version is in a file
                (self.databricks / "spark").mkdir()
                (self.databricks / "spark" / "VERSION").write_text(f"{core['version']}\n")
            name = CORE.format(core["scala"]) if core else jar.name
            (self.jars / name).symlink_to(jar)

    def run(self, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the script as root's shell would on a driver of runtime 17, with nothing of this environment."""
        plain = {"PATH": os.environ["PATH"], "HOME": str(self.root)}
        own = {
            "SPARKCONFIG_ROOT": str(self.root),
            "SPARKCONFIG_SOURCE": str(self.volume),
            "DATABRICKS_RUNTIME_VERSION": "17.3",
            "DB_IS_DRIVER": "TRUE",
            "PIP_NO_COMPILE": "1",  # compiling all of the package takes longer than the rest of the script
        }
        return subprocess.run(
            ["bash", str(SCRIPT)], env={**plain, **own, **variables},
            capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip

    def install(self, **variables: str) -> str:
        done = self.run(**variables)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def refused(self, **variables: str) -> str:
        done = self.run(**variables)
        assert done.returncode == 1, done.stdout + done.stderr
        last = done.stdout + done.stderr
        assert "sparkconfig-init: FAILED: " in last
        return last.partition("FAILED: ")[2]

    def state(self) -> dict[str, tuple[int, bytes]]:
        """What is in the places into which the script writes."""
        places = [*self.jars.glob("sparkconfig*"), *self.fragments.iterdir(), *(self.root / "etc").rglob("*")]
        return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in places if path.is_file()}


def read_fragment(text: str) -> dict[str, str]:
    """Read ``[driver] { "key" = "value" }``, one conf a line, as the fragments in public scripts are."""
    head, *lines, end = [line.strip() for line in text.strip().splitlines()]
    assert (head, end) == ("[driver] {", "}")
    pairs = [re.fullmatch(r'("(?:[^"\\]|\\.)*")\s*=\s*(.+)', line) for line in lines]
    assert all(pairs), text
    return {json.loads(pair[1]): str(json.loads(pair[2])) for pair in pairs if pair}


def make_runtime_python(folder: Path) -> Path:
    """Make an environment of the runtime: with pyspark and common packages, as Databricks' has, without sparkconfig."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    links = folder / "runtime-packages"
    links.mkdir()
    (links / "pyspark").symlink_to(spark_home(), target_is_directory=True)
    for name in BORROWED:
        try:
            files = importlib.metadata.distribution(name).files or []
        except importlib.metadata.PackageNotFoundError:
            continue
        for top in {file.parts[0] for file in files if file.parts[0] not in ("..", "__pycache__")}:
            link = links / top
            if not link.exists():
                link.symlink_to(Path(str(importlib.metadata.distribution(name).locate_file(top))))
    python = f"python{sys.version_info.major}.{sys.version_info.minor}"
    (folder / "lib" / python / "site-packages" / "runtime.pth").write_text(f"{links}\n")
    return folder


def add_listener(node: Node) -> None:
    """Add a jar with stand-ins for Databricks' own classes (tests/jvm/Databricks.scala)."""
    shutil.copy(jvm_jar(), node.jars / "databricks-own.jar")
