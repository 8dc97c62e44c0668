"""What a side process serves that has replaced another: the values of before, until its own stores answer."""

from __future__ import annotations

import threading

import pytest

from sparkconfig.errors import AccessDeniedError, ProviderUnavailableError, UnresolvedReferenceError
from support.keepers import Clock, Store, build, expressions, values

A, B = "${a:p:user}", "${a:p:password}"


def test_a_process_that_replaces_another_serves_its_values_while_the_store_is_down() -> None:
    held = build(Store({"p": {"user": "u1"}}))[0].resolve(expressions(A))
    store = Store({"p": {"user": "u2"}})
    store.failures = {"p": ProviderUnavailableError("down")}
    keeper, caches = build(store, held=held)
    assert keeper.resolve(expressions(A)) == held
    store.failures = {}
    caches[0].expire()
    newer = keeper.refresh()
    assert (newer.generation, values(newer)) == (held.generation + 1, {A: "u2"})


def test_a_process_that_replaces_another_waits_for_no_store_that_hangs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "${b:q:k}"
    held = build(Store({"p": {"user": "u1"}}), Store({"q": {"k": "v1"}}))[0].resolve(expressions(A, text))
    hanging, healthy, clock = Store({"p": {"user": "u2"}}), Store({"q": {"k": "v2"}}), Clock()
    hanging.block, answered = threading.Event(), []
    get = hanging.get
    monkeypatch.setattr(hanging, "get", lambda *asked: answered.append(get(*asked)) or answered[-1])
    keeper, _ = build(hanging, healthy, held=held, poll_ms=1, timeout_ms=60_000, clock=clock)
    try:
        assert keeper.resolve(expressions(A, text), wait=False).entries.keys() == held.entries.keys()
        assert values(keeper.refresh(ids=[text])) == {A: "u1", text: "v2"}
        healthy.data = {"q": {"k": "v3"}}
        clock.skip(0.01)
        assert values(keeper.refresh(ids=[text])) == {A: "u1", text: "v3"}
        assert answered == [], "the store still hangs"
    finally:
        hanging.block.set()


def test_inherited_values_never_mix_with_new_ones_of_the_same_path() -> None:
    """A spans two stores, of which one is down; B shares the other path with it."""
    both, alone = "${a:p:user}@${b:q:host}", "${a:p:password}"
    good = build(Store({"p": {"user": "u1", "password": "p1"}}), Store({"q": {"host": "h1"}}))[0]
    held = good.resolve(expressions(both, alone))
    down = Store({"q": {"host": "h1"}})
    down.failures = {"q": ProviderUnavailableError("down")}
    keeper, _ = build(Store({"p": {"user": "u2", "password": "p2"}}), down, held=held)
    assert values(keeper.resolve(expressions(both, alone))) == {both: "u1@h1", alone: "p1"}


def test_inherited_values_end_with_the_stale_expiry_and_with_a_revocation() -> None:
    held = build(Store({"p": {"user": "u1"}}))[0].resolve(expressions(A))
    for failure, stale_ms in ((ProviderUnavailableError("down"), 0), (AccessDeniedError("no"), 60_000)):
        store = Store({"p": {"user": "u2"}})
        store.failures = {"p": failure}
        keeper, _ = build(store, held=held, stale_ms=stale_ms)
        keeper.resolve(expressions(A), wait=False)
        keeper.refresh()
        with pytest.raises(UnresolvedReferenceError):
            keeper.resolve(expressions(A))
