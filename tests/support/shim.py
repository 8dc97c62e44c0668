"""The shim's jar for tests."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from support.spark_home import spark_home

ROOT = Path(__file__).resolve().parents[2]


def kafka_jar() -> Path:
    """The jar with what implements interfaces of kafka-clients."""
    return connector_jar("kafka")


def connector_jar(name: str) -> Path:
    """The jar with what implements interfaces of a connector's library."""
    main = shim_jar()
    return main.with_name(main.name.replace("sparkconfig_", f"sparkconfig-{name}_", 1))


def all_jars() -> list[Path]:
    """The main jar and those of the connectors."""
    main = shim_jar()
    return [main, *sorted(main.parent.glob(main.name.replace("sparkconfig_", "sparkconfig-*_", 1)))]


@cache
def shim_jar() -> Path:
    """The jar that fits this environment's Spark, built when the sources are newer."""
    given = os.environ.get("SPARKCONFIG_TEST_JAR")
    if given:
        return Path(given)
    (ROOT / "build").mkdir(exist_ok=True)
    # Of the processes that run tests at once, one compiles; the others then find the jar.
    with (ROOT / "build" / "jar.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(
            [sys.executable, str(ROOT / "tools" / "jars" / "build.py"), "--pyspark", str(spark_home())],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
    return Path(done.stdout.strip().splitlines()[-1])
