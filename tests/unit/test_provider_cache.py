"""The cache in front of providers: one read a path, due times, outages and revocations."""

from __future__ import annotations

from collections.abc import Mapping, Set

import pytest

from sparkconfig import ConfigData, ConfigProvider
from sparkconfig.errors import AccessDeniedError, ProviderUnavailableError, SecretNotFoundError
from sparkconfig.providers.cache import CachingProvider


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


def test_a_local_provider_is_read_at_each_use() -> None:
    store, clock = Store(local=True), Clock()
    provider = cached(store, clock)
    provider.get("db", {"user"})
    store.values["user"] = "u2"
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
def test_revocation_is_no_outage(error: Exception) -> None:
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


def test_states_hold_no_values() -> None:
    store, clock = Store(), Clock()
    store.values["password"] = "do-not-show-me"
    provider = cached(store, clock)
    provider.get("db", {"password"})
    assert "do-not-show-me" not in repr(provider.states())
