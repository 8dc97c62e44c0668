"""Where Spark and Java are: the pyspark wheel of this environment, and the Java that the Makefile found."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path


def spark_home() -> Path:
    """The folder of the installed pyspark, which is a complete Spark."""
    found = importlib.util.find_spec("pyspark")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("pyspark is not installed in this environment: run 'make venv'")
    return Path(found.origin).parent


def spark_environment(conf_dir: Path, local_dir: Path) -> Mapping[str, str]:
    """The variables that every Spark process of a run needs: all on loopback, nothing from the user's environment."""
    return {
        "SPARK_HOME": str(spark_home()),
        "SPARK_CONF_DIR": str(conf_dir),
        "SPARK_LOCAL_DIRS": str(local_dir),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_PUBLIC_DNS": "127.0.0.1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


def java() -> str:
    """The Java that Spark runs on: the Makefile's, which need not be on the PATH."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin", "java")) if home else "java"
