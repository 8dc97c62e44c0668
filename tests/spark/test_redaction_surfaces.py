"""Redaction on a real Spark: every surface of an application that shows its values wherever it can."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from leaks.support import bare_jvm, shim_jar
from leaks.values import CANARIES
from sparkconfig.redaction import MASK
from support import surfaces
from support.crawl import crawl, fetch
from support.leaks import LeakFinder
from support.processes import Run, wait_until
from support.spark_home import spark_environment, spark_home

pytestmark = pytest.mark.spark

APP = Path(__file__).parents[1] / "leaks" / "redaction_app.py"
#: Values that Spark accepts in a job's texts; the engine's own tests have all of them.
VALUES = {name: CANARIES[name] for name in ("plain", "awkward", "regex", "unicode", "edges", "twelve")}
#: Enough where only the way to a surface differs, and not what a value is made of.
FEW = {name: VALUES[name] for name in ("awkward", "regex")}

EVENT_LOGS = {
    "single": {"spark.eventLog.rolling.enabled": "false", "spark.eventLog.compress": "false"},
    "rolling": {"spark.eventLog.rolling.enabled": "true", "spark.eventLog.compress": "false"},
    "zstd": {"spark.eventLog.rolling.enabled": "false", "spark.eventLog.compress": "true"},
}


@dataclass
class Application:
    """A running application; its standard streams are collected until it ends."""

    ui: str
    folder: Path
    process: subprocess.Popen

    def output(self) -> bytes:
        return (self.folder / "stdout").read_bytes() + (self.folder / "stderr").read_bytes()


@contextmanager
def application(
    folder: Path, *, hooks: bool, conf: dict[str, str], values: dict[str, str] = VALUES
) -> Iterator[Application]:
    (folder / "events").mkdir()
    order = {
        "jar": str(shim_jar()), "values": values, "hooks": hooks,
        "conf": {"spark.eventLog.enabled": "true", "spark.eventLog.dir": (folder / "events").as_uri(),
                 "spark.sql.warehouse.dir": (folder / "warehouse").as_uri(), **conf},
    }  # fmt: skip
    with (folder / "stderr").open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, str(APP)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
            cwd=folder, env={**os.environ, "SPARK_LOCAL_DIRS": str(folder / "local")},
        )  # fmt: skip
        ready: list[str] = []
        there = threading.Event()

        def read() -> None:
            with (folder / "stdout").open("wb") as copy:
                for line in process.stdout:
                    copy.write(line)
                    if line.startswith(b"READY "):
                        ready.append(line.split()[1].decode())
                        there.set()
            there.set()

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        try:
            process.stdin.write(json.dumps(order).encode() + b"\n")
            process.stdin.flush()
            assert there.wait(180), "the application did not start in time"
            assert ready, f"the application ended early: {(folder / 'stderr').read_text()[-2000:]}"
            yield Application(ready[0], folder, process)
            process.stdin.close()
            assert process.wait(60) == 0
        finally:
            process.kill()
            process.wait()
            with suppress(BrokenPipeError):
                process.stdin.close()
            reader.join(10)
            process.stdout.close()


@pytest.fixture(scope="module")
def finder():
    return LeakFinder(VALUES.values())


@pytest.fixture(scope="module")
def history(tmp_path_factory) -> Path:
    """The event logs of the applications of this module, for a history server."""
    return tmp_path_factory.mktemp("history")


def test_no_surface_shows_a_value(tmp_path, finder, history):
    with application(tmp_path, hooks=True, conf=EVENT_LOGS["rolling"]) as app:
        found = [
            surfaces.search("pages", surfaces.application_pages(app.ui), finder),
            surfaces.search("environment", surfaces.environment_rest(app.ui), finder),
            surfaces.search("REST", surfaces.application_rest(app.ui), finder),
        ]
    found.append(surfaces.search("event log", surfaces.files([tmp_path / "events"]), finder))
    found.append(surfaces.search("output", [("output", app.output())], finder))
    for surface in found:
        assert surface.parts > 0
        assert surface.size > 1000
        assert surface.occurrences == 0, f"{surface.name}: {surface.where}"
    assert b"the last line of the log" in app.output()
    assert app.output().count(f"printed {MASK}".encode()) == 2 * len(VALUES)
    assert_event_log_is_complete(tmp_path / "events")
    shutil.copytree(tmp_path / "events", history, dirs_exist_ok=True)


def test_a_compressed_single_event_log(tmp_path, finder, history):
    with application(tmp_path, hooks=True, conf=EVENT_LOGS["zstd"], values=FEW):
        pass
    (log,) = (tmp_path / "events").iterdir()
    assert log.suffix == ".zstd"
    shutil.copy(log, history)
    with bare_jvm() as gateway:
        jvm = gateway.jvm
        stream = jvm.com.github.luben.zstd.ZstdInputStreamNoFinalizer(jvm.java.io.FileInputStream(str(log)))
        text = stream.readAllBytes()
    log.unlink()
    (tmp_path / "events" / "log").write_bytes(text)
    assert finder.count(text) == 0
    assert MASK.encode() in text
    assert_event_log_is_complete(tmp_path / "events")


def test_the_history_server_shows_the_redacted_logs(history, finder, tmp_path):
    """It knows no values: what it reads has none."""
    applications = [path.name for path in history.iterdir() if not path.name.startswith(".")]
    assert len(applications) == 2, "the two tests before this one leave a rolling and a compressed log"
    confs = {
        "spark.history.fs.logDirectory": history.as_uri(), "spark.history.ui.port": "0",
        "spark.history.fs.update.interval": "1s",
    }  # fmt: skip
    (tmp_path / "history.conf").write_text("".join(f"{key} {text}\n" for key, text in confs.items()))
    with Run() as run:
        server = run.start(
            "history",
            [spark_home() / "bin" / "spark-class", "org.apache.spark.deploy.history.HistoryServer",
             "--properties-file", tmp_path / "history.conf"],
            env={**spark_environment(tmp_path, tmp_path / "local"), "SPARK_DAEMON_MEMORY": "600m"},
        )  # fmt: skip
        ui = (
            "http://127.0.0.1:"
            + server.wait_for(r"HistoryServer.*started at http://\S+:(\d+)", timeout=90)[1]
        )
        listed = wait_until("both applications", lambda: _listed(ui, 2), timeout=60)
        found = []
        for each in listed:
            attempt = each["attempts"][0].get("attemptId")
            path = f"{each['id']}/{attempt}" if attempt else each["id"]
            pages = [
                f"{ui}/history/{path}/{page}/" for page in ("jobs", "stages", "storage", "environment", "SQL")
            ]
            found.append(
                surfaces.search("pages", crawl(pages, within=lambda url: "/api/v1/" not in url), finder)
            )
            base = f"{ui}/api/v1/applications/{path}"
            rest = [
                f"{base}/{page}"
                for page in ("jobs", "stages?details=true", "environment", "sql?details=true")
            ]
            answers = [(address, fetch(address)) for address in rest]
            found.append(surfaces.search("REST", answers, finder))
            jobs = json.loads(answers[0][1])
            assert any(MASK in job.get("description", "") for job in jobs)
            assert {job["status"] for job in jobs} >= {"SUCCEEDED", "FAILED"}
    for surface in found:
        assert surface.parts >= 4
        assert surface.size > 1000
        assert surface.occurrences == 0, f"{surface.name}: {surface.where}"


def _listed(ui: str, count: int) -> list[dict]:
    listed = json.loads(fetch(f"{ui}/api/v1/applications"))
    return listed if len(listed) == count else []


def assert_event_log_is_complete(folder: Path) -> None:
    files = [
        text
        for name, text in surfaces.files([folder])
        if "appstatus" not in name and not name.endswith(".crc")
    ]
    events = [json.loads(line)["Event"] for text in files for line in text.splitlines()]
    assert events[0] == "SparkListenerLogStart"
    assert "SparkListenerEnvironmentUpdate" in events
    assert events[-1] == "SparkListenerApplicationEnd"
    assert not [event for event in events if "Withheld" in event]


def test_without_the_hooks_the_same_application_leaks(tmp_path, finder):
    """The search itself works: what the other tests find clean is not clean by itself."""
    with application(tmp_path, hooks=False, conf=EVENT_LOGS["single"], values=FEW) as app:
        # The others load their rows from the REST interface.
        addresses = [f"{app.ui}/{page}/" for page in ("jobs", "stages", "storage")]
        pages = [(address, fetch(address)) for address in addresses]
        leaking = surfaces.search("pages", pages, finder).where
        rest = surfaces.search("environment", surfaces.environment_rest(app.ui), finder)
    assert leaking == addresses
    assert rest.occurrences
    assert surfaces.search("event log", surfaces.files([tmp_path / "events"]), finder).occurrences
    assert surfaces.search("output", [("output", app.output())], finder).occurrences
