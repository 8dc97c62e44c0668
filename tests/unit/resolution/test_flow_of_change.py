"""Uses wait for no other store, and a new text is no generation."""

from __future__ import annotations

import threading
import time
from collections.abc import Set

import pytest

from sparkconfig import ConfigData
from sparkconfig.resolution import in_use
from sparkconfig.resolution.cache import CachingProvider
from sparkconfig.resolution.keeper import SnapshotKeeper
from sparkconfig.resolution.resolver import Resolver
from sparkconfig.settings.schema import Settings
from support.keepers import Store, build, expressions, values

A = "${a:p:user}"


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


def test_a_store_that_hangs_holds_up_no_change_of_another() -> None:
    store, hanging = Store({"p": {"user": "u1"}}), Hanging({"p": {"user": "h"}})
    made: list[SnapshotKeeper] = []

    def wake() -> None:
        made[0].wake()

    caches = {
        name: CachingProvider(
            each, name, poll_ms=60_000, stale_expiry_ms=60_000, timeout_ms=30_000, wake=wake,
        )
        for name, each in {"a": store, "h": hanging}.items()
    }  # fmt: skip
    keeper = SnapshotKeeper(Resolver(caches, Settings()), poll_ms=60_000)
    made.append(keeper)
    keeper.resolve(expressions(A))
    waiting = threading.Thread(target=keeper.resolve, args=(expressions("${h:p:user}"),), daemon=True)
    waiting.start()
    keeper.start()
    try:
        began = time.monotonic()
        store.data = {"p": {"user": "u2"}}
        caches["a"].expire("p")
        keeper.wake()
        assert values(keeper.await_change(1, 5)) == {A: "u2"}
        assert values(keeper.resolve(expressions(A, f"{A}-new"))) == {A: "u2", f"{A}-new": "u2-new"}
        assert time.monotonic() - began < 5
    finally:
        hanging.released.set()
        waiting.join(30)
        keeper.close()
    assert keeper.snapshot.entries["${h:p:user}"].value == "h"


def test_a_process_that_takes_over_serves_what_it_inherits_at_once() -> None:
    held = build(Store({"p": {"user": "u1"}}))[0].resolve(expressions(A))
    hanging = Hanging({"p": {"user": "u2"}})
    keeper, _ = build(hanging, timeout_ms=30_000, held=held, stale_ms=60_000)
    keeper.start()
    answers: list[dict[str, str]] = []
    using = threading.Thread(
        target=lambda: answers.append(values(keeper.resolve(expressions(A)))), daemon=True
    )
    using.start()
    try:
        using.join(3)
        assert answers == [{A: "u1"}]
        hanging.released.set()
        assert values(keeper.await_change(held.generation, 20)) == {A: "u2"}
    finally:
        hanging.released.set()
        using.join(30)
        keeper.close()
