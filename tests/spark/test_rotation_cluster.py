"""Rotation on a standalone cluster: Python workers, refresh by hand, managed queries, the page, and faults."""

from __future__ import annotations

import json
import os
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from sparkconfig import worker
from sparkconfig._spark import driver
from sparkconfig.agent import control
from sparkconfig.cli import main
from sparkconfig.streaming import managed
from support import monitoring
from support.crawl import fetch
from support.processes import wait_until
from support.rotation import Site, digest, replace_file, running_site

pytestmark = [
    pytest.mark.spark,
    pytest.mark.cluster,
    # pyspark 3.5 leaves the sockets to the garbage collector on which it collects RDDs.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def site(cluster, tmp_path_factory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("rotation")
    files = ("main", "other", "late")
    with running_site(cluster, folder, module=__name__, files=files, conf=monitoring.spark_confs()) as site:
        yield site


def test_python_workers_of_all_executors_have_the_value(site: Site) -> None:
    assert site.digests(site.reference()) == [digest(site.values[0])] * 4


def test_udf_and_pandas_udf_have_the_value(site: Site) -> None:
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")  # the small environments of old Sparks do without
    from pyspark.sql.functions import pandas_udf, udf

    text = site.reference()

    @udf("string")
    def plain(_number):
        from sparkconfig.worker import current

        return digest(current(text).reveal())

    def vectors(numbers: pd.Series) -> pd.Series:
        from sparkconfig.worker import current

        return pd.Series([digest(current(text).reveal())] * len(numbers))

    vectors.__annotations__ = {"numbers": pd.Series, "return": pd.Series}  # texts, as this module writes them
    rows = site.spark.range(4).select(plain("id"), pandas_udf(vectors, "string")("id")).distinct().collect()
    assert [tuple(row) for row in rows] == [(digest(site.values[0]),) * 2]


def test_python_data_sources_ask_where_they_plan_and_where_they_read_and_write(site: Site) -> None:
    datasource = pytest.importorskip("pyspark.sql.datasource")  # Spark 4.0
    pytest.importorskip("pyarrow")
    text, committed = site.reference(), site.folder / "committed"

    def value() -> str:
        from sparkconfig.worker import current

        return digest(current(text).reveal())

    class Reader(datasource.DataSourceReader):
        def partitions(self):
            return [datasource.InputPartition(("planned", value())) for _ in range(2)]

        def read(self, partition):
            yield partition.value
            yield "read", value()

    class Writer(datasource.DataSourceWriter):
        def write(self, rows):
            asked = {value() for _ in rows}
            message = datasource.WriterCommitMessage()
            message.asked = sorted(asked)
            return message

        def commit(self, messages):
            committed.write_text(json.dumps([*(each.asked for each in messages), [value()]]))

    class Shop(datasource.DataSource):
        @classmethod
        def name(cls):
            return "shop_api"

        def schema(self):
            return "place string, digest string"

        def reader(self, schema):
            return Reader()

        def writer(self, schema, overwrite):
            return Writer()

    expected = digest(site.values[0])
    site.spark.dataSource.register(Shop)
    rows = [tuple(row) for row in site.spark.read.format("shop_api").load().collect()]
    assert sorted(rows) == [("planned", expected)] * 2 + [("read", expected)] * 2
    frame = site.spark.range(4).selectExpr("'x' as place", "'y' as digest").repartition(2)
    frame.write.format("shop_api").mode("append").save()
    assert {each for part in json.loads(committed.read_text()) for each in part} == {expected}


def test_the_drivers_python_has_the_same_calls(site: Site) -> None:
    given = {"url": "jdbc:x", "password": site.reference()}
    found = worker.configs(given)
    assert (found["url"], found["password"].reveal()) == ("jdbc:x", site.values[0])
    assert worker.current(site.reference()).reveal() == site.values[0]
    assert worker.generation() == driver.generation()


def test_a_long_task_sees_a_rotation_in_the_middle(site: Site) -> None:
    text, marker = site.reference(), str(site.folder / "long-task")
    before = site.values[0]

    def wait_for_news(_rows):
        from sparkconfig.worker import current

        first = current(text).reveal()
        Path(marker).touch()
        deadline = time.monotonic() + 60
        while current(text).reveal() == first and time.monotonic() < deadline:
            time.sleep(0.01)
        yield digest(first), digest(current(text).reveal())

    results: list[object] = []
    job = threading.Thread(
        target=lambda: results.extend(site.context.parallelize([0], 1).mapPartitions(wait_for_news).collect())
    )
    job.start()
    wait_until("the task", lambda: Path(marker).exists(), timeout=60)
    fresh = site.rotate()
    job.join(90)
    assert results == [(digest(before), digest(fresh))]


def test_foreach_batch_has_the_newest_value_in_each_batch(site: Site) -> None:
    text, folder = site.reference(), site.folder / "batches"
    folder.mkdir()
    seen: list[tuple[str, list[str]]] = []

    def ask(_rows):
        from sparkconfig.worker import current

        yield digest(current(text).reveal())

    def take(batch, _number):
        seen.append((worker.current(text).reveal(), sorted(set(batch.rdd.mapPartitions(ask).collect()))))

    query = (
        site.spark.readStream.schema("id long").json(str(folder))
        .writeStream.option("checkpointLocation", str(site.folder / "batches-checkpoint")).foreachBatch(take).start()
    )  # fmt: skip
    try:
        values = []
        for number in range(2):
            values.append(site.rotate())
            assert site.arrives(text, values[-1])
            replace_file(folder / f"{number}.json", json.dumps({"id": number}) + "\n")
            query.processAllAvailable()
        assert seen == [(value, [digest(value)]) for value in values]
    finally:
        query.stop()


def test_a_reference_that_the_driver_never_saw_is_asked_of_it(site: Site) -> None:
    text, bad = site.reference("user", "late"), site.reference("no.such.key", "late")

    def ask(_rows):
        from sparkconfig.errors import UnresolvedReferenceError
        from sparkconfig.worker import configs, current

        found = configs({"late": text, "foreign": "${env:HOME}", "plain": "x"})
        try:
            current(bad)
        except UnresolvedReferenceError as error:
            problem = str(error)
        yield digest(found["late"].reveal()), found["foreign"], found["plain"], problem

    for late, foreign, plain, problem in site.everywhere(ask):
        assert (late, foreign, plain) == (digest(site.values[2]), "${env:HOME}", "x")
        assert "no.such.key" in problem
        assert "rotated-value" not in problem


def test_a_process_that_a_worker_forks_has_a_connection_of_its_own(site: Site) -> None:
    main_text, other_text = site.reference(), site.reference("user", "other")

    def fork(_rows):
        from sparkconfig.worker import current

        before = digest(current(main_text).reveal())
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writer, digest(current(other_text).reveal()).encode())
            os._exit(0)
        os.waitpid(child, 0)
        yield before, os.read(reader, 100).decode(), digest(current(other_text).reveal())

    expected = (
        digest(driver.current(main_text).reveal()),
        *[digest(driver.current(other_text).reveal())] * 2,
    )
    assert site.everywhere(fork) == [expected] * 4


def test_sparkconfig_refresh_reaches_the_application_and_nobody_else_can(site: Site, capsys) -> None:
    socket = control.sockets()[application := site.context.applicationId]
    assert socket.is_relative_to(site.folder)

    def told() -> int:
        assert main(["refresh", str(socket), "--status", "--json"]) == 0
        return json.loads(capsys.readouterr().out)["status"]["generation"]

    wait_until("a change on its way to reach the driver", lambda: told() == driver.generation(), timeout=60)
    assert [stat.S_IMODE(each.stat().st_mode) for each in (socket, socket.parent)] == [0o600, 0o700]
    assert main(["refresh", str(socket), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["application"], answer["generation"] >= answer["before"]) == (application, True)
    fresh = site.rotate()
    assert main(["refresh", str(socket), "--wait", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["missing"] == []
    assert {(each["behind"], each["pushed"]) for each in driver.status()["executors"]} == {(False, True)}
    assert site.digests(site.reference()) == [digest(fresh)] * 4
    assert main(["refresh", "app-of-nobody"]) == 4
    assert application in capsys.readouterr().err


def test_the_page_config_and_its_json_show_names_and_times_and_no_values(site: Site) -> None:
    ui = site.context.uiWebUrl

    def told() -> dict[str, object]:
        return json.loads(fetch(f"{ui}/config/json/"))

    wait_until(
        "both executors with the newest generation",
        lambda: [each["behind"] for each in told()["executors"]] == [False, False],
        timeout=90,
    )
    state = told()
    page = fetch(f"{ui}/config/").decode()
    assert state["generation"] == driver.generation()
    assert {provider["name"]: provider["up"] for provider in state["providers"]} == {"files": True}
    references = [text for use in state["references"] for text in use["references"]]
    assert site.reference() in references
    for expected in ("files", "FileConfigProvider", f"{site.folder}/main.properties", "Executors"):
        assert expected in page
    metrics = json.loads(fetch(f"{ui}/metrics/json/"))["gauges"]
    gauges = {
        name.rpartition(".")[2]: each["value"] for name, each in metrics.items() if "ConfigPlugin" in name
    }
    assert gauges["generation"] == state["generation"]
    assert (gauges["providers"], gauges["providersUp"], gauges["executorsBehind"]) == (1, 1, 0)
    for shown in (json.dumps(state), page, json.dumps(metrics)):
        assert not any(value in shown for value in site.values)


@pytest.mark.templates(
    client="PrometheusServlet", documents=["spark-defaults.conf", "grafana-dashboard.json", "alert-rules.yml"]
)
def test_the_dashboard_and_the_alert_rules_name_the_metrics_that_spark_prints(site: Site) -> None:
    page = fetch(f"{site.context.uiWebUrl}/metrics/prometheus").decode()
    printed = monitoring.printed(page)
    shown = monitoring.names_in(" ".join(monitoring.dashboard_expressions()))
    # Spark prints each gauge twice.
    assert shown == {name for name in printed if name.endswith("_Value")}
    asked = monitoring.names_in((monitoring.FOLDER / "alert-rules.yml").read_text())
    assert asked
    assert asked <= shown
    (up,) = (value for name, value in printed.items() if name.endswith("_providersUp_Value"))
    assert up == 1
    assert not any(value in page for value in site.values)


def test_managed_queries_restart_one_after_the_other_and_lose_nothing(site: Site) -> None:
    """Two queries use a secret that changes, a third one another; files in, files out."""
    spark, root = site.spark, site.folder / "streams"
    running, most = [0], [0]

    def factory(name: str):
        (root / name / "in").mkdir(parents=True)

        def start(options):
            running[0] += 1
            most[0] = max(most[0], running[0])
            try:
                lines = spark.readStream.schema("id long").json(str(root / name / "in"))
                checkpoint = str(root / name / "checkpoint")
                return (
                    lines.writeStream.format("parquet")
                    .option("checkpointLocation", checkpoint)
                    .start(str(root / name / "out"))
                )
            finally:
                running[0] -= 1

        return start

    def feed(name: str, numbers: range) -> None:
        partial = root / name / f"{numbers.start}.part"
        partial.write_text("".join(json.dumps({"id": number}) + "\n" for number in numbers))
        partial.replace(root / name / "in" / f"{numbers.start}.json")

    options = {"a": site.reference(), "b": site.reference(), "c": site.reference("password", "other")}
    queries = {
        name: managed(factory(name), {"secret": text}, action="restart") for name, text in options.items()
    }
    idle = managed(factory("d"), {"secret": site.reference()}, action="none")
    try:
        ids = {name: query.query.id for name, query in queries.items()}
        for turn in range(2):
            for name in queries:
                feed(name, range(turn * 100, turn * 100 + 100))
            site.rotate()
            wait_until(
                "restarts", lambda turn=turn: all(len(queries[n].restarts) > turn for n in "ab"), timeout=90
            )
        for query in queries.values():
            query.query.processAllAvailable()
        for name in queries:
            rows = [row.id for row in spark.read.parquet(str(root / name / "out")).collect()]
            assert sorted(rows) == list(range(200)), name
        assert (len(queries["c"].restarts), len(idle.restarts), most[0]) == (0, 0, 1)
        assert {name: query.query.id for name, query in queries.items()} == ids
        assert queries["a"].restarts[0].changed == ("secret",)
    finally:
        for query in [*queries.values(), idle]:
            query.stop()
    assert queries["a"].awaitTermination(10)
