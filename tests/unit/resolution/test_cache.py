"""The cache in front of providers: one read a path, due times, outages and revocations."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Set
from typing import Any

import pytest

from sparkconfig import ConfigData, ConfigProvider
from sparkconfig.errors import AccessDeniedError, ProviderUnavailableError, SecretNotFoundError
from sparkconfig.resolution.cache import CachingProvider


class Store(ConfigProvider):
    """A store that counts reads and can fail on demand."""

    def __init__(self, *, ttl: int | None = None, local: bool = False) -> None:
        self.values: dict[str, str] = {"user": "u1", "password": "p1"}
        self.ttl = ttl
        self.failure: Exception | None = None
        self.reads: list[tuple[str, frozenset[str] | None]] = []
        self._local = local

    @property
    def local(self) -> bool:
        return self._local

    def configure(self, params: Mapping[str, str]) -> None:
        pass

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        self.reads.append((path, None if keys is None else frozenset(keys)))
        if self.failure is not None:
            raise self.failure
        return ConfigData({k: v for k, v in self.values.items() if keys is None or k in keys}, self.ttl)


class Clock:
    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def cached(store: Store, clock: Clock, *, poll_ms: int = 10_000) -> CachingProvider:
    return CachingProvider(store, "vault", poll_ms=poll_ms, stale_expiry_ms=60_000, clock=clock)


class Used:
    """A path behind the cache that has been read once."""

    def __init__(self, key: str = "user", *, poll_ms: int = 10_000, **store: Any) -> None:
        self.store, self.clock, self._key = Store(**store), Clock(), key
        self.provider = cached(self.store, self.clock, poll_ms=poll_ms)
        self.get()

    def get(self, *, after: float = 0) -> str:
        """Use it again, so many seconds later."""
        self.clock.seconds += after
        return self.provider.get("db", {self._key}).data[self._key]

    def renewed(self, *, after: float = 0) -> tuple[float, str]:
        """Report a refusal and use the path; returns what the report answered, and the value."""
        self.clock.seconds += after
        wait = self.provider.renew("db", self.clock() * 1000)
        return wait, self.get()


def test_a_second_use_before_the_poll_interval_asks_nobody() -> None:
    path = Used()
    assert path.get(after=8) == "u1"
    assert len(path.store.reads) == 1
    path.get(after=3)
    assert len(path.store.reads) == 2


def test_a_new_key_reads_the_whole_path_again_so_that_keys_never_come_from_two_reads() -> None:
    path = Used()
    path.store.values = {"user": "u2", "password": "p2"}
    assert path.provider.get("db", {"password"}).data["password"] == "p2"
    assert path.get() == "u2"
    assert path.store.reads == [("db", frozenset({"user"})), ("db", frozenset({"user", "password"}))]


def test_a_ttl_is_used_up_to_three_quarters_and_not_beyond() -> None:
    path = Used(ttl=100_000)
    path.get(after=60)  # past the poll interval, before 75 % of the ttl less jitter
    assert len(path.store.reads) == 1
    path.get(after=16)
    assert len(path.store.reads) == 2


def test_a_local_provider_that_sees_no_changes_is_read_every_two_seconds() -> None:
    path = Used(local=True)
    path.store.values["user"] = "u2"
    assert path.get(after=2) == "u2"


def test_an_outage_serves_the_last_good_values_until_they_expire() -> None:
    path = Used()
    path.store.failure = ProviderUnavailableError("down")
    assert path.get(after=30) == "u1"
    assert path.provider.states()[0].failures == 1
    with pytest.raises(ProviderUnavailableError):
        path.get(after=100)


def test_the_pause_between_two_tries_ends_with_the_expiry() -> None:
    path = Used()
    path.store.failure = ProviderUnavailableError("down")
    while path.clock.seconds < 1059:  # the pauses grow to more than the two seconds that are left
        assert path.get(after=1) == "u1"
    with pytest.raises(ProviderUnavailableError):
        path.get(after=2)


def test_an_outage_does_not_invent_a_key_that_was_never_read() -> None:
    path = Used()
    path.store.failure = ProviderUnavailableError("down")
    with pytest.raises(ProviderUnavailableError):
        path.provider.get("db", {"password"})
    assert path.get() == "u1"


@pytest.mark.parametrize("error", [AccessDeniedError("no"), SecretNotFoundError("gone")])
def test_revocation_is_not_an_outage(error: Exception) -> None:
    path = Used()
    path.store.failure = error
    with pytest.raises(type(error)):
        path.get(after=30)
    path.store.failure = ProviderUnavailableError("down")
    with pytest.raises(ProviderUnavailableError):
        path.get()


def test_recovery_after_an_outage_gives_new_values_and_clears_the_state() -> None:
    path = Used()
    path.store.failure = ProviderUnavailableError("down")
    path.get(after=30)
    path.store.failure = None
    path.store.values["user"] = "u2"
    assert path.get(after=90) == "u2"
    assert path.provider.states()[0].failures == 0


@pytest.mark.parametrize("timeout_ms", [60_000, 50], ids=["under way", "left by its caller"])
@pytest.mark.parametrize("ask", ["expire", "renew"])
def test_a_read_that_had_begun_is_no_answer_to_a_later_question(ask: str, timeout_ms: int) -> None:
    began, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    class Slow(Store):
        def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
            data = super().get(path, keys)
            if len(self.reads) == 2:
                began.set()
                go_on.wait(30)
            return data

    store, clock = Slow(), Clock()
    provider = CachingProvider(
        store,
        "vault",
        poll_ms=10_000,
        stale_expiry_ms=60_000,
        timeout_ms=timeout_ms,
        wake=ended.set,
        clock=clock,
    )
    provider.get("db", {"user"})
    clock.seconds += 11
    reader = threading.Thread(target=provider.get, args=("db", {"user"}))
    reader.start()
    assert began.wait(30)
    store.values["user"] = "u2"
    if timeout_ms == 50:
        reader.join(30)
    if ask == "expire":
        provider.expire("db")
    go_on.set()
    reader.join(30)
    if timeout_ms == 50:
        assert ended.wait(30)
    if ask == "renew":
        clock.seconds += 1
        assert provider.renew("db", clock.seconds * 1000) == 0
    assert provider.get("db", {"user"}).data["user"] == "u2"


def test_a_refusal_makes_a_path_be_read_at_once_and_no_other_path() -> None:
    path = Used("password")
    path.provider.get("other", {"user"})
    path.store.values["password"] = "p2"
    assert path.renewed(after=1) == (0, "p2")
    path.provider.get("other", {"user"})
    assert [read for read, _ in path.store.reads] == ["db", "other", "db"]


def test_refusals_that_bring_nothing_new_are_heard_at_doubling_pauses() -> None:
    path = Used("password", poll_ms=3_600_000)
    heard, began = [], path.clock.seconds + 1
    for _ in range(4000):
        if path.renewed(after=0.125)[0] == 0 and len(path.store.reads) > len(heard) + 1:
            heard.append(round(path.clock.seconds - began + 0.875))
    assert heard == [0, 1, 3, 7, 15, 31, 63, 123, 183, 243, 303, 363, 423, 483]


def test_a_refusal_that_brought_news_lets_the_next_one_count_after_a_second() -> None:
    path = Used("password")
    path.clock.seconds += 1
    for turn in range(5):
        path.store.values["password"] = f"new-{turn}"
        assert path.renewed() == (0, f"new-{turn}")
        path.store.values["password"] = "newer"
        assert path.renewed(after=0.25) == (750, f"new-{turn}")
        path.clock.seconds += 0.75


def test_each_new_lease_makes_the_pause_before_another_one_longer() -> None:
    path = Used("password", ttl=3_600_000)
    for turn in range(200):
        path.store.values["password"] = f"lease-{turn}"
        path.renewed(after=0.5)
    assert len(path.store.reads) == 1 + 7


def test_who_was_refused_before_the_last_read_waits_for_nothing() -> None:
    path = Used("password")
    asked_at = (path.clock() + 1) * 1000
    assert path.renewed(after=1)[0] == 0
    assert path.provider.renew("db", asked_at) == 0
    path.get()
    assert len(path.store.reads) == 2


def test_a_refusal_of_a_local_a_frozen_or_an_unknown_path_changes_nothing() -> None:
    frozen, clock = Used("password"), Clock()
    frozen.provider = CachingProvider(
        frozen.store, "vault", poll_ms=10_000, stale_expiry_ms=60_000, frozen=True, clock=frozen.clock
    )
    frozen.get()
    frozen.store.values["password"] = "p2"
    assert frozen.renewed(after=100) == (0, "p1")
    for unused in (cached(Store(local=True), clock), cached(Store(), clock)):
        assert unused.renew("never/used", clock() * 1000) == 0
        assert unused.get("never/used", {"password"}).data == {"password": "p1"}


def test_a_refusal_during_an_outage_keeps_the_last_good_value() -> None:
    path = Used("password")
    path.store.failure = ProviderUnavailableError("down")
    assert path.renewed(after=1) == (0, "p1")
    assert len(path.store.reads) == 2
