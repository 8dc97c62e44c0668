"""Put bytecode beside the sources in Spark's zipped Python and of sparkconfig, for the processes that the tests start.

    python tests/support/bytecode.py

Spark puts ``python/lib/pyspark.zip`` and py4j's zip in front of the Python path of applications and executors. Python
keeps no bytecode of what it imports from a zip: each of the some hundred Python processes of the tests would compile
the same modules anew, which is three quarters of the processor time of its start. The sources stay, and a Python of
another version, which cannot read this bytecode, takes them.

Processes of Spark keep no bytecode of sparkconfig either (PYTHONDONTWRITEBYTECODE): a side process compiled 91 modules
at its start, a third of its processor time.
"""

from __future__ import annotations

import compileall
import os
import py_compile
import re
import tempfile
import zipfile
from pathlib import Path

# What hardly any process of the tests imports: two thirds of it all.
_LEFT_OUT = re.compile(r"/pyspark/(pandas|ml|mllib|(.*/)?tests)/")
_PACKAGE = Path(__file__).resolve().parents[2] / "python" / "sparkconfig"


def add_bytecode(archive: Path) -> None:
    """Rewrite a zip of Python sources with their bytecode beside them, unless it has some.

    Raises:
        OSError: the zip's folder cannot be written to.
    """
    with zipfile.ZipFile(archive) as before:
        sources = before.infolist()
        if any(source.filename.endswith(".pyc") for source in sources):
            return
        partial = archive.with_suffix(f".{os.getpid()}.partial")
        with (
            tempfile.TemporaryDirectory() as scratch,
            zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as after,
        ):
            before.extractall(scratch)
            compileall.compile_dir(
                scratch,
                ddir=str(archive),
                quiet=2,
                rx=_LEFT_OUT,
                legacy=True,
                # What a zip holds changes with the zip alone.
                invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
            )
            for source in sources:
                after.writestr(source, before.read(source))
            for bytecode in sorted(Path(scratch).rglob("*.pyc")):
                after.write(bytecode, bytecode.relative_to(scratch))
    partial.replace(archive)


def main() -> None:
    """Add the bytecode to the zips of this environment's pyspark, and to this checkout's package."""
    import pyspark

    for archive in sorted((Path(pyspark.__file__).parent / "python" / "lib").glob("*.zip")):
        add_bytecode(archive)
    compileall.compile_dir(_PACKAGE, quiet=2)


if __name__ == "__main__":
    main()
