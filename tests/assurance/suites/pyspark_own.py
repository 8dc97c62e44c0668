"""PySpark's own doctests, in classic sessions and in clients of a Connect server."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyspark

from suites.outcome import WHOLE, Outcome, settings
from support.processes import HarnessError, Run
from support.session import QUIET
from support.shim import shim_jar
from support.spark_home import spark_environment, spark_home


def spark_version() -> str:
    """The Spark of this environment, whose doctests these are."""
    return pyspark.__version__


def available(modules: Sequence[str]) -> list[str]:
    """Those modules that this PySpark has."""
    home = spark_home()
    return [name for name in modules if (home / Path(*name.split(".")[1:])).with_suffix(".py").is_file()]


class Doctests:
    """Runs modules' doctests on one side."""

    def __init__(self, run: Run, *, limit: float) -> None:
        self.run = run
        self.limit = limit

    def outcome(self, name: str, modules: Sequence[str], *, plugin: bool, turn: int = 1) -> Outcome:
        """Run each module in a process of its own; those of Connect share a server."""
        side = f"{name}-{'on' if plugin else 'off'}-{turn}"
        folder = self.run.private_dir(side)
        confs = {**QUIET, "spark.sql.warehouse.dir": str(folder / "warehouse")}
        if plugin:
            confs |= {**settings(folder), "spark.jars": str(shim_jar())}
        begin = time.monotonic()
        tests: dict[str, str] = {}
        left = []
        connect = any(".connect." in module for module in modules)
        with self._server(side, folder, confs) if connect else self._defaults(folder, confs) as env:
            for module in modules:
                try:
                    tests |= self._module(side, module, folder, env)
                except HarnessError:
                    left.append(module)
        return Outcome(tests, time.monotonic() - begin, left=left)

    def _module(self, side: str, module: str, folder: Path, env: dict[str, str]) -> dict[str, str]:
        file = folder / f"{module}.json"
        command = [sys.executable, Path(__file__).with_name("doctests.py"), module, file]
        child = self.run.start(f"{side}-{module}", command, env=env, cwd=folder)
        try:
            child.wait(timeout=self.limit)
        except HarnessError:
            child.stop()
            raise
        found = json.loads(file.read_text()) if file.exists() else {}
        if not found:
            print(child.output()[-2000:])
            return {f"{module}: {WHOLE}": "missing"}
        return {f"{module}: {test.removeprefix(module + '.')}": state for test, state in found.items()}

    @contextmanager
    def _defaults(self, folder: Path, confs: dict[str, str]) -> Iterator[dict[str, str]]:
        conf = folder / "conf"
        conf.mkdir()
        lines = "".join(f"{key} {text}\n" for key, text in confs.items())
        (conf / "spark-defaults.conf").write_text(lines)
        yield {
            **spark_environment(conf, folder / "local"),
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_TESTING": "1",
        }

    @contextmanager
    def _server(self, side: str, folder: Path, confs: dict[str, str]) -> Iterator[dict[str, str]]:
        with self._defaults(folder, confs | {"spark.connect.grpc.binding.port": "0"}) as env:
            server = self.run.start(
                f"{side}-server",
                [spark_home() / "bin" / "spark-submit", "--master", "local[2]",
                 "--class", "org.apache.spark.sql.connect.service.SparkConnectServer",
                 "spark-internal"],
                env=env,
            )  # fmt: skip
            port = server.wait_for(r"Connect server started at: \S*:(\d+)", timeout=300).group(1)
            yield env | {"SPARK_CONNECT_TESTING_REMOTE": f"sc://localhost:{port}"}
            server.stop()
