"""What SQL statements would ask the rules about statements, functions, paths, sources and connections.

For ``sparkconfig validate --statement`` and policy cases. Spark's own parser reads them, in a JVM that ends with the
answer.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from sparkconfig._spark.jars import find_jar, find_spark
from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.request import StatementItem

__all__ = ["items_of"]

_PROGRAM = "io.sparkconfig.policy.doors.StatementItems"
_FLAGS = ("-Xss16m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dlog4j2.level=OFF")
_SECONDS = 120.0
_NEEDS = (
    "--statement and cases with statements need a Spark and Java here, since Spark's own parser reads them"
)


def items_of(texts: Sequence[str]) -> dict[str, list[StatementItem] | None]:
    """Return the items of each statement; None: Spark cannot parse it.

    Links and the default file system are this machine's.

    Raises:
        ConfigurationError: there is no Spark or no Java here, or it does not run.
    """
    if not texts:
        return {}
    asked = list(dict.fromkeys(texts))
    problem = ""
    try:
        spark = find_spark()
        path = os.pathsep.join([str(find_jar(spark.home)), f"{spark.jars}/*"])
        done = subprocess.run(
            [_java(), *_FLAGS, "-cp", path, _PROGRAM],
            input=json.dumps(asked).encode(),
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        lines = done.stdout.decode("utf-8", "replace").splitlines()
        if done.returncode == 0 and lines:
            return {
                text: None if items is None else [StatementItem(*item) for item in items]
                for text, items in zip(asked, json.loads(lines[-1]), strict=True)
            }
        problem = f"the parser ended with code {done.returncode}"
    except (ConfigurationError, OSError, subprocess.TimeoutExpired) as error:
        problem = str(error) if isinstance(error, ConfigurationError) else type(error).__name__
    raise ConfigurationError(f"{_NEEDS}: {problem}")


def _java() -> str:
    home = os.environ.get("JAVA_HOME", "")
    found = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if found is None:
        raise ConfigurationError("there is no java on the PATH, and JAVA_HOME is not set")
    return found
