"""How soon a change is used: each row of the table in docs/rotation.md."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sparkconfig.agent.application import Application
from sparkconfig.agent.factory import make_application
from sparkconfig.providers._kit import watch
from sparkconfig.resolution.keeper import SnapshotKeeper
from support.keepers import Store, build, expressions, values

A = "${a:p:user}"
TRIES = 5
"""A busy machine is late now and then; the best of so many is the product's own time."""


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Application]]:
    made: list[Application] = []

    def begin(text: str, **confs: str) -> Application:
        given = {
            "spark.config.providers": "file,envvar",
            "spark.config.poll.interval": "1h",
            "spark.config.substitution.enabled": "true",
            "spark.a": text,
            **confs,
        }
        made.append(make_application(given, system_properties={}, operator_file=None))
        confs_found, problems = made[0].resolve_confs()
        assert (problems, len(confs_found)) == ([], 1)
        made[0].keeper.start()
        return made[0]

    yield begin
    for application in made:
        application.close()


def best(keeper: SnapshotKeeper, change: Callable[[str], object], tries: int = TRIES) -> float:
    """Seconds from a change to the generation that has it."""
    seconds = []
    for turn in range(tries):
        known = keeper.snapshot.generation
        began = time.monotonic()
        change(f"value-{turn}")
        snapshot = keeper.await_change(known, 30)
        seconds.append(time.monotonic() - began)
        assert list(values(snapshot).values()) == [f"value-{turn}"]
    return min(seconds)


def replace(path: Path) -> Callable[[str], object]:
    def change(value: str) -> None:
        path.with_suffix(".new").write_text(f"key={value}\n")
        path.with_suffix(".new").replace(path)

    return change


@pytest.mark.parametrize(("looks", "limit_s"), [(True, 0.1), (False, 2.3)], ids=["local", "network"])
def test_a_file(
    start: Callable[..., Application],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    looks: bool,
    limit_s: float,
) -> None:
    if not looks:
        monkeypatch.setattr(watch, "_state_of", lambda _: "as before")
    path = tmp_path / "s.properties"
    path.write_text("key=first\n")
    application = start(f"${{file:{path}:key}}")
    assert best(application.keeper, replace(path), TRIES if looks else 2) < limit_s


@pytest.mark.parametrize("text", ["${envvar:SHOP_KEY}", "$[envVar=SHOP_KEY]"])
def test_a_variable_and_a_substitution(
    start: Callable[..., Application], monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("SHOP_KEY", "first")
    application = start(text)
    assert best(application.keeper, lambda value: monkeypatch.setenv("SHOP_KEY", value), 2) < 2.3


@pytest.mark.parametrize(
    ("pushes", "ttl", "poll_ms", "limit_s"),
    [(True, None, 60_000, 0.1), (False, 400, 60_000, 0.4), (False, None, 200, 0.3)],
    ids=["pushes", "ttl", "polled"],
)
def test_a_store(pushes: bool, ttl: int | None, poll_ms: int, limit_s: float) -> None:
    store = Store({"p": {"user": "first"}}, pushes=pushes, ttl=ttl)
    keeper, caches = build(store, poll_ms=poll_ms)
    keeper._next_due_ms = caches[0].next_due_ms
    keeper.resolve(expressions(A))
    keeper.start()

    def change(value: str) -> None:
        store.data = {"p": {"user": value}}
        if pushes:
            store.push("p")

    try:
        assert best(keeper, change) < limit_s
    finally:
        keeper.close()


@pytest.mark.parametrize("restarted", [False, True], ids=["running", "restarted"])
def test_the_manual_trigger_pushes_nothing_before_a_refresh(restarted: bool) -> None:
    store = Store({"p": {"user": "first"}, "q": {"user": "other"}}, pushes=True)
    keeper, caches = build(store, poll_ms=20, manual=True)
    held = keeper.resolve(expressions(A))
    if restarted:
        keeper, caches = build(store, poll_ms=20, manual=True, held=held)
    store.data = {**store.data, "p": {"user": "second"}}
    if restarted:
        keeper.resolve(expressions(A), wait=False)
    else:
        store.push("p")
    keeper.start()
    try:
        found = values(keeper.resolve(expressions("${a:q:user}")))
        assert found[A] == "first"
        assert keeper.await_change(held.generation, 0.3).generation == held.generation
        caches[0].expire()
        assert values(keeper.refresh(strict=True))[A] == "second"
    finally:
        keeper.close()
