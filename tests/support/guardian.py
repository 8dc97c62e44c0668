"""The last line of clean-up: a small process that outlives its owner, however the owner ended.

It is started with a pipe as its standard input. When the pipe closes (the owner finished, was interrupted, or was
killed with -9) it ends every process that carries the run's marker in its environment, then removes the run's
directory. Runs as a plain script with ``python -I``, so it imports nothing of this project.
"""

import contextlib
import os
import shutil
import signal
import sys
import time
from pathlib import Path

MARKER = "SPARKCONFIG_HARNESS_RUN"


def marked_processes(token: str) -> list[int]:
    """The ids of living processes whose environment says that they belong to the run ``token``.

    A marker in the environment finds what process groups and sessions lose: it is inherited by every descendant,
    also by those that were re-parented or made themselves leaders of a group.
    """
    wanted = f"{MARKER}={token}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and int(folder.name) != os.getpid():
            # Gone meanwhile, or another user's.
            with contextlib.suppress(OSError):
                if wanted in _environment(folder).split(b"\0") and not _is_zombie(folder):
                    found.append(int(folder.name))
    return found


def _environment(folder: Path) -> bytes:
    """The environment of a process, also of one that is just starting another program.

    While the kernel replaces the program of a process, its environment reads as empty: look again then. Threads of
    the kernel and zombies have none at all, and no program either.
    """
    for _ in range(100):
        environment = (folder / "environ").read_bytes()
        if environment:
            break
        (folder / "exe").readlink()
    return environment


def _is_zombie(folder: Path) -> bool:
    return (folder / "stat").read_text().rpartition(")")[2].split()[0] == "Z"


def end_processes(token: str, grace: float = 5.0) -> None:
    """Ask the run's processes to end, and kill those that have not after ``grace`` seconds.

    It returns when two looks in a row found none: one look can miss a process that is starting another program.
    """
    deadline = time.monotonic() + grace
    asked: set[int] = set()
    looks_without = 0
    while True:
        living = marked_processes(token)
        looks_without = 0 if living else looks_without + 1
        if looks_without == 2:
            return
        late = time.monotonic() > deadline
        for pid in living:
            if late or pid not in asked:
                asked.add(pid)
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL if late else signal.SIGTERM)
        time.sleep(0.05)


def main() -> None:
    """Wait for the owner's end, then clean up: ``guardian.py TOKEN DIRECTORY``."""
    token, directory = sys.argv[1:]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sys.stdin.buffer.read()
    end_processes(token)
    shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    main()
