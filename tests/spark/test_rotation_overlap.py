"""JDBC jobs while their credentials rotate: with an overlap of old and new ones, with old ones that end at once, and
with credentials that are made on demand, of a token endpoint, of OpenBao's database engine and of AWS's IAM.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from sparkconfig.cli import main
from support import surfaces
from support.crawl import fetch
from support.leaks import LeakFinder
from support.leased_roles import LeasedRoles
from support.minted_roles import MintedRoles
from support.overlap import RotatingRoles
from support.processes import wait_until
from support.rds_gateway import RdsGateway
from support.real_vault import RealVault
from support.rotation import Site, running_site
from support.shim import shim_jar

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    # pyspark 3.5 leaves the sockets of collect() to the garbage collector.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
AT_LEAST = 4
#: Seconds of a lease of OpenBao. New credentials come after three quarters of it.
LEASE = 12
#: Connections of the long task. Each reads for a second and a half, and a new password comes after eleven seconds.
CONNECTIONS = 26


@pytest.fixture(scope="module")
def minted(postgres) -> Iterator[MintedRoles]:
    with MintedRoles(postgres) as roles:
        yield roles


@pytest.fixture(scope="module")
def leased(request, postgres) -> Iterator[LeasedRoles]:
    with RealVault.of(request) as vault:
        # It connects to the database, and the forwarder to it.
        vault.postgres = postgres if vault.local and vault.url.startswith("http:") else None
        with LeasedRoles(vault, seconds=LEASE) as roles:
            yield roles


@pytest.fixture(scope="module")
def rds(postgres) -> Iterator[RdsGateway]:
    with RdsGateway(postgres) as gateway:
        yield gateway


@pytest.fixture(scope="module")
def site(cluster, minted, leased, rds, pg_driver, tmp_path_factory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("overlap")
    (folder / "events").mkdir()
    (folder / "client-secret").write_text(minted.SECRET)
    (folder / "vault-token").write_text(leased.token)
    (folder / "aws.properties").write_text(f"secret={rds.SECRET}\nsession={rds.SESSION}\n")
    conf = {
        "spark.jars": f"{shim_jar()},{pg_driver}",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": (folder / "events").as_uri(),
        "spark.config.providers": "files,tokens,vault,rds",
        "spark.config.poll.interval": "500ms",
        "spark.task.maxFailures": "1",
        **minted.provider("tokens", str(folder / "client-secret")),
        **leased.provider("vault", str(folder / "vault-token")),
        **rds.provider("rds", f"files:{folder}/aws.properties"),
    }
    with running_site(cluster, folder, module=__name__, conf=conf) as site:
        yield site


@pytest.fixture(scope="module", autouse=True)
def stream(site: Site, leased: LeasedRoles) -> Iterator[Any]:
    """It reads the table anew with each batch, by a frame that is made once."""
    orders = site.spark.read.format("jdbc").options(**leased.options("vault")).load()
    rows = site.spark.readStream.format("rate").option("rowsPerSecond", 2).option("numPartitions", 1).load()
    query = (
        rows.join(orders.hint("broadcast"), rows.value % 100 == orders.id)
        .writeStream.format("memory").queryName("leased").trigger(processingTime="1 second").start()
    )  # fmt: skip
    yield query
    query.stop()


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


def test_each_connection_logs_in_with_the_newest_token_that_iam_would_take(
    site: Site, rds: RdsGateway
) -> None:
    held = site.spark.read.format("jdbc").options(**rds.options("rds")).load()
    assert held.count() == 100
    first = set(rds.tokens)
    assert len(first) == 1
    signed = time.time()
    wait_until("a second, the clock of signatures", lambda: time.time() - signed > 1, timeout=10)
    site.api.refresh()
    assert held.count() == 100
    assert rds.tokens[-1] not in first
    assert len(rds.tokens[-1]) > 1000
    assert rds.refused == 0
    # The gateway would have told them from others.
    assert rds.problem(rds.tokens[-1], rds.USER) == ""
    assert rds.problem(rds.tokens[-1], rds.USER, later=901) == "it has expired"
    assert "DBUser" in rds.problem(rds.tokens[-1], "postgres")
    assert rds.problem(rds.tokens[-1][:-1], rds.USER) == "its signature is wrong"


def test_a_task_reads_through_three_rotations_of_passwords_that_are_good_for_15_seconds(
    long_job: Future[list[int]], minted: MintedRoles
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


def test_a_stream_outlives_the_leases_of_its_credentials_and_no_secret_is_shown(
    site: Site, stream: Any, leased: LeasedRoles, minted: MintedRoles, rds: RdsGateway, cluster
) -> None:
    def outlived() -> bool:
        """Whether the stream, which must not end, has gone on after two leases that it used had ended."""
        assert stream.isActive, stream.exception()
        ended = set(leased.used()) - set(leased.alive())
        return len(ended) >= 2 and leased.used()[-1] > max(ended)

    wait_until("the end of two leases", outlived, timeout=120, interval=0.5)
    batches = stream.lastProgress["batchId"]
    wait_until("another batch", lambda: stream.lastProgress["batchId"] > batches, timeout=60)
    assert leased.refused() == []
    used = leased.used()
    assert used == sorted(used), "a connection came with older credentials than the one before it"
    ui = site.context.uiWebUrl
    pages = [
        f"{ui}/{page}/" for page in ("jobs", "stages", "SQL", "StreamingQuery", "environment", "executors")
    ]
    texts = [(page, fetch(page)) for page in pages]
    texts += [*surfaces.environment_rest(ui)]
    texts += [(page := f"{surfaces.api(ui)}/sql?details=true&planDescription=true&length=1000", fetch(page))]
    stream.stop()
    values = sorted(row.value for row in site.spark.table("leased").collect())
    assert values == list(range(len(values)))
    assert len(values) > LEASE
    site.spark.stop()
    wait_until("the end of the lease in use", lambda: leased.leases[-1].id in leased.revoked, timeout=20)
    wait_until("the end of all roles", lambda: not leased.alive(), timeout=30)
    texts += surfaces.files([site.folder / "events", *cluster.executor_logs()])
    assert any(b"leased" in text for _, text in texts), "the stream's table is on the pages"
    secrets = [*(lease.password for lease in leased.leases), leased.token]
    secrets += [*minted.passwords, minted.SECRET, rds.SECRET, rds.SESSION]
    # Of a token its signature, without which it is worth nothing.
    secrets += [token.rpartition("=")[2] for token in rds.tokens]
    found = surfaces.search("all", texts, LeakFinder(secrets))
    assert (found.occurrences, found.where) == (0, [])
