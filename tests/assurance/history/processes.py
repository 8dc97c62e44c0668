"""Which processes an application has, by what /proc tells."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def command(pid: int) -> list[str]:
    """The words of a command line; none of a process that has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    return []


def everybody() -> dict[int, int]:
    """The parent of each process."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError, ValueError):
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    return parents


def below(root: int) -> list[int]:
    """All that a process has started, at any depth."""
    parents, found = everybody(), [root]
    for pid in found:
        found.extend(child for child, parent in parents.items() if parent == pid)
    return found[1:]


def side_process(driver: int) -> int | None:
    """The side process of a driver's JVM; None: there is none right now."""
    return next((pid for pid in below(driver) if "sparkconfig.agent" in " ".join(command(pid))), None)


def executors(application: str) -> dict[int, str]:
    """The executors of an application, and the address of each."""
    found: dict[int, str] = {}
    for pid in everybody():
        words = command(pid)
        if "--app-id" in words and application in words and "java" in words[0]:
            found[pid] = words[words.index("--hostname") + 1] if "--hostname" in words else ""
    return found


def python_workers(executor: int) -> list[int]:
    """The Python processes of an executor that run tasks."""
    return [pid for pid in below(executor) if "pyspark.daemon" in command(pid)][1:]


def send(pid: int, number: signal.Signals) -> bool:
    """Send a signal; false: the process has ended."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    return True


@contextmanager
def stopped(*pids: int) -> Iterator[None]:
    """Processes that do nothing meanwhile."""
    for pid in pids:
        send(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            send(pid, signal.SIGCONT)
