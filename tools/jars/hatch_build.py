"""Build hook of the wheel and the sdist: both carry the jars of both Scala versions, the wheel the policies too.

The jars are compiled against pinned Sparks, so that the same sources give the same wheel anywhere. Their wheels
(850 MB) are fetched once into ``.cache`` of a checkout. An sdist holds the jars ready-made: installing from it
needs neither Java nor Spark. Editable installs get no jar; ``make jar`` builds the one for the environment's Spark.
Nor does pre-commit, which would wait minutes for the two Sparks of a hook that needs none.
``SPARKCONFIG_READY_JARS=DIR`` takes the jars of a folder as they are, so that tests need no second Spark.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SPARKS = {"2.12": "3.5.9", "2.13": "4.0.5"}
"""Scala version to the Spark that its jar is compiled against: the oldest supported one of each kind."""
READY = ROOT / "jvm-shim" / "jars"
"""Where an sdist holds the jars."""
_BEAT = 10.0
"""Seconds between two words about a download."""
BUILT = ROOT / "build" / "jars"


def _module(name: str) -> ModuleType:
    """Load a sibling; by its path, since 'build' is also the name of a well-known package."""
    spec = importlib.util.spec_from_file_location(f"sparkconfig_shim_{name}", HERE / f"{name}.py")
    if spec is None or spec.loader is None:
        raise ImportError(name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class JarHook(BuildHookInterface):  # type: ignore[misc, type-arg] # hatchling is there only while it builds
    """Adds the policies and the jars, building those that are not there or not current."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it collects the files.

        Args:
            version: ``editable`` or ``standard``.
            build_data: what the hook adds to.
        """
        if version == "editable" or _for_pre_commit():
            return
        folder = "sparkconfig/jars" if self.target_name == "wheel" else "jvm-shim/jars"
        ready = os.environ.get("SPARKCONFIG_READY_JARS")
        for jar in sorted(Path(ready).glob("sparkconfig*.jar")) if ready else jars():
            build_data["force_include"][str(jar)] = f"{folder}/{jar.name}"
        if self.target_name == "wheel":
            build_data["force_include"][str(ROOT / "conf" / "policies")] = "sparkconfig/data/policies"


def _for_pre_commit() -> bool:
    """Whether pre-commit installs its clone into an environment in it: the hook looks at files and starts no Spark."""
    environment = Path(os.environ.get("VIRTUAL_ENV") or ROOT)
    return environment.parent == ROOT and environment.name.startswith("py_env-")


def jars() -> list[Path]:
    """Return all jars, current ones."""
    build = _module("build")
    found = {scala: _current(build, scala) for scala in SPARKS}
    missing = [scala for scala, current in found.items() if not current]
    if missing:
        _compile(build, [SPARKS[scala] for scala in missing])
        found.update({scala: _current(build, scala) for scala in missing})
    if not all(found.values()):
        raise RuntimeError("a jar is not what its sources say: they changed while it was built; build again")
    return [jar for current in found.values() for jar in current]


def _current(build: ModuleType, scala: str) -> list[Path]:
    """The jars of a Scala version; none if one of them has to be built."""
    digest = build.inputs(build.FLAVOURS[scala], SPARKS[scala])
    for folder in (READY, BUILT):
        current = [folder / name for name in build.jar_names(scala)]
        if all(build.is_current(jar, digest) for jar in current):
            return current
    return []


def _compile(build: ModuleType, sparks: list[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="sparkconfig-build-") as scratch:
        # A checkout keeps its downloads; elsewhere nobody would remove them.
        cache = ROOT / ".cache" if (ROOT / ".git").exists() else Path(scratch)
        home = _module("java").ensure(cache / "java")
        for spark in sparks:
            build.build(_pyspark(spark, cache), BUILT, str(home / "bin" / "java"))


def say(text: str) -> None:
    """Tell who waits: pip keeps what a build prints to itself, and a download of minutes would look hung."""
    sys.stderr.write(f"{text}\n")
    if not sys.stderr.isatty():
        # Without a terminal there is nobody to tell.
        with contextlib.suppress(OSError), Path("/dev/tty").open("w") as terminal:
            terminal.write(f"\rsparkconfig: {text}\n")


def _fetch(command: list[str], environ: dict[str, str], folder: Path, what: str) -> None:
    """Run pip, and say every few seconds how much is in its folder: its own bar does not reach a terminal from here."""
    began = time.monotonic()
    with subprocess.Popen(command, stdout=sys.stderr, env=environ) as pip:
        while True:
            try:
                code = pip.wait(_BEAT)
                break
            except subprocess.TimeoutExpired:
                size = sum(_size(path) for path in folder.rglob("*")) >> 20
                say(f"still fetching {what}: {size} MB on the disk after {time.monotonic() - began:.0f} s")
    if code:
        raise subprocess.CalledProcessError(code, command)


def _size(path: Path) -> int:
    with contextlib.suppress(OSError):  # gone meanwhile
        return path.lstat().st_size
    return 0


def _pyspark(version: str, cache: Path) -> Path:
    """Return the package directory of a Spark, fetched if it is not there."""
    package = cache / f"pyspark-{version}"
    if (package / "jars").is_dir():
        return package
    say(f"fetching pyspark {version}, whose Scala compiler builds a jar (400 MB)")
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=cache) as scratch:
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-compile"]
        command += ["--root-user-action=ignore", "--target", scratch, f"pyspark=={version}"]
        # Constraints of the build name the Spark to run on, not those to compile against.
        environ = {key: value for key, value in os.environ.items() if key != "PIP_CONSTRAINT"}
        _fetch(command, {**environ, "TMPDIR": scratch}, Path(scratch), f"pyspark {version}")
        fetched = Path(scratch) / "pyspark"
        for entry in fetched.iterdir():  # the jars are all that is needed
            if entry.name != "jars" and entry.is_dir():
                shutil.rmtree(entry)
        fetched.rename(package)
    return package
