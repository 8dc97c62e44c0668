"""Processes of a run end with it, in whatever way it ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.guardian import end_processes, marked_processes
from support.processes import HarnessError, Run, wait_until

# A child that starts a grandchild in a session of its own, as daemons do.
FAMILY = "setsid sleep 300 & echo ready; exec sleep 300"


def test_leaving_the_run_ends_its_processes_and_removes_its_directory():
    with Run() as run:
        run.start("family", ["bash", "-c", FAMILY]).wait_for("ready", timeout=10)
        # "ready" is said before both have become the programs that they are to be.
        wait_until("both of the family", lambda: len(marked_processes(run.token)) == 2, timeout=10)

    assert marked_processes(run.token) == []
    assert not run.dir.exists()


def test_a_process_that_is_always_starting_another_program_is_ended():
    script = 'exec bash -c "$0" "$0"'
    with Run() as run:
        for number in range(20):
            child = run.start(f"restless{number}", ["bash", "-c", script, script])
            end_processes(run.token)
            assert child.wait(timeout=1) in (-signal.SIGTERM, -signal.SIGKILL)


def test_a_killed_owner_leaves_nothing_behind():
    script = f"""
import sys, time
sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from support.processes import Run
run = Run()
run.start("family", ["bash", "-c", {FAMILY!r}]).wait_for("ready", timeout=10)
print(run.token, run.dir, flush=True)
time.sleep(300)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as owner:
        token, directory = owner.stdout.readline().split()
        wait_until("both of the family", lambda: len(marked_processes(token)) == 2, timeout=10)
        os.kill(owner.pid, signal.SIGKILL)

    wait_until("the guardian's work", lambda: not Path(directory).exists(), timeout=20)
    assert marked_processes(token) == []


def test_a_process_that_ends_too_early_is_an_error_that_names_its_log():
    with Run() as run:
        child = run.start("short", ["echo", "words"])

        with pytest.raises(HarnessError, match=r"short ended with 0; its log is .*short\.log"):
            child.wait_for("other words", timeout=10)


def test_the_directory_is_not_readable_for_others():
    with Run() as run:
        assert run.dir.stat().st_mode & 0o066 == 0
        assert run.private_file("secret", "x").stat().st_mode & 0o077 == 0
        assert run.logs.stat().st_mode & 0o077 == 0
