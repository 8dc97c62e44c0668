"""A run: one private directory and a set of child processes that never outlive it."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from support import guardian

T = TypeVar("T")


class HarnessError(Exception):
    """Something that the tests or the demonstration need did not start or did not answer."""


PATIENCE = 1800
"""Seconds: what ends or fails is seen at once, and a machine that is busy is no reason to give up."""


def wait_until(what: str, probe: Callable[[], T | None], *, timeout: float, interval: float = 0.05) -> T:
    """Poll ``probe`` until it returns something true.

    Args:
        what: named in the error, for example ``"two workers"``.
        timeout: seconds.

    Raises:
        HarnessError: when the time is over.
    """
    deadline = time.monotonic() + timeout
    while True:
        answer = probe()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise HarnessError(f"waited {timeout:.0f} s for {what} in vain")
        time.sleep(interval)


class Child:
    """A process of the run, in a session of its own, with its output in a file."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], log: Path) -> None:
        self.name = name
        self.process = process
        self.log = log

    @property
    def pid(self) -> int:
        return self.process.pid

    def output(self) -> str:
        """Everything it has written so far to standard output and error."""
        return self.log.read_text(errors="replace")

    def wait_for(self, pattern: str, *, timeout: float) -> re.Match[str]:
        """Wait until the output matches the regular expression ``pattern``.

        Raises:
            HarnessError: the process ended, or the time was over, without such a line.
        """
        match = self.wait_for_or_end(pattern, timeout=timeout)
        if match is None:
            raise HarnessError(f"{self.name} ended with {self.process.returncode}; its log is {self.log}")
        return match

    def wait_for_or_end(self, pattern: str, *, timeout: float) -> re.Match[str] | None:
        """Like `wait_for`, but the end of the process without such a line is an answer too: None."""
        compiled = re.compile(pattern, re.MULTILINE)
        searched = -1

        def probe() -> tuple[re.Match[str] | None] | None:
            nonlocal searched
            # In this order, so that the last words of a process are read.
            ended = self.process.poll() is not None
            size = self.log.stat().st_size
            if size == searched and not ended:
                return None
            searched = size
            match = compiled.search(self.output())
            return (match,) if match or ended else None

        return wait_until(f"'{pattern}' from {self.name} (log: {self.log})", probe, timeout=timeout)[0]

    def wait(self, timeout: float) -> int:
        """Wait for its end and return its exit code."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise HarnessError(
                f"{self.name} did not end within {timeout:.0f} s; its log is {self.log}"
            ) from None

    def stop(self, number: signal.Signals = signal.SIGTERM, *, timeout: float = 10.0) -> None:
        """End the process and its session; kill what has not ended after ``timeout`` seconds."""
        if self.process.poll() is None:
            self.process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout)
        deadline = time.monotonic() + timeout
        while members := _session_members(self.pid):
            for pid in members:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGTERM if time.monotonic() < deadline else signal.SIGKILL)
            # The leader must be reaped here: until then it counts as a member.
            self.process.poll()
            time.sleep(0.05)
        self.process.wait()


def _session_members(session: int) -> list[int]:
    members = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                state, _, _, its_session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
                if int(its_session) == session and state != "Z":
                    members.append(int(folder.name))
    return members


class Run:
    """A private directory and child processes; leaving the context ends and removes both.

    A guardian process does the same when this process dies without leaving the context.
    """

    def __init__(self, *, keep_logs: Path | None = None) -> None:
        """Make the directory and start the guardian.

        Args:
            keep_logs: where to copy the ``logs`` folder at the end, if anywhere; else a folder of the run's own
                below the one that the variable SPARKCONFIG_TEST_LOGS names, if it is set.
        """
        self.token = secrets.token_hex(8)
        self.dir = Path(tempfile.mkdtemp(prefix="sparkconfig-run-"))
        # Traversable, not listable: PostgreSQL refuses to run as root and then runs as another user below it.
        self.dir.chmod(0o711)
        self.logs = self.private_dir("logs")
        kept = os.environ.get("SPARKCONFIG_TEST_LOGS")
        self._keep_logs = keep_logs or (Path(kept) / self.dir.name if kept else None)
        self._children: list[Child] = []
        self._guardian = subprocess.Popen(
            [sys.executable, "-I", guardian.__file__, self.token, str(self.dir)],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    def private_dir(self, name: str) -> Path:
        """A new directory of this run that only this user can enter."""
        path = self.dir / name
        path.mkdir(mode=0o700)
        return path

    def private_file(self, name: str, text: str) -> Path:
        """A new file of this run that only this user can read."""
        path = self.dir / name
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        return path

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment of this run's processes: little is inherited, so that runs are alike everywhere."""
        keep = ("PATH", "HOME", "USER", "LANG", "TMPDIR", "JAVA_HOME", "COVERAGE_PROCESS_START")
        base = {name: os.environ[name] for name in keep if name in os.environ}
        return base | dict(extra or {}) | {guardian.MARKER: self.token}

    def start(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        user: int | None = None,
        group: int | None = None,
    ) -> Child:
        """Start a child whose output goes to ``logs/NAME.log``; it reads nothing from standard input.

        Args:
            env: added to `environment`.
            user: numeric user id to run as (needs root).
            group: numeric group id, likewise.
        """
        log = self.logs / f"{name}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=self.environment(env),
                cwd=cwd or self.dir,
                start_new_session=True,
                user=user,
                group=group,
                extra_groups=None if user is None else [],
            )
        child = Child(name, process, log)
        self._children.append(child)
        return child

    def close(self, *, hurry: bool = False) -> None:
        """End all children, newest first, and remove the directory.

        Args:
            hurry: end all at once, since nothing that they could still do is wanted.
        """
        if not hurry:
            for child in reversed(self._children):
                child.stop()
        guardian.end_processes(self.token, grace=3.0)
        for child in self._children:
            child.process.wait()
        if self._keep_logs:
            shutil.copytree(self.logs, self._keep_logs, dirs_exist_ok=True)
        shutil.rmtree(self.dir, ignore_errors=True)
        if self._guardian.stdin:
            self._guardian.stdin.close()
        self._guardian.wait(30)

    def __enter__(self) -> Run:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(hurry=error is not None)
