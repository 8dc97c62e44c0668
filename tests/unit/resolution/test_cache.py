"""The cache in front of providers: one read a path, due times, outages and revocations."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Set

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


def cached(store: Store, clock: Clock, *, poll_ms: int = 10_000, stale_ms: int = 60_000) -> CachingProvider:
    return CachingProvider(store, "vault", poll_ms=poll_ms, stale_expiry_ms=stale_ms, clock=clock)


def test_a_second_use_before_the_poll_interval_asks_nobody() -> None:
    store, clock = Store(), Clock()
    provider = cached(store, clock)
    provider.get("db", {"user"})
    clock.seconds += 8
    assert provider.get("db", {"user"}).data["user"] == "u1"
    assert len(store.reads) == 1
    clock.seconds += 3
    provider.get("db", {"user"})
    assert len(store.reads) == 2


def test_a_new_key_reads_the_whole_path_again_so_that_keys_never_come_from_two_reads() -> None:
    store, clock = Store(), Clock()
    provider = cached(store, clock)
    provider.get("db", {"user"})
    store.values = {"user": "u2", "password": "p2"}
    assert provider.get("db", {"password"}).data["password"] == "p2"
    assert provider.get("db", {"user"}).data["user"] == "u2"
    assert store.reads == [("db", frozenset({"user"})), ("db", frozenset({"user", "password"}))]


def test_a_ttl_is_used_up_to_three_quarters_and_not_beyond() -> None:
    store, clock = Store(ttl=100_000), Clock()
    provider = cached(store, clock)
    provider.get("db", {"user"})
    clock.seconds += 60  # past the poll interval, before 75 % of the ttl less jitter
    provider.get("db", {"user"})
    assert len(store.reads) == 1
    clock.seconds += 16
    provider.get("db", {"user"})
    assert len(store.reads) == 2


def test_a_local_provider_that_sees_no_changes_is_read_every_two_seconds() -> None:
    store, clock = Store(local=True), Clock()
    provider = cached(store, clock)
    provider.get("db", {"user"})
    store.values["user"] = "u2"
    clock.seconds += 2
    assert provider.get("db", {"user"}).data["user"] == "u2"


def test_an_outage_serves_the_last_good_values_until_they_expire() -> None:
    store, clock = Store(), Clock()
    provider = cached(store, clock)
    provider.get("db", {"user"})
    store.failure = ProviderUnavailableError("down")
    clock.seconds += 30
    assert provider.get("db", {"user"}).data["user"] == "u1"
    assert provider.states()[0].failures == 1
    clock.seconds += 100
    with pytest.raises(ProviderUnavailableError):
        provider.get("db", {"user"})


def test_the_pause_between_two_tries_ends_with_the_expiry() -> None:
    store, clock = Store(), Clock()
    provider = cached(store, clock)
    provider.get("db", {"user"})
    store.failure = ProviderUnavailableError("down")
    while clock.seconds < 1059:  # the pauses grow to more than the two seconds that are left
        clock.seconds += 1
        assert provider.get("db", {"user"}).data["user"] == "u1"
    clock.seconds += 2
    with pytest.raises(ProviderUnavailableError):
        provider.get("db", {"user"})


def test_an_outage_does_not_invent_a_key_that_was_never_read() -> None:
    store, clock = Store(), Clock()
    provider = cached(store, clock)
    provider.get("db", {"user"})
    store.failure = ProviderUnavailableError("down")
    with pytest.raises(ProviderUnavailableError):
        provider.get("db", {"password"})
    assert provider.get("db", {"user"}).data["user"] == "u1"


@pytest.mark.parametrize("error", [AccessDeniedError("no"), SecretNotFoundError("gone")])
def test_revocation_is_not_an_outage(error: Exception) -> None:
    store, clock = Store(), Clock()
    provider = cached(store, clock)
    provider.get("db", {"user"})
    store.failure = error
    clock.seconds += 30
    with pytest.raises(type(error)):
        provider.get("db", {"user"})
    store.failure = ProviderUnavailableError("down")
    with pytest.raises(ProviderUnavailableError):
        provider.get("db", {"user"})


def test_recovery_after_an_outage_gives_new_values_and_clears_the_state() -> None:
    store, clock = Store(), Clock()
    provider = cached(store, clock)
    provider.get("db", {"user"})
    store.failure = ProviderUnavailableError("down")
    clock.seconds += 30
    provider.get("db", {"user"})
    store.failure = None
    store.values["user"] = "u2"
    clock.seconds += 90
    assert provider.get("db", {"user"}).data["user"] == "u2"
    assert provider.states()[0].failures == 0


def test_expire_makes_the_next_use_ask_the_store() -> None:
    store, clock = Store(ttl=1_000_000), Clock()
    provider = cached(store, clock)
    provider.get("db", {"user"})
    store.values["user"] = "u2"
    provider.expire()
    assert provider.get("db", {"user"}).data["user"] == "u2"


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


def test_states_hold_no_values() -> None:
    store, clock = Store(), Clock()
    store.values["password"] = "do-not-show-me"
    provider = cached(store, clock)
    provider.get("db", {"password"})
    assert "do-not-show-me" not in repr(provider.states())


def renewed(provider: CachingProvider, clock: Clock, path: str = "db") -> tuple[float, str]:
    """Report a refusal and use the path; returns what the report answered, and the password."""
    wait = provider.renew(path, clock() * 1000)
    return wait, provider.get("db", {"password"}).data["password"]


def test_a_refusal_makes_a_path_be_read_at_once_and_no_other_path() -> None:
    store, clock = Store(), Clock()
    provider = cached(store, clock)
    provider.get("db", {"password"})
    provider.get("other", {"user"})
    clock.seconds += 1
    store.values["password"] = "p2"
    assert renewed(provider, clock) == (0, "p2")
    provider.get("other", {"user"})
    assert [path for path, _ in store.reads] == ["db", "other", "db"]


def test_refusals_that_bring_nothing_new_are_heard_at_doubling_pauses() -> None:
    store, clock = Store(), Clock()
    provider = cached(store, clock, poll_ms=3_600_000)
    provider.get("db", {"password"})
    heard, began = [], clock.seconds + 1
    for _ in range(4000):
        clock.seconds += 0.125
        if renewed(provider, clock)[0] == 0 and len(store.reads) > len(heard) + 1:
            heard.append(round(clock.seconds - began + 0.875))
    assert heard == [0, 1, 3, 7, 15, 31, 63, 123, 183, 243, 303, 363, 423, 483]


def test_a_refusal_that_brought_news_lets_the_next_one_count_after_a_second() -> None:
    store, clock = Store(), Clock()
    provider = cached(store, clock)
    provider.get("db", {"password"})
    clock.seconds += 1
    for turn in range(5):
        store.values["password"] = f"new-{turn}"
        assert renewed(provider, clock) == (0, f"new-{turn}")
        store.values["password"] = "newer"
        clock.seconds += 0.25
        wait, held = renewed(provider, clock)
        assert (wait, held) == (750, f"new-{turn}")
        clock.seconds += 0.75


def test_each_new_lease_makes_the_pause_before_another_one_longer() -> None:
    store, clock = Store(ttl=3_600_000), Clock()
    provider = cached(store, clock)
    provider.get("db", {"password"})
    for turn in range(200):
        clock.seconds += 0.5
        store.values["password"] = f"lease-{turn}"
        renewed(provider, clock)
    assert len(store.reads) == 1 + 7


def test_who_was_refused_before_the_last_read_waits_for_nothing() -> None:
    store, clock = Store(), Clock()
    provider = cached(store, clock)
    provider.get("db", {"password"})
    clock.seconds += 1
    asked_at = clock() * 1000
    assert renewed(provider, clock)[0] == 0
    assert provider.renew("db", asked_at) == 0
    provider.get("db", {"password"})
    assert len(store.reads) == 2


def test_a_refusal_of_a_local_a_frozen_or_an_unknown_path_changes_nothing() -> None:
    clock = Clock()
    frozen = CachingProvider(
        store := Store(), "vault", poll_ms=10_000, stale_expiry_ms=60_000, frozen=True, clock=clock
    )
    frozen.get("db", {"password"})
    store.values["password"] = "p2"
    clock.seconds += 100
    assert renewed(frozen, clock) == (0, "p1")
    assert renewed(cached(Store(local=True), clock), clock) == (0, "p1")
    assert cached(Store(), clock).renew("never/used", clock() * 1000) == 0


def test_a_refusal_during_an_outage_keeps_the_last_good_value() -> None:
    store, clock = Store(), Clock()
    provider = cached(store, clock)
    provider.get("db", {"password"})
    store.failure = ProviderUnavailableError("down")
    clock.seconds += 1
    assert renewed(provider, clock) == (0, "p1")
    assert len(store.reads) == 2
