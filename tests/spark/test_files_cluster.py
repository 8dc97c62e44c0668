"""Values as files, on a cluster: TLS to PostgreSQL with a keystore, Python workers, rotation, a full disk."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sparkconfig import SparkConfigError, worker
from sparkconfig._spark import driver
from support.authority import Authority
from support.leaks import LeakFinder
from support.postgres_tls import TlsPostgres
from support.processes import wait_until
from support.session import running_session
from support.shim import shim_jar

pytestmark = [pytest.mark.spark, pytest.mark.cluster]

ROLE = "keeper"
PREFIX = "sparkconfig-files-"


@dataclass
class Site:
    """The application, its TLS server, and the file with the secrets."""

    folder: Path
    authority: Authority
    server: TlsPostgres
    base: Path
    passwords: list[str] = field(default_factory=list, repr=False)
    spark: object = None

    @property
    def store(self) -> Path:
        return self.folder / "tls.json"

    def reference(self, key: str) -> str:
        return f"${{files:{self.store}:{key}}}"

    def rotate(self, *, size: int = 0) -> str:
        """A new certificate under a new password; ``size`` adds bytes to another file of the same store."""
        password = f"keystore-password-{len(self.passwords):04d}"
        self.passwords.append(password)
        content = {
            "client.p12": base64.encodebytes(self.authority.keystore(ROLE, password)).decode(),
            "password": password,
            "ca.pem": self.authority.pem,
            "large.pem": f"{password} " * (1 + size // 24),
        }
        partial = self.store.with_suffix(".new")
        partial.write_text(json.dumps(content))
        partial.replace(self.store)
        if self.spark is not None:
            with contextlib.suppress(SparkConfigError):  # a full disk, for one
                driver.current(self.reference("password"), fresh=True)
        return password

    def options(self) -> dict[str, str]:
        return {
            "url": self.server.jdbc_url(ROLE),
            "user": ROLE,
            "driver": "org.postgresql.Driver",
            "sslrootcert": self.reference("ca.pem"),
            "sslkey": self.reference("client.p12"),
            "sslpassword": self.reference("password"),
        }

    def read(self, table: str) -> object:
        reader = self.spark.read.format("jdbc").options(**self.options()).option("dbtable", table)
        return reader.options(
            partitionColumn="id", lowerBound="0", upperBound="100", numPartitions="4"
        ).load()

    def everywhere(self, function: object) -> list[object]:
        return self.spark.sparkContext.parallelize(range(4), 4).mapPartitions(function).collect()


@pytest.fixture(scope="module")
def memory(tmp_path_factory) -> Iterator[Path]:
    """A file system of 128 KB, so that it can be full; without the right to mount one, a folder."""
    folder = tmp_path_factory.mktemp("memory")
    options = ["-t", "tmpfs", "-o", "size=128k,mode=1777"]
    mounted = subprocess.run(["mount", *options, "tmpfs", folder], capture_output=True, check=False)
    yield folder
    if mounted.returncode == 0:
        subprocess.run(["umount", folder], check=True)


@pytest.fixture(scope="module")
def site(cluster, postgres, pg_driver, harness_run, memory, tmp_path_factory) -> Iterator[Site]:
    from pyspark import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    folder = tmp_path_factory.mktemp("files")
    (folder / "events").mkdir()
    authority = Authority()
    server = TlsPostgres(harness_run, postgres, authority, cache=Path(__file__).parents[2] / ".cache")
    server.sql(f"CREATE ROLE {ROLE} LOGIN")
    server.sql(f"CREATE DATABASE {ROLE} OWNER {ROLE}")
    site = Site(folder, authority, server, memory)
    site.rotate()
    conf = {
        **cluster.application(),
        "spark.app.name": "files",
        "spark.jars": f"{shim_jar()},{pg_driver}",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": (folder / "events").as_uri(),
        "spark.config.providers": "files",
        "spark.config.providers.files.class": "file",
        "spark.config.worker.references": "files:*",
        "spark.config.poll.interval": "200ms",
        "spark.config.files.base64": f"files:{site.store}:*.p12",
        "spark.config.files.text": "files:*.pem",
        "spark.config.files.keep": "8s",
        "spark.config.files.directory": str(memory),
    }
    try:
        with running_session(conf, folder=folder, env={"PYSPARK_PYTHON": sys.executable}) as session:
            site.spark = session
            frame = session.range(100).selectExpr("id", "id % 7 as kind")
            frame.write.format("jdbc").options(**site.options()).option("dbtable", "orders").save()
            yield site
        # The last process that used them has ended.
        wait_until("an empty directory", lambda: not areas(memory), timeout=30)
    finally:
        server.stop()
    for log in (*(folder / "events").rglob("*"), *cluster.executor_logs()):
        if log.is_file():
            assert LeakFinder(site.passwords[:3]).count(log.read_bytes()) == 0, log


def areas(base: Path) -> list[Path]:
    return [path for path in base.iterdir() if path.name.startswith(PREFIX)]


def test_executors_read_over_tls_with_a_keystore_its_password_and_the_authority(site: Site) -> None:
    assert site.read("orders").selectExpr("sum(id) as s").first().s == 4950
    query = "(select id, ssl, client_dn from orders, pg_stat_ssl where pid = pg_backend_pid()) as used"
    used = site.read(query).select("ssl", "client_dn").distinct().collect()
    assert [tuple(row) for row in used] == [(True, f"/CN={ROLE}")]


def test_python_code_gets_a_path_that_only_this_user_can_read(site: Site) -> None:
    keystore, text = site.reference("client.p12"), site.reference("ca.pem")

    def look(_rows):
        from sparkconfig.worker import configs, current

        path = Path(current(keystore).reveal())
        plain = configs({"ca": text})["ca"]
        modes = [stat.S_IMODE(each.stat().st_mode) for each in (path, path.parent)]
        yield os.getpid(), str(path), path.read_bytes(), modes, plain if isinstance(plain, str) else None

    found = [*site.everywhere(look), *look([])]
    for _, path, content, modes, ca in found:
        assert content == base64.b64decode(json.loads(site.store.read_text())["client.p12"])
        assert (modes, Path(path).name.split("-", 1)[1]) == ([0o600, 0o700], "client.p12")
        assert Path(ca).read_text() == site.authority.pem
    assert len({path for _, path, *_ in found}) == 1, "a path that travels with a task must fit on executors"


def test_an_old_path_stays_readable_for_a_while_and_then_goes(site: Site) -> None:
    keystore = site.reference("client.p12")
    before = Path(driver.current(keystore).reveal())
    content = before.read_bytes()
    site.rotate()
    after = Path(driver.current(keystore).reveal())
    assert after != before
    assert before.read_bytes() == content
    wait_until("the end of the old file", lambda: not before.exists(), timeout=60)
    assert after.exists()
    assert site.read("orders").count() == 100


def test_a_keystore_always_comes_with_its_own_password(site: Site) -> None:
    keystore, password = site.reference("client.p12"), site.reference("password")

    def check(_rows):
        from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12

        from sparkconfig.worker import configs

        wrong, seen = 0, set()
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            found = configs({"keystore": keystore, "password": password})
            try:
                load_pkcs12(Path(found["keystore"]).read_bytes(), found["password"].reveal().encode())
            except (ValueError, OSError):
                wrong += 1
            seen.add(found["keystore"])
            time.sleep(0.001)  # the processor is the other tests', too
        yield wrong, len(seen)

    stop = threading.Event()

    def rotate() -> None:
        while not stop.wait(0.3):
            site.rotate()

    rotating = threading.Thread(target=rotate)
    rotating.start()
    try:
        results = site.spark.sparkContext.parallelize(range(2), 2).mapPartitions(check).collect()
    finally:
        stop.set()
        rotating.join()
    for wrong, seen in results:
        assert wrong == 0
        assert seen > 3


def test_a_full_disk_keeps_the_last_generation_until_there_is_room(site: Site) -> None:
    if not site.base.is_mount():
        pytest.skip("a small file system is needed, and mounting one is not allowed here")
    large, password = site.reference("large.pem"), site.reference("password")
    held = Path(driver.current(large).reveal())
    content, generation = held.read_text(), driver.generation()
    before = driver.current(password).reveal()
    fresh = site.rotate(size=200_000)

    def told() -> str:
        return str(driver.status().get("files_problem", ""))

    wait_until("a word about it", told, timeout=30)
    assert "No space left on device" in told()
    assert "spark.config.files.directory" in told()
    assert fresh not in told()
    # Nothing is half new: path and password are those of the generation before.
    assert driver.generation() == generation
    assert driver.current(password).reveal() == before
    assert Path(driver.current(large).reveal()).read_text() == content
    assert [
        path.name
        for path in areas(site.base)[0].iterdir()
        if path.name.startswith(".") and path.name != ".lock"
    ] == []
    assert site.read("orders").count() == 100

    subprocess.run(["mount", "-o", "remount,size=2m", site.base], check=True)
    wait_until("the new generation", lambda: driver.generation() > generation, timeout=30)
    assert driver.current(password).reveal() == fresh
    assert len(Path(worker.current(large).reveal()).read_text()) > 150_000
    assert told() == ""

    def look(_rows):
        from sparkconfig.worker import current

        deadline = time.monotonic() + 30
        while current(password).reveal() != fresh and time.monotonic() < deadline:
            time.sleep(0.05)
        yield current(password).reveal() == fresh, len(Path(current(large).reveal()).read_text()) > 150_000

    assert site.everywhere(look) == [(True, True)] * 4
    with contextlib.suppress(OSError):
        site.rotate()
