"""Faults of disk and processor, and stores that change more than usual."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from history import processes
from history.scope import Scope, one_executor
from history.site import Site
from history.stores import RenamedFile

# The machine.


@contextmanager
def disk_full(site: Site) -> Iterator[Scope]:
    """Not a byte is left where drivers and executors put temporary files, and where stores write."""
    ballasts = [folder / "ballast" for folder in (site.temporary, site.small)]
    for ballast in ballasts:
        with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(b"\0" * (1 << 16))
    try:
        yield Scope()
    finally:
        for ballast in ballasts:
            ballast.unlink()


@contextmanager
def temporary_wiped(site: Site) -> Iterator[Scope]:
    """A cleaner removes what lies in the folder for temporary files; Python workers start anew."""
    application, executor, address = one_executor(site)
    for each in list(site.temporary.iterdir()):
        if each.name != "runtime" and each.is_dir():
            shutil.rmtree(each, ignore_errors=True)
    for pid in processes.python_workers(executor):
        processes.send(pid, signal.SIGKILL)
    yield Scope((application.name, address))


@contextmanager
def machine_busy(site: Site) -> Iterator[Scope]:
    """Two processes compute on each processor."""
    count = 2 * (os.cpu_count() or 1)
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield Scope()
    finally:
        for each in busy:
            each.kill()
            each.wait()


@contextmanager
def storm(site: Site) -> Iterator[Scope]:
    """Files change every 50 ms."""
    over = threading.Event()

    def rotate() -> None:
        stores = [site.store(name) for name in ("renamed", "in-place", "link", "directory")]
        while not over.wait(0.05):
            for each in stores:
                site.rotate(each)

    thread = threading.Thread(target=rotate)
    thread.start()
    try:
        yield Scope()
    finally:
        over.set()
        thread.join()


@contextmanager
def large_values(site: Site) -> Iterator[Scope]:
    """A snapshot is so large that each generation is a broadcast."""
    store = site.store("renamed")
    assert isinstance(store, RenamedFile)
    store.padding = f"padding={'x' * 40_000}\n"
    try:
        yield Scope()
    finally:
        store.padding = ""
