"""What a rotation does before any poll: refused connections, their errors, and what tasks show.

Stores are asked once an hour here, so nothing but a refusal, or a task itself, brings news to a process. The store is a
real OpenBao (see tests/support/real_vault.py).
"""

from __future__ import annotations

import json
import math
import os
import signal
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

from sparkconfig import Resolver, current, kafka, redaction, secret
from sparkconfig._spark import driver
from support.cluster import SparkCluster
from support.postgres import PostgresServer, new_password
from support.processes import wait_until
from support.real_vault import RealVault
from support.rotation import Site, digest, provider_confs, running_site
from support.shim import shim_jar

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    # pyspark 3.5 leaves the sockets to the garbage collector on which it collects RDDs.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

ROLE, DATABASE, PATH = "refused", "refused", "db/prod"
PASSWORD = f"${{vault:{PATH}:password}}"
MASK = "*********(redacted)"


@dataclass
class Shop:
    """The application, its database, and the store that holds the password."""

    site: Site
    cluster: SparkCluster
    postgres: PostgresServer
    vault: RealVault

    @property
    def spark(self):
        return self.site.spark

    def rotate(self) -> str:
        """Give the database and the store a new password; nobody is told."""
        password = new_password()
        self.postgres.set_password(ROLE, password)
        self.vault.put(PATH, {"password": password})
        return password

    def options(self) -> dict[str, str]:
        return {
            "url": self.postgres.jdbc_url(DATABASE),
            "user": ROLE,
            "password": PASSWORD,
            "driver": "org.postgresql.Driver",
            "dbtable": "orders",
        }

    def orders(self, partitions: int = 4):
        """All orders; the driver connects here, and each partition when it is read."""
        parts = {"partitionColumn": "id", "lowerBound": "0", "upperBound": "100"}
        return (
            self.spark.read.format("jdbc")
            .options(**self.options(), **parts, numPartitions=str(partitions))
            .load()
        )

    def asked(self) -> int:
        """How often the store was asked for the password."""

        def account() -> dict[str, int]:
            return next(path for path in self.site.provider("vault")["paths"] if path["path"] == PATH)

        # The driver keeps the side process's account for a second; the age in the next one is another.
        known = account()["age_ms"]
        wait_until("a new account of the side process", lambda: account()["age_ms"] != known, timeout=30)
        return account()["reads"]

    def refused(self) -> int:
        """How many connections the database has refused."""
        return self.postgres.output().count(f'password authentication failed for user "{ROLE}"')

    def masked_in_tasks(self, marker: str, text: str) -> bool:
        """Whether every executor masks a text that its tasks print."""

        def show(_rows):
            print(f"{marker}<{text}>", flush=True)
            yield 1

        self.site.everywhere(show)
        return self.masked(marker, 4)

    def masked(self, marker: str, count: int) -> bool:
        """Whether so many tasks have printed, and what they printed is the mask in the executors' files."""

        def shown() -> list[str]:
            """What follows the marker; other output of an executor may come between two lines, or end one."""
            logs = "".join(path.read_text(errors="replace") for path in self.cluster.executor_logs())
            return [text for text in logs.split(f"{marker}<")[1:] if ">" in text]

        wait_until("the output of all tasks", lambda: len(shown()) >= count, timeout=30)
        return [text.startswith(f"{MASK}>") for text in shown()] == [True] * count


@pytest.fixture(scope="module")
def shop(request, cluster, postgres, pg_driver, tmp_path_factory) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("refused")
    with RealVault.of(request) as vault:
        (folder / "token").write_text(vault.ROOT)
        (folder / "token").chmod(0o600)
        params = vault.params(**{"token.file": f"{folder}/token"})
        postgres.create(role=ROLE, password=new_password(), database=DATABASE)
        postgres.sql(
            "CREATE TABLE orders AS SELECT generate_series(0, 99) AS id; GRANT ALL ON orders TO PUBLIC",
            database=DATABASE,
        )
        shop = Shop(Site(None, folder), cluster, postgres, vault)  # type: ignore[arg-type]
        first = shop.rotate()
        conf = {
            "spark.jars": f"{shim_jar()},{pg_driver}",
            "spark.config.providers": "files,vault",
            "spark.config.worker.references": "*:*",
            **provider_confs("vault", "vault", params),
            "spark.config.poll.interval": "1h",
            # A refused task must not be saved by its next attempt.
            "spark.task.maxFailures": "1",
        }
        with running_site(cluster, folder, module=__name__, conf=conf) as site:
            shop.site = site
            assert current(PASSWORD).reveal() == first
            assert shop.orders().count() == 100
            yield shop


def test_the_first_connections_of_executors_after_a_rotation_are_let_in(shop: Shop) -> None:
    orders, refused, asked = shop.orders(), shop.refused(), shop.asked()
    shop.rotate()
    assert orders.count() == 100
    assert shop.refused() > refused  # what they held was refused at first
    # Four tasks on two executors were refused at about the same time.
    assert 1 <= shop.asked() - asked <= 2


def test_the_first_connection_of_the_driver_after_a_rotation_is_let_in(shop: Shop) -> None:
    for _ in range(3):
        shop.rotate()
        assert shop.orders().columns == ["id"]


def test_a_driver_and_its_executors_share_what_one_of_them_learned(shop: Shop) -> None:
    shop.rotate()
    orders, asked, refused = shop.orders(), shop.asked(), shop.refused()
    assert orders.count() == 100
    # The tasks carry the driver's generation: their executors have it before they connect.
    assert (shop.asked(), shop.refused()) == (asked, refused)


def test_a_stream_that_writes_to_the_database_outlives_rotations(shop: Shop) -> None:
    folder = shop.site.folder / "stream"
    (folder / "in").mkdir(parents=True)

    def write(batch, _number):
        batch.write.format("jdbc").options(**shop.options()).mode("append").save()

    query = (
        shop.spark.readStream.schema("id int").json(str(folder / "in"))
        .writeStream.option("checkpointLocation", str(folder / "checkpoint")).foreachBatch(write).start()
    )  # fmt: skip
    try:
        for number in range(1000, 1003):
            shop.rotate()
            (folder / f"{number}.part").write_text(json.dumps({"id": number}) + "\n")
            (folder / f"{number}.part").replace(folder / "in" / f"{number}.json")
            query.processAllAvailable()
    finally:
        query.stop()
    assert shop.orders().where("id >= 1000").count() == 3


def test_a_storm_of_wrong_passwords_does_not_hammer_the_store(shop: Shop) -> None:
    orders = shop.orders(partitions=8)
    shop.postgres.set_password(ROLE, new_password())  # and the store does not know

    def fails(number: int) -> bool:
        try:
            orders.count() if number % 2 else shop.orders()
        except Exception:
            return True
        return False

    asked, refused, began = shop.asked(), shop.refused(), time.monotonic()
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(fails, range(40)))
    passed = time.monotonic() - began
    assert shop.refused() - refused > 40
    # Pauses double: reads at 0, 1, 3, 7 seconds and so on.
    assert 1 <= shop.asked() - asked <= 2 + math.log2(1 + passed)
    shop.rotate()
    shop.site.api.refresh()
    assert shop.orders().count() >= 100


def test_a_wrong_password_says_which_reference_and_generation_and_keeps_the_drivers_error(shop: Shop) -> None:
    orders, wrong = shop.orders(), current(PASSWORD).reveal()
    shop.postgres.set_password(ROLE, new_password())
    texts = []
    for connect in (shop.orders, orders.count):
        with pytest.raises(Exception) as caught:
            connect()
        texts.append(str(caught.value))
        assert _sql_state(caught.value) == "28P01"
    generation = driver.generation()
    shop.rotate()
    shop.site.api.refresh()
    for text in texts:
        assert f'password authentication failed for user "{ROLE}"' in text
        assert f"this connection used 'password' ({PASSWORD}) from generation {generation};" in text
        assert wrong not in text


def _sql_state(error: BaseException) -> str:
    """Of the database's own error, among the causes of what Spark's JVM threw."""
    java = getattr(error, "_origin", None) or error.java_exception
    while java is not None:
        if java.getClass().getName().startswith("org.postgresql."):
            return java.getSQLState()
        java = java.getCause()
    return "none"


def test_a_value_that_is_used_for_the_first_time_is_masked_in_the_tasks_that_have_it(shop: Shop) -> None:
    value = f"first-use-{new_password()}"
    shop.vault.put("first/use", {"token": value})
    assert current("${vault:first/use:token}").reveal() == value
    assert shop.masked_in_tasks("first-use", value)


def test_a_value_is_masked_in_tasks_right_after_its_rotation_and_after_the_next_one(shop: Shop) -> None:
    site = shop.site
    for turn in range(2):
        old = site.rotate()
        assert current(site.reference(), fresh=True).reveal() == old
        new = site.rotate()
        assert current(site.reference(), fresh=True).reveal() == new
        # No executor has heard of either.
        assert shop.masked_in_tasks(f"retired-{turn}", old)
        assert shop.masked_in_tasks(f"rotated-{turn}", new)


def test_an_executor_that_comes_late_has_the_newest_values_and_masks_earlier_ones(shop: Shop) -> None:
    site, text = shop.site, shop.site.reference()
    # So much that it comes as a broadcast.
    site.padding = "".join(new_password().replace("\\", "") for _ in range(3000))
    old = site.rotate()
    assert current(site.reference(), fresh=True).reveal() == old
    assert len(current(site.reference("padding")).reveal()) == len(site.padding)
    site.padding = "none"
    fresh = site.rotate()
    assert current(text, fresh=True).reveal() == fresh
    before = site.executors()
    os.kill(before[0], signal.SIGKILL)
    wait_until("another executor", lambda: len(set(site.executors()) - set(before)) == 1, timeout=90)
    wait_until(
        "its registration",
        lambda: len(site.context._jsc.sc().statusTracker().getExecutorInfos()) == 3,
        timeout=90,
    )

    assert site.digests(text) == [digest(fresh)] * 4
    assert shop.masked_in_tasks("replaced", old)


def test_a_value_that_a_task_asked_for_first_is_masked_in_the_next_stage(shop: Shop) -> None:
    value = f"asked-by-a-task-{new_password()}"
    shop.vault.put("asked/task", {"token": value})

    def ask(_rows):
        from sparkconfig.worker import current

        yield from ((number, current("${vault:asked/task:token}").reveal()) for number in range(8))

    def show(rows):
        for _, text in rows:
            print(f"next-stage<{text}>", flush=True)
            yield 1

    one = shop.site.context.parallelize([0], 1).mapPartitions(ask)
    assert one.repartition(4).mapPartitions(show).count() == 8
    assert shop.masked("next-stage", 8)


def test_a_value_that_the_drivers_python_resolved_by_itself_is_masked_everywhere(
    shop: Shop, monkeypatch
) -> None:
    monkeypatch.setattr(
        secret, "on_reveal", redaction.revealed
    )  # as install() does, which the tests' process has not
    file = shop.site.folder / "own.properties"
    value = f"resolved-in-python-{new_password()}"
    other = "resolved-as-kafka-does"
    file.write_text(f"token={value.replace(chr(92), chr(92) * 2)}\nkafka={other}\n")
    with Resolver.from_confs({"spark.config.providers": "file"}) as resolver:
        found = resolver.resolve_map({"token": f"${{file:{file}:token}}"})["token"].reveal()
    assert found == value
    own = {
        "config.providers": "file",
        "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
    }
    by_kafka = kafka.resolve({"sasl.password": f"${{file:{file}:kafka}}"}, own)["sasl.password"]
    assert isinstance(by_kafka, secret.Secret)
    assert by_kafka.reveal() == other
    assert shop.masked_in_tasks("in-python", value)
    assert shop.masked_in_tasks("as-kafka", other)
    shop.spark.sparkContext.setJobDescription(f"with {value} and {other}")
    shop.spark.range(1).count()
    with urllib.request.urlopen(f"{shop.spark.sparkContext.uiWebUrl}/jobs/", timeout=20) as answer:
        page = answer.read().decode()
    assert value not in page, "the page shows the value"
    assert other not in page, "the page shows the value"
    assert f"with {MASK} and {MASK}" in page
