"""Faults of stores, of the side process and of the driver while values rotate, on a cluster with large snapshots.

The application has 50 providers with ten references each, so that each generation is an encrypted broadcast.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import support
from sparkconfig import current
from sparkconfig._spark import driver
from sparkconfig.cli import main
from support.processes import wait_until
from support.rotation import ROTATION_SECONDS, Site, digest, replace_file, running_site

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    # pyspark 3.5 leaves the sockets to the garbage collector on which it collects RDDs.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

STORE = "${store:db:password}"
MANY = 50
KEYS = 10


@dataclass
class Store:
    """The file that tells the faulty store what to do."""

    file: Path

    def tell(self, mode: str, password: str, clock: float = 0) -> None:
        replace_file(self.file, json.dumps({"mode": mode, "clock": clock, "data": {"password": password}}))


def many(folder: Path, number: int) -> Path:
    return folder / f"many-{number}.properties"


def rotate_many(folder: Path, value: str) -> None:
    for number in range(MANY):
        replace_file(many(folder, number), "".join(f"key{key}={value}-{number}\n" for key in range(KEYS)))


def references(folder: Path) -> dict[str, str]:
    return {
        f"{number}.{key}": f"${{many{number}:{many(folder, number)}:key{key}}}"
        for number in range(MANY)
        for key in range(KEYS)
    }


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Store:
    made = Store(tmp_path_factory.mktemp("store") / "store.json")
    made.tell("up", "stored-value-00000")
    return made


@pytest.fixture(scope="module")
def site(cluster, store: Store, tmp_path_factory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("faults")
    rotate_many(folder, "many-value-00000")
    conf = {
        "spark.config.providers": ",".join(["files", "store", *(f"many{n}" for n in range(MANY))]),
        **{f"spark.config.providers.many{number}.class": "file" for number in range(MANY)},
        "spark.config.providers.store.class": "support.fakes.faulty_store.FaultyStoreProvider",
        "spark.config.providers.store.param.file": str(store.file),
        "spark.config.provider.timeout": "5s",
        "spark.shop.stored": STORE,
        **{f"spark.many.{name}": text for name, text in references(folder).items()},
    }
    path = os.pathsep.join([str(Path(support.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    with running_site(cluster, folder, module=__name__, conf=conf, env={"PYTHONPATH": path}) as site:
        yield site


def test_500_references_in_50_providers_are_one_generation_everywhere(site: Site) -> None:
    given = references(site.folder)

    def look(_rows):
        from sparkconfig.worker import configs, generation

        deadline, seen = time.monotonic() + 60, {}
        while time.monotonic() < deadline:
            found = configs(given)
            generation_now = generation()
            # One provider after the other is read again, but a path is never half old and half new.
            for number in range(MANY):
                one = {found[f"{number}.{key}"].reveal() for key in range(KEYS)}
                assert len(one) == 1, f"provider {number} is mixed in generation {generation_now}"
            seen[generation_now] = {value.reveal().rpartition("-")[0] for value in found.values()}
            if seen[generation_now] == {"many-value-00001"}:
                break
            time.sleep(0.02)
        yield len(found), sorted(seen[generation_now])

    before = driver.generation()
    results: list[object] = []
    job = threading.Thread(target=lambda: results.extend(site.everywhere(look, parts=2)))
    job.start()
    rotate_many(site.folder, "many-value-00001")
    job.join(120)
    assert results == [(MANY * KEYS, ["many-value-00001"])] * 2
    assert driver.generation() > before


@pytest.mark.parametrize("fault", ["down", "slow", "hang", "garbage", "flap"])
def test_a_store_in_trouble_keeps_its_newest_good_value_and_recovers(
    site: Site, store: Store, fault: str
) -> None:
    good, fresh = f"good-value-{fault}", f"fresh-value-{fault}"
    store.tell("up", good)
    assert site.arrives(STORE, good)
    store.tell(fault, fresh)
    try:
        wait_until("the failure", lambda: not site.provider("store")["up"], timeout=30)
        # The other providers go on, and the value is there all the time.
        other = site.rotate()
        assert site.arrives(site.reference(), other)
        assert current(STORE).reveal() in ((good,) if fault in ("down", "hang", "garbage") else (good, fresh))
        problem = next(p["error"] for p in site.provider("store")["paths"]) or "answered meanwhile"
        assert not {good, fresh} & set(problem.split())
    finally:
        store.tell("up", fresh)
    assert site.arrives(STORE, fresh)
    wait_until("the recovery in the state", lambda: site.provider("store")["up"], timeout=30)


def _shift_ms() -> float:
    return driver.status()["published_at"] - time.time() * 1000


@pytest.mark.parametrize("jump", [-86_400, 86_400])
def test_a_jump_of_the_side_processs_clock_changes_nothing(site: Site, store: Store, jump: int) -> None:
    first, second = f"before-jump-{jump}", f"after-jump-{jump}"
    try:
        store.tell("up", first, clock=jump)
        assert site.arrives(STORE, first)
        # The read itself moves the clock: only what is published after it has the new time.
        store.tell("up", f"{first}-again", clock=jump)
        assert site.arrives(STORE, f"{first}-again")
        wait_until("the clock's jump", lambda: abs(_shift_ms() - jump * 1000) < 3_600_000, timeout=30)
        store.tell("up", second, clock=jump)
        assert site.arrives(STORE, second)
        # Last good values of a store that goes down right now have not expired.
        store.tell("down", second, clock=jump)
        wait_until("the failure", lambda: not site.provider("store")["up"], timeout=30)
        assert current(STORE).reveal() == second
    finally:
        store.tell("up", second)
    wait_until("the recovery", lambda: site.provider("store")["up"], timeout=30)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
def test_a_side_process_that_answers_no_more_is_replaced(site: Site, end: signal.Signals) -> None:
    wait_until("a side process", lambda: site.api.agentPid() > 0, timeout=60)
    restarts, pid, known = site.api.agentRestarts(), site.api.agentPid(), current(site.reference()).reveal()
    # A number may be another process's by the time of the second signal.
    process = os.pidfd_open(pid)
    try:
        signal.pidfd_send_signal(process, end)
        # The snapshot serves meanwhile, on the driver and in a job.
        assert current(site.reference()).reveal() == known
        assert site.arrives(site.reference(), known)
        wait_until("another side process", lambda: site.api.agentRestarts() > restarts, timeout=120)
    finally:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(process, signal.SIGKILL)
        os.close(process)
    wait_until("its process", lambda: site.api.agentPid() not in (pid, -1), timeout=60)
    assert site.arrives(site.reference(), site.rotate())


def test_a_side_process_without_memory_is_replaced(site: Site, store: Store) -> None:
    restarts, pid = site.api.agentRestarts(), site.api.agentPid()
    size = int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize()
    resource.prlimit(pid, resource.RLIMIT_AS, (size, size))
    fresh = site.rotate()
    assert site.arrives(site.reference(), fresh, seconds=120)
    wait_until("another side process", lambda: site.api.agentRestarts() > restarts, timeout=60)
    fresh = site.rotate()
    assert site.arrives(site.reference(), fresh, seconds=120)
    store.tell("up", "value-after-want-of-memory")
    assert site.arrives(STORE, "value-after-want-of-memory")


def test_an_answer_that_does_not_fit_into_memory_is_an_outage_of_its_provider(
    site: Site, store: Store
) -> None:
    good, fresh = "value-before-the-flood", "value-after-the-flood"
    store.tell("up", good)
    assert site.arrives(STORE, good)
    restarts, pid = site.api.agentRestarts(), site.api.agentPid()
    size = int(Path(f"/proc/{pid}/statm").read_text().split()[0]) * resource.getpagesize()
    unlimited = resource.prlimit(pid, resource.RLIMIT_AS)
    # Enough for everything else.
    resource.prlimit(pid, resource.RLIMIT_AS, (size + (900 << 20), unlimited[1]))
    try:
        store.tell("greedy", fresh)
        wait_until("the failure", lambda: not site.provider("store")["up"], timeout=30)
        other = site.rotate()
        assert site.arrives(site.reference(), other)
        assert (current(STORE).reveal(), site.api.agentRestarts()) == (good, restarts)
    finally:
        resource.prlimit(pid, resource.RLIMIT_AS, unlimited)
        store.tell("up", fresh)
    assert site.arrives(STORE, fresh)


def test_a_driver_that_is_paused_goes_on_with_the_newest_values(site: Site) -> None:
    text, marker, last = site.reference(), str(site.folder / "paused"), str(site.folder / "last")

    def work(_rows):
        from sparkconfig.worker import current, generation

        Path(marker).touch()
        seen, generations, deadline = [], [], time.monotonic() + 120
        while time.monotonic() < deadline:
            now = digest(current(text).reveal())
            if now not in seen[-1:]:
                seen.append(now)
                generations.append(generation())
            if Path(last).exists() and Path(last).read_text() == now:
                break
            time.sleep(0.01)
        yield seen, generations == sorted(generations)

    before = site.rotate()
    assert site.arrives(text, before)
    results: list[tuple[list[str], bool]] = []
    job = threading.Thread(target=lambda: results.extend(site.everywhere(work, parts=1)))
    job.start()
    wait_until("the task", lambda: Path(marker).exists(), timeout=60)
    pid = site.context._jvm.java.lang.ProcessHandle.current().pid()
    os.kill(pid, signal.SIGSTOP)
    try:
        skipped = [site.rotate() for _ in range(3)]
        # When the driver goes on, its clock says that the side process has answered no pulse for longer than it
        # may (`Supervisor.PulseTimeoutMs`, 5 s, after at most 1 s until the next one). Only time does that.
        time.sleep(7)
        fresh = site.rotate()
        Path(last).write_text(digest(fresh))
    finally:
        os.kill(pid, signal.SIGCONT)
    job.join(150)
    ((seen, in_order),) = results
    assert (seen[0], seen[-1], in_order) == (digest(before), digest(fresh), True)
    assert set(seen[1:-1]) <= {digest(value) for value in skipped}
    assert site.arrives(text, fresh)


def test_an_executor_that_is_paused_is_named_and_goes_on_with_the_newest_value(
    site: Site, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    refresh, paused = ["refresh", site.context.applicationId, "--json"], site.executors()[0]
    command = Path(f"/proc/{paused}/cmdline").read_bytes().decode().split("\0")
    name = command[command.index("--executor-id") + 1]
    os.kill(paused, signal.SIGSTOP)
    try:
        for number in range(5):
            store.tell("up", f"paused-value-{number}")
            assert main(refresh) == 0
        capsys.readouterr()
        assert main([*refresh, "--wait", "1"]) == 6
        assert json.loads(capsys.readouterr().out)["missing"] == [f"executor {name}"]
    finally:
        os.kill(paused, signal.SIGCONT)
    assert main([*refresh, "--wait"]) == 0
    assert json.loads(capsys.readouterr().out)["missing"] == []
    assert site.arrives(STORE, "paused-value-4", seconds=0)


def test_large_snapshots_every_50_ms_with_the_loss_of_an_executor(site: Site) -> None:
    """Each generation is a broadcast of its own; the tasks check every one that they meet."""
    user, password, seconds = site.reference("user"), site.reference(), ROTATION_SECONDS
    before, stop = site.executors(), threading.Event()

    def check(_rows):
        from sparkconfig.worker import configs, generation

        mixed, generations = 0, []
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = configs({"user": user, "password": password})
            mixed += found["user"] != found["password"]
            generations.append(generation())
            time.sleep(0.001)  # the processor is the other tests', too
        yield mixed, len(set(generations)), generations == sorted(generations)

    def rotate() -> None:
        killed = False
        began = time.monotonic()
        while not stop.wait(0.05):
            site.rotate()
            if not killed and time.monotonic() - began > seconds / 3:
                os.kill(before[0], signal.SIGKILL)
                killed = True

    first = driver.generation()
    rotating = threading.Thread(target=rotate)
    rotating.start()
    try:
        results = site.everywhere(check, parts=2)
    finally:
        stop.set()
        rotating.join()
    assert [(mixed, in_order) for mixed, _, in_order in results] == [(0, True)] * 2
    assert all(generations > 3 for _, generations, _ in results)
    assert driver.generation() - first > 10  # a busy machine makes fewer of them
    wait_until("another executor", lambda: len(set(site.executors()) - set(before)) == 1, timeout=90)
    assert site.arrives(password, site.values[-1])
    # A broadcast each 50 ms must not pile up, neither in the driver nor in executors.
    assert 0 < _block_memory(site) < 128 << 20
    wait_until("old broadcasts to be gone", lambda: _block_memory(site) < 4 << 20, timeout=60)


def _block_memory(site: Site) -> int:
    """Most bytes that one JVM uses for blocks. The status store counts a broadcast again when it is removed (4.3)."""
    status = site.context._jsc.sc().getExecutorMemoryStatus().values().iterator()
    most = 0
    while status.hasNext():
        limit_and_left = status.next()
        most = max(most, limit_and_left._1() - limit_and_left._2())
    return most
