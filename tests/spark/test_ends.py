"""However an application ends, it ends as it does without sparkconfig: same exit code, nothing left behind.

Each row of the table runs twice at the same time, on stock Spark and with the plugin. ``make test`` runs a few rows;
``SPARKCONFIG_ENDS=all`` runs the whole table::

    SPARKCONFIG_ENDS=all python -m pytest tests/spark/test_ends.py
"""

from __future__ import annotations

import os
import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pyspark
import pytest

from leaks.support import jvm_jar
from support.processes import Child, Run, wait_until
from support.session import QUIET
from support.shim import shim_jar
from support.spark_home import spark_environment, spark_home
from support.sql_servers import CONNECT, CONNECT_CONFS, THRIFT, thrift_confs

pytestmark = pytest.mark.spark

APPS = Path(__file__).parent / "apps"
SECRET = "Canary-5e2f81-value"
MARKER = "SPARKCONFIG_TEST_END"


class End(NamedTuple):
    """One row: what is started, how it ends, and whether it has stopped Spark before."""

    front: str
    how: str
    stop: bool = False

    def __str__(self) -> str:
        return f"{self.front}-{self.how}{'-stopped' if self.stop else ''}"


SIGNALS = ("SIGTERM", "SIGINT", "SIGTERM-group", "SIGKILL")
HOWS = {
    "submit": ("return", "exception", "exit", "_exit", "halt", *SIGNALS),
    "script": ("return", "exception", "exit", "_exit", "halt", *SIGNALS),
    "scala": ("return", "exception", "exit", "halt", *SIGNALS),
}
TABLE = [
    *(End(front, how, stop) for front, hows in HOWS.items() for how in hows for stop in (False, True)),
    *(End("sql", how) for how in ("return", "exception", *SIGNALS)),
    *(End(front, how) for front in ("connect", "thrift") for how in SIGNALS),
]
FEW = [
    End("submit", "exit"),
    End("script", "SIGTERM-group"),
    End("scala", "SIGINT", stop=True),
]
ROWS = TABLE if os.environ.get("SPARKCONFIG_ENDS") == "all" else FEW


@dataclass
class Side:
    """One of the two: stock Spark, or Spark with the plugin."""

    run: Run
    folder: Path
    plugin: bool

    @property
    def name(self) -> str:
        return "ours" if self.plugin else "stock"

    def confs(self, end: End) -> dict[str, str]:
        folder = self.folder
        confs = {
            **QUIET,
            "spark.master": "local[1]",
            "spark.driver.memory": "500m",
            "spark.app.name": "ending",
            "spark.sql.warehouse.dir": f"{folder}/warehouse",
            "spark.sql.catalogImplementation": "hive" if end.front == "thrift" else "in-memory",
            **CONNECT_CONFS,
            **thrift_confs(folder),
        }
        if self.plugin:
            store = folder / "shop.properties"
            store.write_text(f"badge={SECRET}\nstore={SECRET}\n")
            confs |= {
                "spark.jars": str(shim_jar()),
                "spark.plugins": "io.sparkconfig.ConfigPlugin",
                "spark.config.agent.python": sys.executable,
                "spark.config.providers": "files",
                "spark.config.providers.files.class": "file",
                # A file is one more thing that could be left.
                "spark.config.files.text": f"files:{store}:store",
                "spark.config.files.directory": f"{folder}/local",
                "spark.shop.badge": f"${{files:{store}:badge}}",
                "spark.shop.store": f"${{files:{store}:store}}",
            }
        return confs

    def start(self, end: End, scala: Path | None) -> Child:
        for name in ("local", "tmp"):
            (self.folder / name).mkdir(parents=True)
        file = self.folder / "job.conf"
        file.write_text("".join(f"{key} {text}\n" for key, text in self.confs(end).items()))
        submit = [spark_home() / "bin" / "spark-submit", "--properties-file", file]
        arguments = [end.how, "stop" if end.stop else "keep"]
        query = {"return": "select 1", "exception": "select no_such_column"}
        command = {
            "submit": [*submit, APPS / "ending.py", *arguments],
            "script": [sys.executable, APPS / "ending.py", *arguments],
            "scala": [*submit, "--class", "Ending", scala, *arguments],
            "sql": [
                spark_home() / "bin" / "spark-sql", "--properties-file", file, "-e",
                query.get(end.how, "select 'READY'; select count(*) from range(1000000000000000)"),
            ],
            "connect": [*submit, "--class", CONNECT, "spark-internal"],
            "thrift": [*submit, "--class", THRIFT, "spark-internal"],
        }[end.front]  # fmt: skip
        temporary = self.folder / "tmp"
        return self.run.start(
            f"{end}-{self.name}",
            command,
            env={
                **spark_environment(self.folder, self.folder / "local"),
                "PYSPARK_PYTHON": sys.executable,
                "PYSPARK_SUBMIT_ARGS": f"--properties-file {file} pyspark-shell",
                "TMPDIR": str(temporary),
                "XDG_RUNTIME_DIR": str(temporary),
                "JDK_JAVA_OPTIONS": f"-XX:TieredStopAtLevel=1 -Djava.io.tmpdir={temporary}",
                MARKER: self.name,
            },
            cwd=self.folder,
        )

    def left(self) -> Counter[str]:
        """What is in the folders for temporary files, without what differs from run to run."""
        found = (
            path.relative_to(self.folder)
            for name in ("local", "tmp")
            for path in (self.folder / name).rglob("*")
        )
        return Counter(
            re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|\b[0-9a-f]{16}\b|\d+", "*", str(path)) for path in found
        )


def living(run: Run, name: str) -> list[str]:
    """Return the commands of this side's processes."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                variables = (folder / "environ").read_bytes().split(b"\0")
                if {f"{MARKER}={name}".encode(), f"SPARKCONFIG_HARNESS_RUN={run.token}".encode()} <= set(
                    variables
                ):
                    found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
            except OSError:
                pass  # it has ended, or is another user's
    return found


def finish(side: Side, end: End, child: Child) -> None:
    """Wait for the end, which a signal brings about once the program is ready."""
    ready = {
        "connect": r"Spark Connect server started at",
        "thrift": r"Starting ThriftBinaryCLIService on port",
    }.get(end.front, r"^(printed: )?READY")
    if end.how.startswith("SIG"):
        child.wait_for(ready, timeout=120)
        number, _, group = end.how.partition("-")
        # A terminal sends Ctrl-C to the whole group; a scheduler sends its signal to the process that it started.
        send = os.killpg if group or number == "SIGINT" else os.kill
        send(child.pid, signal.Signals[number])
    child.wait(120)
    # Stock Spark leaves a Python application behind that waits for nothing but a signal.
    leaving = {"SIGKILL", "SIGTERM"} if pyspark.__version__.startswith("3.") else {"SIGKILL"}
    orphan = "ending.py" if end.front == "submit" and end.how in leaving else "nothing"

    def gone() -> bool:
        return not [command for command in living(side.run, side.name) if orphan not in command]

    wait_until(f"the end of all processes of {child.name}: {child.log}", gone, timeout=30)


@pytest.fixture(scope="module", autouse=True)
def _default_sigint() -> Iterator[None]:
    """Children get SIGINT. A shell's background job (``pytest ... &``) ignores it, and children inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    "end",
    [
        pytest.param(row, marks=[pytest.mark.sparks(since="4.0")] if row.front == "connect" else [])
        for row in ROWS
    ],
    ids=str,
)
def test_an_application_ends_as_without_us(end: End, harness_run: Run) -> None:
    scala = jvm_jar() if end.front == "scala" else None
    # A short path, since those of sockets are limited to 107 bytes.
    folder = harness_run.private_dir(str(end))
    sides = [Side(harness_run, folder / name, plugin) for name, plugin in (("stock", False), ("ours", True))]
    children = [side.start(end, scala) for side in sides]
    try:
        for side, child in zip(sides, children, strict=True):
            finish(side, end, child)
        stock, ours = (child.process.returncode for child in children)
        text = children[1].output()
        assert SECRET not in text
        assert ours == stock, text[-3000:]
        # Nothing can clean up after these. Stock leaves folders; the next application removes ours (docs/files.md).
        if end.how != "SIGKILL" and end != ("scala", "halt", False):
            assert sides[1].left() - sides[0].left() == Counter()
        for noise in ("does not answer", "UiFilter", "1 references"):
            assert noise not in text, [line for line in text.splitlines() if noise in line][:3]
    finally:
        for child in children:
            child.stop(signal.SIGKILL)
