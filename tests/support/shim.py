"""The shim's jar for tests."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from support.spark_home import spark_home

ROOT = Path(__file__).resolve().parents[2]


def kafka_jar() -> Path:
    """The jar with what implements interfaces of kafka-clients."""
    main = shim_jar()
    return main.with_name(main.name.replace("sparkconfig_", "sparkconfig-kafka_", 1))


@cache
def shim_jar() -> Path:
    """The jar that fits this environment's Spark, built when the sources are newer."""
    given = os.environ.get("SPARKCONFIG_TEST_JAR")
    if given:
        return Path(given)
    done = subprocess.run(
        [sys.executable, str(ROOT / "jvm-shim" / "build.py"), "--pyspark", str(spark_home())],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return Path(done.stdout.strip().splitlines()[-1])
