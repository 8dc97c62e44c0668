"""Uses wait for no other store, and a new text is no generation."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Iterator, Set
from typing import Any

import pytest

from sparkconfig import ConfigData
from sparkconfig.errors import SecretNotFoundError
from sparkconfig.language.expression import Expression
from sparkconfig.resolution import in_use
from sparkconfig.resolution.cache import CachingProvider
from sparkconfig.resolution.keeper import SnapshotKeeper
from sparkconfig.resolution.resolver import Resolver
from sparkconfig.resolution.result import Resolution
from sparkconfig.settings.schema import Settings
from support.keepers import Store, build, expressions, values

A, B = "${a:p:user}", "${a:p:password}"
H = "${b:p:user}"


class Hanging(Store):
    """A store that answers when it is released."""

    def __init__(self, data: dict[str, dict[str, str]]) -> None:
        super().__init__(data)
        self.released = threading.Event()

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        self.released.wait(30)
        return super().get(path, keys)


def test_a_map_of_any_size_has_all_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_use, "MOST_IN_USE", 100)
    keeper, _ = build(Store({"p": {"user": "u"}}), poll_ms=60_000)
    texts = [f"{A}-{number}" for number in range(3 * in_use.MOST_IN_USE)]
    assert values(keeper.resolve(expressions(*texts))) == {text: text.replace(A, "u") for text in texts}


def test_a_new_text_is_no_generation() -> None:
    keeper, _ = build(Store({"p": {"user": "u"}}), poll_ms=60_000)
    first = keeper.resolve(expressions(A))
    assert [keeper.resolve(expressions(f"{A}-{n}")).generation for n in range(20)] == [first.generation] * 20


@contextlib.contextmanager
def beside_a_store_that_hangs() -> Iterator[tuple[SnapshotKeeper, CachingProvider, Store]]:
    """A keeper of two stores; one hangs, and a thread waits for it."""
    store, hanging = Store({"p": {"user": "u1"}}), Hanging({"p": {"user": "h"}})
    keeper, caches = build(store, hanging, poll_ms=60_000, timeout_ms=30_000)
    keeper.resolve(expressions(A))
    waiting = threading.Thread(target=keeper.resolve, args=(expressions(H),), daemon=True)
    waiting.start()
    keeper.start()
    try:
        yield keeper, caches[0], store
    finally:
        hanging.released.set()
        waiting.join(30)
        keeper.close()
    assert keeper.snapshot.entries[H].value == "h"


def test_a_store_that_hangs_holds_up_no_change_of_another() -> None:
    with beside_a_store_that_hangs() as (keeper, cache, store):
        began = time.monotonic()
        store.data = {"p": {"user": "u2"}}
        cache.expire("p")
        keeper.wake()
        assert values(keeper.await_change(1, 5)) == {A: "u2"}
        assert values(keeper.resolve(expressions(A, f"{A}-new"))) == {A: "u2", f"{A}-new": "u2-new"}
        assert time.monotonic() - began < 5


def test_who_asks_for_the_newest_waits_for_his_own_store_alone() -> None:
    with beside_a_store_that_hangs() as (keeper, cache, store):
        others = threading.Thread(target=keeper.refresh, kwargs={"ids": [H]}, daemon=True)
        everything = threading.Thread(target=keeper.refresh, daemon=True)
        others.start()
        everything.start()
        began = time.monotonic()
        store.data = {"p": {"user": "u2"}}
        assert values(keeper.refresh(ids=[A], prepare=lambda: cache.expire("p")))[A] == "u2"
        assert time.monotonic() - began < 5


def test_a_read_that_ends_within_a_round_tears_no_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store({"p": {"user": "1", "password": "1"}})
    keeper, (cache,) = build(store, poll_ms=60_000)
    keeper.resolve(expressions(A, B))
    evaluate = Resolver.resolve

    def overtaken(resolver: Resolver, *args: object, held: bool = False, **more: object) -> Resolution:
        found = evaluate(resolver, *args, held=held, **more)  # type: ignore[arg-type]
        if held:
            turn = str(int(store.data["p"]["user"]) + 1)
            store.data = {"p": {"user": turn, "password": turn}}
            cache.expire()
            cache.get("p", frozenset({"user", "password"}))
        return found

    monkeypatch.setattr(Resolver, "resolve", overtaken)
    for turn in range(5):
        keeper.refresh()
        found = values(keeper.resolve(expressions(f"{turn}-{A}")))
        assert found[A] == found[B]
        assert found[f"{turn}-{A}"] == f"{turn}-{found[A]}"


def test_a_round_evaluates_what_needs_a_place_that_answers_something_new(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    a, b = Store({"p": {"user": "1"}}), Store({"p": {"user": "1"}})
    keeper, caches = build(a, b, poll_ms=60_000)
    many = [f"{A}-{n}" for n in range(20)]
    keeper.resolve(expressions(*many, H))
    classify, evaluated = Resolver._classify, []

    def counted(resolver: Resolver, expression: Expression, *args: Any) -> None:
        evaluated.append(expression.text)
        classify(resolver, expression, *args)

    monkeypatch.setattr(Resolver, "_classify", counted)
    for store, cache, wanted in ((b, caches[1], [H]), (a, caches[0], sorted(many)), (None, caches[0], [])):
        evaluated.clear()
        if store is not None:
            store.data = {"p": {"user": "2"}}
        keeper.refresh(prepare=cache.expire)
        assert sorted(evaluated) == wanted, "once, and not again for the read"
    b.failures["p"] = SecretNotFoundError("gone")
    keeper.refresh(prepare=caches[1].expire)
    del b.failures["p"]
    evaluated.clear()
    keeper.refresh(prepare=caches[1].expire)
    assert (evaluated, values(keeper.snapshot)[H]) == ([H], "2"), "what has no value is looked at again"


def test_a_few_threads_read_what_is_due() -> None:
    class Counting(Store):
        at_once, most, lock = 0, 0, threading.Lock()

        def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
            with self.lock:
                self.at_once += 1
                self.most = max(self.most, self.at_once)
            try:
                return super().get(path, keys)
            finally:
                with self.lock:
                    self.at_once -= 1

    store = Counting({f"p{n}": {"user": "1"} for n in range(200)})
    keeper, (cache,) = build(store, poll_ms=60_000)
    keeper.resolve(expressions(*(f"${{a:{path}:user}}" for path in store.data)))
    store.most, store.data = 0, {path: {"user": "2"} for path in store.data}
    keeper.start()
    try:
        cache.expire()
        keeper.wake()
        for _ in store.data:
            found = keeper.await_change(keeper.snapshot.generation, 5)
            if set(values(found).values()) == {"2"}:
                break
        assert set(values(found).values()) == {"2"}
        assert 0 < store.most <= 16
    finally:
        keeper.close()


def test_what_stays_text_is_said_once_and_without_the_lock_of_rounds(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = Store({"p": {"user": "1", "password": "2"}})
    keeper, (cache,) = build(store, poll_ms=60_000, settings=Settings(unresolved="keep"))
    free: list[bool] = []

    class Watching(logging.Handler):
        def emit(self, _record: logging.LogRecord) -> None:
            free.append(not keeper._round.locked())

    handler = Watching()
    logging.getLogger("sparkconfig").addHandler(handler)
    try:
        keeper.resolve(expressions(A, B, "${a:p:nothing}"))
        store.data = {"p": {"user": "1"}}
        for _ in range(3):
            keeper.refresh(ids=(), prepare=cache.expire)
            cache.get("p", frozenset())
            keeper.refresh(ids=())
    finally:
        logging.getLogger("sparkconfig").removeHandler(handler)
    said = [
        record.getMessage() for record in caplog.records if "stays as it is written" in record.getMessage()
    ]
    assert ["nothing" in text for text in said] == [True, False]
    assert free
    assert all(free)
