"""`make run` as the end-to-end test: real database, real cluster, a rotation, and a password that is nowhere."""

import json
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.guardian import MARKER, marked_processes
from support.processes import wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

DEMO = Path(__file__).resolve().parents[2] / "docs" / "examples" / "demo" / "run.py"
SURFACES = {
    "environment REST",
    "other REST answers",
    "pages of the application",
    "temporary files",
    "master pages",
    "worker pages",
    "event log",
    "driver log",
    "executor logs",
    "master and worker logs",
    "process command lines",
    "process environments",
}


@contextmanager
def demo(*arguments):
    process = subprocess.Popen(
        # Tests that run in the background inherit an ignored SIGINT; a person at a terminal does not.
        ["env", "--default-signal=INT", sys.executable, "-u", DEMO, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.stdout.close()
        process.wait(60)


def run_token(process):
    """The marker of the demo's run, read off one of its children: the processes themselves say who they belong to."""
    for child in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((child / "stat").read_text().rpartition(")")[2].split()[1])
            variables = dict(
                part.split(b"=", 1) for part in (child / "environ").read_bytes().split(b"\0") if b"=" in part
            )
        except OSError:
            continue
        if parent == process.pid and MARKER.encode() in variables:
            return variables[MARKER.encode()].decode()
    return None


def read_until(process, text):
    lines = []
    for line in process.stdout:
        lines.append(line)
        if text in line:
            return
    raise AssertionError(f"no '{text}' in:\n{''.join(lines)}")


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """The report of one whole run, and the run's marker."""
    report = tmp_path_factory.mktemp("demo") / "report.json"
    with demo("--json", report) as process:
        read_until(process, "Starting a standalone Spark master")
        token = wait_until("a child of the demo", lambda: run_token(process), timeout=30)
        rest = process.stdout.read()
        assert process.wait(60) == 0, rest
    return json.loads(report.read_text()), token


def test_every_surface_was_searched_and_holds_neither_password(outcome):
    surfaces = outcome[0]["sparkconfig"]["surfaces"]

    assert set(surfaces) == SURFACES
    assert all(surface["size"] > 0 for surface in surfaces.values())
    assert {name: surface["where"] for name, surface in surfaces.items() if surface["occurrences"]} == {}


def test_the_same_search_finds_the_password_of_the_stock_job(outcome):
    surfaces = outcome[0]["stock"]["surfaces"]

    assert surfaces["process command lines"]["occurrences"] > 0
    assert surfaces["event log"]["occurrences"] > 0
    assert surfaces["environment REST"]["occurrences"] > 0


def test_the_next_read_after_the_rotation_needs_no_restart(outcome):
    ours, stock = outcome[0]["sparkconfig"], outcome[0]["stock"]

    assert ours["old_password_refused"]
    assert ours["followed_rotation"]
    assert len(ours["tables"]) == 2
    assert ours["tables"][0] == ours["tables"][1]
    assert stock["old_password_refused"]
    assert not stock["followed_rotation"]


def test_the_table_is_right(outcome):
    rows = [
        row.split("|")[1:3] for row in outcome[0]["sparkconfig"]["tables"][0].splitlines() if row[1:3] == "20"
    ]

    assert [(year, int(days)) for year, days in rows] == [
        ("2012", 366),
        ("2013", 365),
        ("2014", 365),
        ("2015", 365),
    ]


def test_both_workers_took_part(outcome):
    executors = outcome[0]["sparkconfig"]["executors"]

    assert len(executors) == 2
    assert all(tasks > 0 for tasks in executors.values())


def test_it_leaves_no_process_behind(outcome):
    assert marked_processes(outcome[1]) == []


def test_an_interrupt_leaves_no_process_behind():
    with demo() as process:
        read_until(process, "Starting a standalone Spark master")
        token = wait_until("a child of the demo", lambda: run_token(process), timeout=30)
        assert marked_processes(token)

        process.send_signal(signal.SIGINT)

        assert "interrupted" in process.stdout.read()
        assert process.wait(30) == 130
        assert marked_processes(token) == []
