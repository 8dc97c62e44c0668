"""The keeper: generations, pushes, outages, the manual trigger, and pairs that must never mix."""

from __future__ import annotations

import random
import threading
import time

import pytest

from sparkconfig import ConfigData
from sparkconfig.agent.factory import make_application
from sparkconfig.errors import (
    AccessDeniedError,
    ProviderUnavailableError,
    SecretNotFoundError,
    UnresolvedReferenceError,
)
from sparkconfig.language.expression import Expression
from sparkconfig.resolution import in_use
from sparkconfig.resolution.snapshot import Snapshot
from support.keepers import Clock, Store, build, expressions, values
from support.processes import wait_until

A, B = "${a:p:user}", "${a:p:password}"


def test_an_unchanged_value_is_not_a_change() -> None:
    store, clock = Store({"p": {"user": "u", "password": "p"}}), Clock()
    keeper, _ = build(store, poll_ms=60_000, clock=clock)
    first = keeper.resolve(expressions(A, B))
    clock.skip(61)
    assert keeper.refresh() is first
    assert store.reads == 2


def test_on_round_and_log_lines_come_while_the_lock_of_rounds_is_free() -> None:
    free: list[bool] = []
    keeper, _ = build(
        Store({"p": {"user": "u"}}), on_round=lambda *_: free.append(not keeper._round.locked())
    )
    keeper.resolve(expressions(A))
    keeper.refresh()
    assert free == [True, True]


def test_what_was_used_before_so_many_others_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_use, "MOST_IN_USE", 100)
    keeper, _ = build(Store({"p": {"user": "u"}}), poll_ms=60_000)
    conf = Expression(A, key="spark.shop.user")
    keeper.resolve({A: conf})
    texts = [f"{A}-{number}" for number in range(in_use.MOST_IN_USE + 11)]
    before = keeper.resolve(expressions(*texts[:-1]))
    keeper.resolve(expressions(A, texts[0]))  # the conf's own text is in an option too
    snapshot = keeper.resolve(expressions(texts[-1]))
    assert len(snapshot.entries) == in_use.MOST_IN_USE + 1, "the hundred, and the conf"
    assert snapshot.generation == before.generation + 1, "who has them learns that they are not kept new"
    assert A in snapshot.entries
    assert texts[0] in snapshot.entries, "it was requested again"
    assert texts[1] not in snapshot.entries
    assert keeper.uses()[A].key == "spark.shop.user"
    assert values(keeper.resolve(expressions(texts[1])))[texts[1]] == "u-1"


def test_a_push_makes_a_generation_long_before_the_poll() -> None:
    store = Store({"p": {"user": "u1"}}, pushes=True)
    keeper, _ = build(store, poll_ms=60_000)
    keeper.resolve(expressions(A))
    keeper.start()
    try:
        store.data = {"p": {"user": "u2"}}
        store.push("p")
        assert values(keeper.await_change(1, 60)) == {A: "u2"}
    finally:
        keeper.close()


def test_a_new_key_of_a_path_extends_the_one_subscription() -> None:
    store = Store({"p": {"user": "u1", "password": "p1"}}, pushes=True)
    keeper, _ = build(store, poll_ms=60_000)
    keeper.resolve(expressions(A))
    keeper.resolve(expressions(B))
    assert [(path, keys) for path, keys, _ in store.subscribed] == [("p", {"user", "password"})]


@pytest.mark.parametrize("timeout_ms", [None, 1000])
def test_an_idle_keeper_reads_once_a_poll_interval_and_no_more(timeout_ms: int | None) -> None:
    """Its own reads once woke it, and a path that had failed was due for ever: a core was busy in each application."""
    store = Store({"p": {"user": "u1"}, "gone": {}})
    store.failures["gone"] = SecretNotFoundError("gone")
    keeper, caches = build(
        store,
        poll_ms=200,
        timeout_ms=timeout_ms,
        next_due_ms=lambda: caches[0].next_due_ms(),  # noqa: PLW0108
    )
    keeper.resolve(expressions(A))
    with pytest.raises(UnresolvedReferenceError):
        keeper.resolve(expressions("${a:gone:key}"))
    keeper.start()
    try:
        before = keeper.rounds
        time.sleep(1.0)  # how often a thread wakes in a second is what is tested
        assert 1 <= keeper.rounds - before <= 16, "when it is due, and when it was read"
    finally:
        keeper.close()


def test_the_thread_survives_whatever_a_round_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store({"p": {"user": "u1"}})
    keeper, _ = build(store, poll_ms=10)
    keeper.resolve(expressions(A))
    errors = iter([MemoryError(), ValueError("x"), ProviderUnavailableError("y"), RecursionError()])
    real = keeper._resolver.resolve
    raised = []

    def flaky(*wanted, **how):
        for error in errors:
            raised.append(type(error))
            raise error
        return real(*wanted, **how)

    monkeypatch.setattr(keeper._resolver, "resolve", flaky)
    keeper.start()
    try:
        store.data = {"p": {"user": "u2"}}
        assert values(keeper.await_change(1, 60)) == {A: "u2"}
        assert len(raised) == 4
    finally:
        keeper.close()


@pytest.mark.parametrize("garbage", [{"user": "x"}, "text", 7, ConfigData({"user": 7})])
def test_garbage_is_an_outage(garbage: object) -> None:
    store, clock = Store({"p": {"user": "u1"}}), Clock()
    keeper, caches = build(store, poll_ms=1, clock=clock)
    keeper.resolve(expressions(A))
    store.garbage = garbage
    clock.skip(0.01)
    assert values(keeper.refresh()) == {A: "u1"}
    assert caches[0].states()[0].failures == 1


def test_a_hanging_provider_costs_one_deadline_and_the_others_go_on() -> None:
    hanging, healthy, clock = Store({"p": {"user": "u1"}}), Store({"q": {"k": "v1"}}), Clock()
    keeper, caches = build(hanging, healthy, poll_ms=1, timeout_ms=200, clock=clock)
    keeper.resolve(expressions(A, "${b:q:k}"))
    hanging.block = threading.Event()
    healthy.data = {"q": {"k": "v2"}}
    clock.skip(0.01)
    try:
        assert values(keeper.refresh()) == {A: "u1", "${b:q:k}": "v2"}
        healthy.data = {"q": {"k": "v3"}}
        clock.skip(0.01)
        assert values(keeper.refresh()) == {A: "u1", "${b:q:k}": "v3"}
        assert caches[0].states()[0].failures == 1
    finally:
        hanging.data = {"p": {"user": "u2"}}
        hanging.block.set()
    # The answer that came late counts.
    assert wait_until("the late answer", lambda: values(keeper.refresh())[A] == "u2", timeout=5)


def test_a_new_key_that_cannot_be_read_takes_nothing_away() -> None:
    store = Store({"p": {"user": "u", "password": "p"}})
    keeper, _ = build(store)
    keeper.resolve(expressions(A))
    store.failures = {"p": ProviderUnavailableError("down")}
    with pytest.raises(UnresolvedReferenceError):
        keeper.resolve(expressions(B))
    assert values(keeper.snapshot) == {A: "u"}


def test_revocation_ends_a_value_at_once() -> None:
    store = Store({"p": {"user": "u"}})
    keeper, caches = build(store)
    keeper.resolve(expressions(A))
    store.failures = {"p": AccessDeniedError("no")}
    caches[0].expire()
    assert values(keeper.refresh()) == {}


def test_the_manual_trigger_publishes_all_or_nothing(tmp_path) -> None:
    """KIP-421: change the stores, then refresh. Two files are two paths, which nothing but the owner ties."""
    one, two = tmp_path / "one.properties", tmp_path / "two.properties"
    one.write_text("k=1\n")
    two.write_text("k=1\n")
    confs = {
        "spark.config.providers": "file",
        "spark.config.reload.trigger": "manual",
        "spark.config.poll.interval": "100ms",
        "spark.a": f"${{file:{one}:k}}",
        "spark.b": f"${{file:{two}:k}}",
    }
    application = make_application(confs, system_properties={}, operator_file=None)
    keeper = application.keeper
    try:
        application.resolve_confs()
        keeper.start()
        one.write_text("k=2\n")
        clock = Clock()
        application.caches["file"]._clock = clock
        clock.skip(60)  # many poll intervals
        assert set(values(keeper.resolve({confs["spark.a"]: Expression(confs["spark.a"])})).values()) == {"1"}
        two.unlink()
        with pytest.raises(UnresolvedReferenceError, match=r"two\.properties"):
            application.refresh()
        assert (keeper.snapshot.generation, set(values(keeper.snapshot).values())) == (1, {"1"})
        # What did not stand the check is not used by a later question either.
        other = Expression(f"x${{file:{one}:k}}")
        assert values(keeper.resolve({other.text: other}))[other.text] == "x1"
        two.write_text("k=2\n")
        fresh = values(application.refresh())
        assert fresh == {confs["spark.a"]: "2", confs["spark.b"]: "2", other.text: "x2"}
    finally:
        application.close()


def test_pairs_of_keys_never_mix_in_thousands_of_rotations_under_load() -> None:
    """Writers replace both keys of a path at once; readers, new expressions, refreshes and outages go on."""
    store = Store({f"p{n}": {"user": "0", "password": "0"} for n in range(4)})
    keeper, caches = build(store, poll_ms=1)
    pairs = [(f"${{a:p{n}:user}}", f"${{a:p{n}:password}}") for n in range(4)]
    keeper.resolve(expressions(*[text for pair in pairs for text in pair]))
    keeper.start()
    stop, problems, rotations = threading.Event(), [], [0]

    def check(snapshot: Snapshot, low: list[int]) -> None:
        if snapshot.generation < low[0]:
            problems.append(f"generation {snapshot.generation} after {low[0]}")
        low[0] = snapshot.generation
        seen = values(snapshot)
        problems.extend(f"{u}: {seen[u]} and {seen[p]}" for u, p in pairs if seen[u] != seen[p])

    def rotate() -> None:
        while not stop.is_set():
            rotations[0] += 1
            text = str(rotations[0])
            store.data = {**store.data, f"p{rotations[0] % 4}": {"user": text, "password": text}}
            store.failures = {"p1": ProviderUnavailableError("down")} if rotations[0] % 7 == 0 else {}
            caches[0].expire()

    def read() -> None:
        low, chance = [0], random.Random(7)
        while not stop.is_set():
            check(keeper.snapshot, low)
            user, password = chance.choice(pairs)
            one = f"{user}/{password}"
            both = values(keeper.resolve(expressions(one)))[one]
            if len(set(both.split("/"))) != 1:
                problems.append(f"one expression mixes: {both}")

    def listen() -> None:
        low, generation = [0], 0
        while not stop.is_set():
            snapshot = keeper.await_change(generation, 0.1)
            check(snapshot, low)
            generation = snapshot.generation

    threads = [threading.Thread(target=t) for t in (rotate, read, read, listen)]
    for thread in threads:
        thread.start()
    try:
        wait_until(
            "thousands of rotations and hundreds of generations",
            lambda: (rotations[0] > 5000 and keeper.snapshot.generation > 300) or problems,
            timeout=60,
        )
    finally:
        stop.set()
        for thread in threads:
            thread.join(10)
        keeper.close()
    assert problems == []


def test_many_references_in_several_providers_are_one_generation() -> None:
    stores = [Store({"p": {f"k{m}": "1" for m in range(10)}}) for _ in range(3)]
    keeper, caches = build(*stores, poll_ms=60_000)
    texts = [f"${{{name}:p:k{m}}}" for name in "abc" for m in range(10)]
    first = keeper.resolve(expressions(*texts))
    assert (first.generation, len(first.entries)) == (1, 30)
    assert [store.reads for store in stores] == [1] * 3
    for store, cache in zip(stores, caches, strict=True):
        store.data = {"p": {f"k{m}": "2" for m in range(10)}}
        cache.expire()
    assert (keeper.refresh().generation, set(values(keeper.snapshot).values())) == (2, {"2"})


@pytest.mark.parametrize("jump", [-86_400.0, 86_400.0])
def test_a_jump_of_the_clock_changes_no_schedule(monkeypatch: pytest.MonkeyPatch, jump: float) -> None:
    store = Store({"p": {"user": "u1"}}, ttl=40)
    keeper, caches = build(store, poll_ms=60_000, next_due_ms=lambda: caches[0].next_due_ms())  # noqa: PLW0108
    keeper.resolve(expressions(A))
    keeper.start()
    try:
        real = time.time
        monkeypatch.setattr(time, "time", lambda: real() + jump)
        store.data = {"p": {"user": "u2"}}
        assert values(keeper.await_change(1, 60)) == {A: "u2"}
        store.failures = {"p": ProviderUnavailableError("down")}
        caches[0].expire()
        assert values(keeper.refresh()) == {A: "u2"}
    finally:
        keeper.close()
