"""Starts of Spark, good and bad ones: many in one JVM, or a command as a user gives it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from support.session import QUIET
from support.shim import shim_jar
from support.spark_home import spark_environment

APP = Path(__file__).parents[1] / "spark" / "apps" / "start_cases.py"
PLUGIN = "io.sparkconfig.ConfigPlugin"
BASE = {**QUIET, "spark.master": "local[1]", "spark.app.name": "start", "spark.ui.enabled": "false"}
FILES = {"spark.config.providers": "files", "spark.config.providers.files.class": "file"}


def started(
    cases: Mapping[str, Mapping[str, str]],
    folder: Path,
    *,
    secret: str,
    submit: Iterable[str] = (),
    env: Mapping[str, str] | None = None,
) -> tuple[dict[str, dict[str, Any]], str]:
    """How each start with the plugin ended, and what was printed besides; all in one JVM, one after the other."""
    base = {**BASE, "spark.jars": str(shim_jar()), "spark.plugins": PLUGIN}
    done = subprocess.run(
        [sys.executable, str(APP)],
        input=json.dumps([{**base, **case} for case in cases.values()]),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        cwd=folder,
        env={
            **os.environ,
            **(env or {}),
            "PYSPARK_SUBMIT_ARGS": " ".join(["--jars", str(shim_jar()), *submit, "pyspark-shell"]),
        },
    )
    lines = done.stdout.splitlines()
    answers = [json.loads(line[5:]) for line in lines if line.startswith("CASE ")]
    assert len(answers) == len(cases), done.stderr[-3000:].replace(secret, "(value)")
    others = "\n".join(line for line in lines if not line.startswith("CASE "))
    return dict(zip(cases, answers, strict=True)), others + done.stderr


def run(command: Iterable[str | Path], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder; an application writes what it saw into the file that `SEEN` names."""
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("SPARK_", "PYSPARK_"))}
    return subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        cwd=folder,
        env={
            **plain,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "PYSPARK_PYTHON": sys.executable,
            "SEEN": str(folder / "seen.json"),
            **variables,
        },
    )


def run_job(
    folder: Path, confs: Mapping[str, str], *arguments: str | Path
) -> subprocess.CompletedProcess[str]:
    """Run ``python job.py`` in a folder whose spark-defaults.conf has these confs, the plugin and the jar."""
    whole = {
        **QUIET,
        "spark.ui.enabled": "false",
        "spark.plugins": PLUGIN,
        "spark.driver.extraClassPath": str(shim_jar()),
        **confs,
    }
    defaults = folder / "spark-defaults.conf"
    defaults.touch(0o600)
    defaults.write_text("".join(f"{key} {text}\n" for key, text in whole.items()))
    return subprocess.run(
        [sys.executable, "job.py", *map(str, arguments)],
        cwd=folder, env={**os.environ, **spark_environment(folder, folder / "local")},
        capture_output=True, text=True, check=False, timeout=240,
    )  # fmt: skip
