"""Hosts with networks of their own during rotations: a cable is pulled, and a driver is killed.

Part of ``make real``.
"""

from __future__ import annotations

import functools
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from real.hosts_site import Application, Place, processes_of, start_place
from sparkconfig.redaction import MASK
from support.hosts import Host, NoHosts, hosts
from support.processes import Run, wait_until
from support.rotation import ROTATION_SECONDS, digest
from support.session import running_session
from support.surfaces import ProcessWatch

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    pytest.mark.timeout(600),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def place(harness_run: Run) -> Iterator[Place]:
    """A master and two workers, each on a host of its own."""
    try:
        network = hosts(3)
        made = network.__enter__()
    except NoHosts as error:
        pytest.skip(str(error))
    try:
        found = start_place(harness_run, made)
        yield found
        found.cluster.stop()
    finally:
        network.__exit__(None, None, None)


@pytest.fixture
def application(place: Place, tmp_path: Path) -> Iterator[Application]:
    """What an application has, whoever starts it; after the test nothing of it is left on any host."""
    yield Application(place, tmp_path)
    wait_until("the end of all folders and sockets", lambda: not place.left(), timeout=30)


@contextmanager
def running(application: Application, conf: dict[str, str]) -> Iterator[Any]:
    """A session whose driver is on this machine, with two executors on hosts of their own."""
    place = application.place
    whole = {
        **place.cluster.application(), **application.confs(), "spark.driver.host": place.address,
        "spark.config.worker.references": "*:*", **conf,
        # PySpark hands its confs to Java on a command line.
        "spark.authenticate.secret": f"${{files:{application.store}:rpc}}",
    }  # fmt: skip
    env = {"SPARK_LOCAL_IP": place.address, **place.environment}
    with running_session(whole, folder=application.folder, env=env) as session:
        yield session


def watcher(application: Application) -> Callable[[int, Any], Iterator[int]]:
    """A task that writes down what it sees, at each change, until the test ends it."""
    seen, stop = application.seen, application.stop
    driver, store = application.place.address, application.store
    texts = {key: f"${{files:{store}:{key}}}" for key in ("user", "password")}

    def watch(number: int, _rows: Any) -> Iterator[int]:
        import socket
        from time import sleep

        from sparkconfig.worker import configs

        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((driver, 9))
            host = probe.getsockname()[0]
        last = ""
        while not stop.exists():
            found = configs(texts)
            pair = " ".join(each if isinstance(each, str) else each.reveal() for each in found.values())
            if pair != last:
                with (seen / host).open("a") as out:
                    out.write(pair + "\n")
                last = pair
            sleep(0.02)
        return iter((number,))

    return watch


def rotations(application: Application) -> list[str]:
    """Rotate every 50 ms for as long as the environment says; what tasks may see then, in its order."""
    pairs, pause = [application.rotate()], threading.Event()
    deadline = time.monotonic() + ROTATION_SECONDS
    while time.monotonic() < deadline:
        pause.wait(0.05)
        pairs.append(application.rotate())
    return pairs


def wait_to_see(application: Application, host: Host, pair: str, job: Future[Any]) -> None:
    """Wait until a task on a host has seen this, or the job has ended."""
    probe = functools.partial(application.sees, host, pair, job.done)
    wait_until(f"{host.name} to see {pair.split(maxsplit=1)[0]}", probe, timeout=180)
    there = pair in application.lines(host.address)
    assert there, "the job ended before"


def test_a_host_that_is_cut_off_during_rotations(application: Application) -> None:
    here, far = application.place.workers
    first, seen = application.rotate(), application.lines
    with running(application, {}) as spark, ThreadPoolExecutor(1) as pool:
        try:
            rows = spark.sparkContext.parallelize([0, 1], 2)
            job = pool.submit(rows.mapPartitionsWithIndex(watcher(application)).count)
            wait_to_see(application, here, first, job)
            wait_to_see(application, far, first, job)
            far.cut()
            pairs = [first, *rotations(application)]
            newest = pairs[-1]
            wait_to_see(application, here, newest, job)
            only_first = seen(far.address) == [first]
            assert only_first, "it was not cut off"
            far.plug()
            wait_to_see(application, far, newest, job)
        finally:
            far.plug()
            application.stop.touch()
        assert job.result(timeout=60) == 2
        for host in (here, far):
            places = [pairs.index(pair) if pair in pairs else -1 for pair in seen(host.address)]
            assert places == sorted(set(places)), "never backwards, and nothing twice"
            assert places[0] == 0, "never a user with another's password"
        assert application.leaks() == []
    assert application.leaks() == []


def test_a_driver_in_cluster_mode_that_is_killed_and_started_again(application: Application) -> None:
    """As docs/deploy-standalone.md says, with --supervise; its executor is on the other host."""
    place, cluster = application.place, application.place.cluster
    first, seen = application.rotate(), application.lines

    def shows(pid: str, pair: str) -> bool:
        """Whether a driver, and a task of it on the other host, have seen a pair."""
        found = [line.split() for line in seen(pid)]
        return any(line[:2] == [digest(pair), digest(pair)] for line in found)

    def drivers() -> list[str]:
        return [path.name for path in application.seen.iterdir()]

    with ProcessWatch() as watch:
        child = application.submit_supervised()
        assert child.wait(120) == 0, "not submitted"
        (old,) = wait_until("the driver to see something", drivers, timeout=120)
        wait_until("the first values in a task", lambda: shows(old, first), timeout=60)
        (side,) = processes_of(int(old), b"sparkconfig.agent")
        before = place.left()
        assert any(path.suffix == ".sock" for path in before)
        assert {path.parent for path in before} >= {place.files}, "the driver has no files"
        os.kill(int(old), signal.SIGKILL)
        second = application.rotate()
        (new,) = wait_until(
            "another driver", lambda: [each for each in drivers() if each != old], timeout=120
        )
        wait_until("the second values in its task", lambda: shows(new, second), timeout=60)
        wait_until("the end of its side process", lambda: not Path(f"/proc/{side}").exists(), timeout=30)
        wait_until("the end of the folders", lambda: not before & place.left(), timeout=60)
        third = application.rotate()
        wait_until("the third values in its task", lambda: shows(new, third), timeout=60)
        application.stop.touch()
        wait_until(
            "the end of the driver",
            lambda: [each["state"] for each in cluster.state()["completeddrivers"]] == ["FINISHED"],
            timeout=60,
        )
    known = {digest(pair): number for number, pair in enumerate((first, second, third))}
    order = [[known.get(each) for each in line.split()[:2]] for line in seen(new)]
    assert sorted(order) == order, "back to an earlier generation"
    assert {one for line in order for one in line} == {1, 2}, "the values of before the kill, or mixed ones"
    for pid in (old, new):
        hosts_of = {tuple(line.split()[2:]) for line in seen(pid)}
        assert len(hosts_of) == 1
        ((driver, task),) = hosts_of
        assert {driver, task} == {host.address for host in place.workers}
    said = "".join(path.read_text(errors="replace") for path in application.driver_logs())
    masked = [f"printed user-{number} {MASK}\n" in said for number in range(3)]
    assert masked == [True] * 3, "both drivers write to one log"
    assert application.leaks(watch.command_lines) == []
