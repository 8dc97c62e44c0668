"""Python workers outside Spark, and what their module brings with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sparkconfig import worker
from sparkconfig.errors import AgentError


def test_outside_spark_the_worker_says_what_it_is_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARKCONFIG_WORKER", raising=False)
    with pytest.raises(AgentError, match=r"sparkconfig\.worker works in Python code that Spark runs"):
        worker.current("${a:b}")


def test_what_is_not_an_executors_folder_is_not_entered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment may be left from before, and another user may have made the folder since."""
    tmp_path.chmod(0o755)
    folder = str(tmp_path)
    for text in (
        "",
        "{}",
        "[]",
        "7",
        json.dumps({"folder": folder}),
        json.dumps({"folder": folder, "token": "x"}),
    ):
        monkeypatch.setenv("SPARKCONFIG_WORKER", text)
        with pytest.raises(AgentError, match="no executor with sparkconfig was found"):
            worker.current("${a:b}")


def test_the_worker_module_imports_neither_pyspark_nor_the_brain() -> None:
    code = (
        "import sys, sparkconfig.worker\n"
        "heavy = {'pyspark', 'py4j', 'cryptography', 'sparkconfig.resolution.resolver',"
        " 'sparkconfig.settings.schema'}\n"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
