"""Faults of the side process, the driver and executors."""

from __future__ import annotations

import contextlib
import resource
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from history import processes
from history.scope import Act, Scope, one_executor, victim
from history.site import Application, Site
from support.hosts import Host
from support.processes import wait_until

# The side process.


@contextmanager
def side_process_killed(site: Site) -> Iterator[Scope]:
    """kill -9."""
    application = victim(site)
    processes.send(application.side_process(), signal.SIGKILL)
    yield Scope((application.name,))


@contextmanager
def side_process_stopped(site: Site) -> Iterator[Scope]:
    """SIGSTOP, until it is replaced."""
    application = victim(site)
    pid = application.side_process()
    processes.send(pid, signal.SIGSTOP)
    yield Scope((application.name,))


@contextmanager
def side_process_paused(site: Site) -> Iterator[Scope]:
    """SIGSTOP for less than it takes to be replaced."""
    application = victim(site)
    with processes.stopped(application.side_process()):
        yield Scope((application.name,))


@contextmanager
def side_process_without_memory(site: Site) -> Iterator[Scope]:
    """It gets no byte more."""
    application = victim(site)
    pid = application.side_process()
    size = int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize()
    resource.prlimit(pid, resource.RLIMIT_AS, (size, size))
    try:
        yield Scope((application.name,))
    finally:
        # Whether it had to be replaced, or could go on with what it had.
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


@contextmanager
def side_process_without_descriptors(site: Site) -> Iterator[Scope]:
    """It opens no file and no connection."""
    application = victim(site)
    pid = application.side_process()
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, before[1]))
    try:
        yield Scope((application.name,))
    finally:
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_NOFILE, before)


def clock_jumps(seconds: int) -> Act:
    @contextmanager
    def act(site: Site) -> Iterator[Scope]:
        site.clock.set(seconds)
        try:
            yield Scope(("B",))
        finally:
            site.clock.set(0)

    return act


# The driver.


@contextmanager
def driver_stopped(site: Site) -> Iterator[Scope]:
    """SIGSTOP of its JVM."""
    application = victim(site)
    with processes.stopped(application.jvm):
        yield Scope((application.name,))


@contextmanager
def driver_stutters(site: Site) -> Iterator[Scope]:
    """Its JVM stands still again and again, as in long collections of garbage."""
    application = victim(site)
    over = threading.Event()

    def stutter() -> None:
        while not over.wait(0.3):
            with processes.stopped(application.jvm):
                over.wait(0.4)

    thread = threading.Thread(target=stutter)
    thread.start()
    try:
        yield Scope((application.name,))
    finally:
        over.set()
        thread.join()


def restarted(end: Callable[[Application], None]) -> Act:
    @contextmanager
    def act(site: Site) -> Iterator[Scope]:
        application = site.first
        end(application)
        yield Scope((application.name,))
        wait_until("the end of a driver", lambda: application.ended, timeout=60)
        application.stop()
        application.start()

    return act


def kill_jvm(application: Application) -> None:
    processes.send(application.jvm, signal.SIGKILL)


def kill_python(application: Application) -> None:
    if application.child is not None:
        processes.send(application.child.pid, signal.SIGKILL)


# Executors.


@contextmanager
def executor_stopped(site: Site) -> Iterator[Scope]:
    """SIGSTOP of an executor, whose Python workers go on."""
    application, pid, address = one_executor(site)
    with processes.stopped(pid):
        yield Scope((application.name, address))


@contextmanager
def executor_killed(site: Site) -> Iterator[Scope]:
    """kill -9; its successor begins with the newest values."""
    _, pid, _ = one_executor(site)
    processes.send(pid, signal.SIGKILL)
    yield Scope()


@contextmanager
def python_workers_killed(site: Site) -> Iterator[Scope]:
    """kill -9 of each Python worker of an executor."""
    _, executor, _ = one_executor(site)
    for pid in processes.python_workers(executor):
        processes.send(pid, signal.SIGKILL)
    yield Scope()


@contextmanager
def host_cut_off(site: Site) -> Iterator[Scope]:
    """The cable of a host is pulled."""
    host = site.chance.choice(site.hosts)
    host.cut()
    try:
        yield Scope((host.address,))
    finally:
        host.plug()


@contextmanager
def network_slow(site: Site) -> Iterator[Scope]:
    """Each packet to a host takes 300 ms more, and one in twenty is lost."""
    host = site.chance.choice(site.hosts)
    rule = ["tc", "qdisc", "add", "dev", host.name, "root", "netem", "delay", "300ms", "50ms", "loss", "5%"]
    done = subprocess.run(rule, check=False, capture_output=True)
    if done.returncode:  # a kernel without netem: short cuts do nearly the same
        over = threading.Event()
        thread = threading.Thread(target=_flap, args=(host, over))
        thread.start()
        try:
            yield Scope((host.address,))
        finally:
            over.set()
            thread.join()
            host.plug()
        return
    try:
        yield Scope((host.address,))
    finally:
        subprocess.run(["tc", "qdisc", "del", "dev", host.name, "root"], check=True)


def _flap(host: Host, over: threading.Event) -> None:
    while not over.wait(0.5):
        host.cut()
        over.wait(0.4)
        host.plug()
