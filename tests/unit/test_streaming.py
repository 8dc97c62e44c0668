"""Managed queries with runs that hang, fail and cannot start; the real thing is in tests/spark."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from itertools import repeat

import pytest

from sparkconfig import streaming
from sparkconfig._spark import driver
from sparkconfig._spark.query_watch import Watch
from sparkconfig.errors import AgentError, ConfigurationError, UnresolvedReferenceError
from sparkconfig.secret import Secret
from sparkconfig.streaming import ManagedQuery, managed
from support.processes import wait_until

OPTIONS = {"password": "${vault:db:password}", "topic": "orders"}


class Application:
    """What the driver would answer."""

    def __init__(self) -> None:
        self.values = {"password": "p1"}
        self.generation = 1
        self.news = threading.Condition()
        self.failure: Exception | None = None
        self.action = "refresh"
        self.ended = False
        self.told: list[Mapping[str, object]] = []

    def rotate(self, **values: str) -> None:
        with self.news:
            self.values.update(values)
            self.generation += 1
            self.news.notify_all()

    def configs(self, given: Mapping[str, str]) -> dict[str, Secret | str]:
        if self.failure is not None:
            raise self.failure
        return {k: Secret(self.values[k]) if k in self.values else v for k, v in given.items()}

    def await_generation(self, known: int, wait_ms: int) -> int:
        if self.ended:
            raise AgentError("no Spark application runs in this process")
        with self.news:
            self.news.wait_for(lambda: self.generation > known, 0.02)
            return self.generation


class Run:
    """A StreamingQuery as far as it is used."""

    name = "orders"
    id = "00000000"

    def __init__(self) -> None:
        self.isActive = True
        self.failure: Exception | None = None
        self.release = threading.Event()
        self.release.set()
        self.silent: Iterator[None] = iter(())  # what lastProgress answers before the first batch
        self.asked = 0

    @property
    def lastProgress(self) -> Mapping[str, int] | None:  # noqa: N802 - as StreamingQuery
        self.asked += 1
        return next(self.silent, {"batchId": 0})

    def stop(self) -> None:
        self.release.wait(20)
        self.isActive = False

    def exception(self) -> Exception | None:
        return self.failure

    def fail(self, error: Exception) -> None:
        self.failure, self.isActive = error, False


class Factory:
    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.errors: list[Exception] = []

    def __call__(self, options: Mapping[str, str]) -> Run:
        assert options == OPTIONS
        if self.errors:
            raise self.errors.pop()
        self.runs.append(Run())
        return self.runs[-1]


@pytest.fixture
def application(monkeypatch: pytest.MonkeyPatch) -> Application:
    made = Application()
    monkeypatch.setattr(driver, "configs", made.configs)
    monkeypatch.setattr(driver, "await_generation", made.await_generation)
    monkeypatch.setattr(driver, "generation", lambda: made.await_generation(-1, 0))
    monkeypatch.setattr(driver, "reload_action", lambda: made.action)
    monkeypatch.setattr(driver, "query_restarted", made.told.append)
    monkeypatch.setattr(streaming, "_FIRST_PAUSE_S", 0.01)
    return made


@pytest.fixture
def factory(application: Application) -> Iterator[Factory]:
    yield Factory()
    for query in list(Watch.of_application()._watched):
        query.stop()


def restarted(query: ManagedQuery, times: int = 1) -> bool:
    return wait_until("a restart", lambda: len(query.restarts) == times, timeout=10, interval=0.005)


def test_a_change_restarts_with_the_references_and_says_what_changed(
    application: Application, factory: Factory, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    told: list[object] = []
    query = managed(factory, OPTIONS, action="restart", on_restart=told.append)
    application.rotate(password="p2")
    assert restarted(query)
    assert (query.restarts[0].changed, query.restarts[0].generation) == (("password",), 2)
    assert told == query.restarts
    assert [(each["query_id"], each["generation"]) for each in application.told] == [("orders", 2)]
    assert "query orders was restarted" in caplog.text
    assert "p2" not in caplog.text + repr(query.restarts)


def test_a_change_of_something_else_restarts_nothing(application: Application, factory: Factory) -> None:
    query = managed(factory, OPTIONS, action="restart")
    application.rotate(other="x")
    application.rotate(password="p2")
    assert restarted(query)
    assert len(factory.runs) == 2


@pytest.mark.parametrize(("of_application", "own"), [("refresh", None), ("none", None), ("restart", "none")])
def test_only_restart_restarts(
    application: Application, factory: Factory, of_application: str, own: str | None
) -> None:
    application.action = of_application
    still = managed(factory, OPTIONS, action=own)
    other = managed(factory, OPTIONS, action="restart")
    application.rotate(password="p2")
    assert restarted(other)
    assert still.restarts == []


def test_the_applications_action_counts_where_the_query_has_none(
    application: Application, factory: Factory
) -> None:
    application.action = "restart"
    query = managed(factory, OPTIONS)
    application.rotate(password="p2")
    assert restarted(query)
    with pytest.raises(ConfigurationError):
        managed(factory, OPTIONS, action="reboot")


def test_a_start_that_fails_is_tried_again(application: Application, factory: Factory) -> None:
    query = managed(factory, OPTIONS, action="restart")
    factory.errors = [RuntimeError("not yet"), RuntimeError("not yet")]
    application.rotate(password="p2")
    assert restarted(query)
    assert query.restarts[0].attempts == 3


def test_a_run_that_does_not_stop_is_waited_for_in_bounds_and_never_doubled(
    application: Application, factory: Factory, caplog: pytest.LogCaptureFixture
) -> None:
    query = managed(factory, OPTIONS, action="restart", stop_timeout=0.05)
    factory.runs[0].release.clear()
    application.rotate(password="p2")
    wait_until("a warning", lambda: "has not stopped within" in caplog.text, timeout=10)
    assert len(factory.runs) == 1
    factory.runs[0].release.set()
    assert restarted(query)


@pytest.mark.parametrize("silent", [repeat(None, 3), repeat(None)], ids=["a first batch", "it is long"])
def test_a_run_is_not_stopped_while_it_writes_its_first_offsets(
    application: Application, factory: Factory, monkeypatch: pytest.MonkeyPatch, silent: Iterator[None]
) -> None:
    monkeypatch.setattr(streaming, "_FIRST_BATCH_S", 0.5)
    query = managed(factory, OPTIONS, action="restart")
    factory.runs[0].silent = silent
    application.rotate(password="p2")
    assert restarted(query)
    assert factory.runs[0].asked >= 4


def test_a_run_that_the_rotation_broke_is_started_again_once_the_new_value_is_known(
    application: Application, factory: Factory
) -> None:
    query = managed(factory, OPTIONS, action="restart")
    factory.runs[0].fail(RuntimeError("password authentication failed"))
    assert not query.awaitTermination(0.1)
    application.rotate(password="p2")
    assert restarted(query)
    assert query.isActive


def test_a_failure_that_no_rotation_explains_is_raised(application: Application, factory: Factory) -> None:
    query = managed(factory, OPTIONS, action="restart", failure_grace=0.05)
    factory.runs[0].fail(RuntimeError("bad data"))
    with pytest.raises(RuntimeError, match="bad data"):
        query.awaitTermination(10)


@pytest.mark.parametrize(
    "failure",
    [UnresolvedReferenceError(["gone"]), AgentError("sparkconfig's side process is being restarted")],
)
def test_a_query_goes_on_while_its_secret_has_no_value(
    application: Application, factory: Factory, failure: Exception
) -> None:
    query = managed(factory, OPTIONS, action="restart")
    application.failure = failure
    application.rotate(password="p2")
    assert not query.awaitTermination(0.2)
    assert (query.query.isActive, query.restarts) == (True, [])
    application.failure = None
    assert restarted(query)


def test_the_end_of_the_application_ends_the_watch(application: Application, factory: Factory) -> None:
    query = managed(factory, OPTIONS, action="restart")
    application.failure, application.ended = AgentError("stopped"), True
    assert query.awaitTermination(10)


def test_a_query_that_ends_by_itself_has_ended(application: Application, factory: Factory) -> None:
    query = managed(factory, OPTIONS, action="restart")
    factory.runs[0].isActive = False
    assert query.awaitTermination(10)


def test_a_stop_waits_for_no_start_and_what_starts_then_is_stopped(
    application: Application, factory: Factory
) -> None:
    starting, release = threading.Event(), threading.Event()

    def slow(options: Mapping[str, str]) -> Run:
        if factory.runs:
            starting.set()
            assert release.wait(20)
        return factory(options)

    query = managed(slow, OPTIONS, action="restart")
    application.rotate(password="p2")
    assert starting.wait(10)
    stopping = threading.Thread(target=query.stop)
    stopping.start()
    stopping.join(5)
    waited = stopping.is_alive()
    release.set()
    stopping.join(10)
    wait_until("the second run", lambda: len(factory.runs) == 2, timeout=10, interval=0.005)
    wait_until("its end", lambda: not factory.runs[1].isActive, timeout=10, interval=0.005)
    assert not waited
    assert not query.restarts


def test_a_query_that_was_stopped_is_not_started_again(application: Application, factory: Factory) -> None:
    query = managed(factory, OPTIONS, action="restart")
    run = factory.runs[0]
    run.release.clear()
    application.rotate(password="p2")
    wait_until("the stop", lambda: query._restarting, timeout=10, interval=0.005)
    stopping = threading.Thread(target=query.stop)
    stopping.start()
    wait_until("the end", lambda: not query.isActive, timeout=10, interval=0.005)
    run.release.set()
    stopping.join(10)
    wait_until("an idle watch", lambda: not Watch.of_application()._thread, timeout=10, interval=0.005)
    assert len(factory.runs) == 1
