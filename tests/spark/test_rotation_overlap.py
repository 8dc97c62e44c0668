"""A JDBC job while its credentials rotate: with an overlap of old and new ones, and with old ones that end at once."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from sparkconfig.cli import main
from support.leaks import LeakFinder
from support.minted_roles import MintedRoles
from support.overlap import RotatingRoles
from support.rotation import Site, running_site
from support.shim import shim_jar

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    # pyspark 3.5 leaves the sockets of collect() to the garbage collector.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
AT_LEAST = 4
#: Connections of the long task. Each reads for a second and a half, and a new password comes after eleven seconds.
CONNECTIONS = 26


@pytest.fixture(scope="module")
def minted(postgres) -> Iterator[MintedRoles]:
    with MintedRoles(postgres) as roles:
        yield roles


@pytest.fixture(scope="module")
def site(cluster, minted, pg_driver, tmp_path_factory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("overlap")
    (folder / "client-secret").write_text(minted.SECRET)
    conf = {
        "spark.jars": f"{shim_jar()},{pg_driver}",
        "spark.config.providers": "files,tokens",
        "spark.config.poll.interval": "500ms",
        "spark.task.maxFailures": "1",
        **minted.provider("tokens", str(folder / "client-secret")),
    }
    with running_site(cluster, folder, module=__name__, conf=conf) as site:
        yield site


@pytest.fixture(scope="module", autouse=True)
def long_job(site: Site, minted: MintedRoles) -> Iterator[Future[list[int]]]:
    """One task that opens a connection after the other; it runs beside the other test, on a core of its own."""

    def run() -> list[int]:
        options = minted.options("tokens")
        slow = [
            f"id % {CONNECTIONS} = {number} and (select 1 from pg_sleep(1.5)) = 1"
            for number in range(CONNECTIONS)
        ]
        frame = site.spark.read.jdbc(options.pop("url"), "orders", predicates=slow, properties=options)
        return sorted(row.id for row in frame.coalesce(1).collect())

    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(run)


def test_no_connection_is_refused_while_old_and_new_credentials_overlap(site: Site, postgres) -> None:
    # An overlap of six seconds: a busy machine may take long from the reading of a value to its use.
    roles = RotatingRoles(postgres, site.folder, roles=4)
    stop, reads = threading.Event(), 0

    def rotate() -> None:
        while not stop.wait(2):
            roles.rotate()

    rotating = threading.Thread(target=rotate)
    rotating.start()
    try:
        while reads < AT_LEAST or len(roles.passwords) <= AT_LEAST + 1:
            assert site.spark.read.format("jdbc").options(**roles.options()).load().count() == 1000
            reads += 1
    finally:
        stop.set()
        rotating.join()
    authorized, refused = roles.connections()
    assert refused == 0
    assert authorized >= 4 * reads
    # The log tells of what is refused: without an overlap, something would be.
    assert not postgres.accepts(role="overlap_0", password=roles.passwords[0], database="overlap")
    assert roles.connections()[1] > 0


def test_nobody_is_refused_when_old_credentials_end_after_a_refresh_that_waited(
    site: Site, postgres, capsys
) -> None:
    # The loop of docs/rotation.md: two roles take turns, and each ends as soon as no process has its password.
    roles = RotatingRoles(postgres, site.folder, roles=2, name="turns")
    stop, reads, wrong = threading.Event(), threading.Semaphore(0), []

    def read() -> None:
        while not stop.is_set():
            try:
                wrong.extend(
                    {site.spark.read.format("jdbc").options(**roles.options()).load().count()} - {1000}
                )
            except Exception as error:  # whatever it is, the job has failed
                wrong.append(type(error).__name__)
            reads.release()

    reading = threading.Thread(target=read)
    reading.start()
    try:
        for _ in range(AT_LEAST):
            roles.rotate()
            assert main(["refresh", site.context.applicationId, "--wait", "--json"]) == 0
            assert json.loads(capsys.readouterr().out)["missing"] == []
            # A query that has read the old password may be on its way to the server: the one that runs, at most.
            while reads.acquire(blocking=False):
                pass
            assert reads.acquire(timeout=120)
            roles.end()
            assert reads.acquire(timeout=120)
    finally:
        stop.set()
        reading.join()
    authorized, refused = roles.connections()
    assert (wrong, refused) == ([], 0)
    assert authorized >= 4 * AT_LEAST
    # The log would tell: the role in use is one that can be ended.
    roles.end(turns=0)
    assert not postgres.accepts(role="turns_0", password=roles.passwords[-1], database="turns")
    assert roles.connections()[1] > 0


def test_a_task_reads_through_three_rotations_of_passwords_that_are_good_for_15_seconds(
    long_job: Future[list[int]], minted: MintedRoles, cluster
) -> None:
    assert long_job.result(timeout=120) == list(range(100))
    used = minted.used()
    assert len(used) >= CONNECTIONS
    assert used == sorted(used), "a connection came with older credentials than the one before it"
    assert used[-1] - used[0] >= 3
    assert minted.refused() == 0
    # The log tells of what is refused: the first password ended, and the newest did not.
    assert not minted.accepts(used[0])
    assert minted.refused() == 1
    assert minted.accepts(len(minted.passwords) - 1)
    shown = b"".join(path.read_bytes() for path in cluster.executor_logs())
    assert LeakFinder([*minted.passwords, minted.SECRET]).count(shown) == 0
