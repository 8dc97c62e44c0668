"""Run a small application on each Spark, Java and Python: ``run.py [--spark 4.3.0] [--java 17] [--write [FILE]]``.

Java is looked for in JAVA_HOME and /usr/lib/jvm, and 21 comes from PyPI; Python on the PATH and from pyenv. Cells of
what is not on this machine stay as they were. Each Python gets the newest pandas and pyarrow that pip has for it. Where
a step fails, stock Spark runs it too: what fails there is no fault of ours, and the cell says so.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
RESULTS = HERE / "results.json"
CACHE = ROOT / ".cache" / "versions"
SPARKS = ("3.5.9", "4.0.5", "4.1.4", "4.2.1", "4.3.0")
JAVAS = ("17", "21", "25")
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
# The jars as they are shipped are compiled on the oldest Spark that each serves.
COMPILED_ON = {"3": "3.5.9", "4": "4.0.5"}
PACKAGES = ("pandas", "pyarrow", "numpy", "cryptography", "py4j", "zstandard")
_VERSIONS = "import importlib.metadata as m; print(m.version('pandas'), m.version('pyarrow'))"
# setuptools' wheels compress Spark's jars once more, which takes long.
_QUICKLY = "--config-settings=--build-option=--compression=stored"
SECONDS = 600


def spark(version: str) -> Path:
    """Return the folder with this pyspark, which any Python can import."""
    folder = CACHE / f"pyspark-{version}"
    if not folder.exists():
        partial = folder.with_suffix(".partial")
        command = [
            sys.executable,
            "-m",
            "pip",
            "install",
            "-q",
            "--no-deps",
            "--target",
            str(partial),
            _QUICKLY,
        ]
        subprocess.run([*command, f"pyspark=={version}"], check=True)
        partial.rename(folder)
    return folder


def python(version: str) -> Path | None:
    """Return the interpreter of an environment with this Python and the newest packages, if this machine has it."""
    own = CACHE / f"python-{version}" / "bin" / "python"
    if own.exists():
        return own
    pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    found = shutil.which(f"python{version}") or next(iter(pyenv), None)
    if found is None:
        return None
    partial = own.parents[1].with_suffix(".partial")
    subprocess.run([found, "-m", "venv", "--clear", str(partial)], check=True)
    # In its final place, since the scripts of an environment name it.
    partial.rename(own.parents[1])
    subprocess.run([own, "-m", "pip", "install", "-q", *PACKAGES], check=True)
    return own


def java(version: str) -> Path | None:
    """Return a JAVA_HOME of this version, if this machine has it."""
    homes = [Path(os.environ.get("JAVA_HOME", "/none")), *sorted(Path("/usr/lib/jvm").glob("*"))]
    if found := next((home for home in homes if _java_version(home) == version), None):
        return found
    if version != "21":
        return None
    command = [sys.executable, str(ROOT / "tools" / "jars" / "java.py"), "--into", str(CACHE / "java-21")]
    environment = {**os.environ, "JAVA_HOME": "", "PATH": "/none"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return Path(done.stdout.strip())


def _java_version(home: Path) -> str | None:
    try:
        text = (home / "release").read_text(encoding="utf-8")
    except OSError:
        return None
    found = re.search(r'JAVA_VERSION="(\d+)', text)
    return found[1] if found else None


def jar(version: str, java_home: Path) -> str:
    """Return the jar for this Spark."""
    built = spark(COMPILED_ON[version[0]]) / "pyspark"
    command = [
        sys.executable,
        str(ROOT / "tools" / "jars" / "build.py"),
        "--java",
        str(java_home / "bin" / "java"),
    ]
    command += ["--out", str(ROOT / "build" / "versions"), "--pyspark", str(built)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip().splitlines()[-1]


def run(interpreter: Path, java_home: Path, version: str, *jar: str) -> dict[str, str]:
    """Return what each step of the application ended with."""
    home = spark(version) / "pyspark"
    paths = [spark(version), *home.glob("python/lib/py4j-*.zip"), ROOT / "python"]
    environment = {
        "HOME": os.environ["HOME"],
        "PATH": f"{java_home}/bin:/usr/bin:/bin",
        "JAVA_HOME": str(java_home),
        "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1",
        "PYSPARK_PYTHON": str(interpreter),
        "PYTHONPATH": ":".join(map(str, paths)),
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    with tempfile.TemporaryDirectory() as folder:
        command = [str(interpreter), str(HERE / "smoke.py"), folder, *jar]
        environment["SPARK_LOCAL_DIRS"] = folder
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {"start": f"no end within {SECONDS} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"start"')]
    found = json.loads(lines[-1]) if lines else {"start": f"exit code {done.returncode}"}
    if set(found.values()) != {"ok"}:
        sys.stderr.write(done.stderr[-6000:])
    return {str(step): str(end) for step, end in found.items()}


def cell(version: str, java_version: str, python_version: str) -> dict[str, Any] | None:
    """Return one cell, or None where this machine lacks its Java or Python."""
    interpreter, java_home = python(python_version), java(java_version)
    if interpreter is None or java_home is None:
        return None
    done = subprocess.run([interpreter, "-c", _VERSIONS], capture_output=True, text=True, check=True)
    pandas, pyarrow = done.stdout.split()
    compiler = java("17") or java_home
    steps = run(interpreter, java_home, version, jar(version, compiler))
    found: dict[str, Any] = {"spark": version, "java": java_version, "python": python_version}
    found |= {"pandas": pandas, "pyarrow": pyarrow, "with": steps}
    if set(steps.values()) != {"ok"}:
        found["without"] = run(interpreter, java_home, version)
    return found


def failures(found: dict[str, Any]) -> list[str]:
    """Return the steps that fail although stock Spark passes them."""
    without = found.get("without", {})
    return [step for step, end in found["with"].items() if end != "ok" and without.get(step, "ok") == "ok"]


def main() -> int:
    """Run the cells; the exit code is 1 if one fails where stock Spark does not."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, known in (("spark", SPARKS), ("java", JAVAS), ("python", PYTHONS)):
        parser.add_argument(f"--{name}", choices=known, action="append")
    parser.add_argument(
        "--write", type=Path, nargs="?", const=RESULTS, help="into results.json, or another file"
    )
    arguments = parser.parse_args()
    failed = False
    for version in arguments.spark or SPARKS:
        for java_version in arguments.java or JAVAS:
            for python_version in arguments.python or PYTHONS:
                if (found := cell(version, java_version, python_version)) is None:
                    continue
                failed |= bool(failures(found))
                print(json.dumps(found), flush=True)
                if arguments.write:
                    _keep(found, arguments.write)
    return int(failed)


def _keep(found: dict[str, Any], results: Path) -> None:
    """Put a cell into the place of the earlier one."""
    names = ("spark", "java", "python")
    kept = json.loads(results.read_text(encoding="utf-8")) if results.exists() else []
    cells = {tuple(each[name] for name in names): each for each in [*kept, found]}
    lines = ",\n".join(json.dumps(each) for _, each in sorted(cells.items()))
    results.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
