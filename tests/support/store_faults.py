"""What every store that speaks HTTP must survive: subclass, give the fixture ``faulty``."""

import logging
import socket
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from sparkconfig.errors import (
    AccessDeniedError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
)
from support.fakes.http_server import BODY_MARK, Fault


@dataclass(frozen=True)
class Faulty:
    """A fake, a maker of providers that read from it (its argument: extra params), and what they read."""

    fake: Any
    make: Callable[[dict], Any]
    path: str
    key: str
    value: str
    address: str
    """Name of the param that holds the address."""


@dataclass(frozen=True)
class _Failed:
    error: ProviderError
    seconds: float


class StoreFaults:
    """Faults come once the provider has read a first time, so that logins are behind it."""

    keeps_connections = True
    """False for what asks a few times an hour."""

    @pytest.fixture
    def faulty(self):
        raise NotImplementedError

    def read(self, faulty, params=None, faults=(), warm=True):
        """Read once; return the failure or None."""
        with faulty.make(params or {}) as provider:
            if warm:
                assert provider.get(faulty.path, {faulty.key}).data == {faulty.key: faulty.value}
            faulty.fake.fault(*faults)
            start = time.monotonic()
            try:
                answer = provider.get(faulty.path, {faulty.key})
            except ProviderError as error:
                failed = _Failed(error, time.monotonic() - start)
            else:
                assert answer.data == {faulty.key: faulty.value}
                return None
        text = "".join(traceback.format_exception(failed.error))
        assert failed.error.__context__ is None, "the client's exception must be gone"
        assert BODY_MARK not in text
        assert faulty.value not in text
        assert faulty.path in str(failed.error), "the error must name the path"
        return failed

    @pytest.mark.parametrize("status", [500, 502, 503, 429])
    def test_a_store_in_trouble_is_asked_again(self, faulty, status, caplog):
        with caplog.at_level(logging.DEBUG):
            assert self.read(faulty, faults=[Fault(status)]) is None
        assert BODY_MARK not in caplog.text
        assert faulty.value not in caplog.text

    @pytest.mark.parametrize("status", [500, 503, 429])
    def test_but_not_for_ever(self, faulty, status):
        failed = self.read(faulty, {"attempts": "2"}, [Fault(status)] * 2)
        assert isinstance(failed.error, ProviderUnavailableError)

    @pytest.mark.parametrize("status", [401, 403])
    def test_not_allowed_is_not_asked_again(self, faulty, status, caplog):
        with caplog.at_level(logging.DEBUG):
            failed = self.read(faulty, faults=[Fault(status)] * 2)
        assert isinstance(failed.error, AccessDeniedError)
        assert BODY_MARK not in caplog.text

    def test_silence_ends_at_the_deadline(self, faulty):
        failed = self.read(faulty, {"timeout": "500ms"}, [Fault(silent=True)] * 3)
        assert isinstance(failed.error, ProviderTimeoutError)
        assert failed.seconds < 5

    def test_a_slow_answer_arrives_whole(self, faulty):
        assert self.read(faulty, {"attempts": "1"}, [Fault(slow=True)]) is None

    @pytest.mark.parametrize("fault", [Fault(garbage=True), Fault(truncated=True), Fault(closed=True)])
    def test_half_answers_and_garbage_are_not_answers(self, faulty, fault):
        failed = self.read(faulty, {"attempts": "2"}, [fault] * 6)
        assert isinstance(failed.error, ProviderUnavailableError)
        faulty.fake.clear_faults()

    def test_a_host_that_does_not_exist(self, faulty):
        scheme = faulty.fake.url.partition(":")[0]
        params = {faulty.address: f"{scheme}://no-such-host.invalid:9", "attempts": "1", "timeout": "3s"}
        failed = self.read(faulty, params, warm=False)
        assert isinstance(failed.error, ProviderUnavailableError)

    def test_a_port_where_nobody_listens(self, faulty):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        scheme = faulty.fake.url.partition(":")[0]
        params = {faulty.address: f"{scheme}://localhost:{port}", "attempts": "1", "timeout": "3s"}
        failed = self.read(faulty, params, warm=False)
        assert isinstance(failed.error, ProviderUnavailableError)

    def test_connections_are_reused(self, faulty):
        if not self.keeps_connections:
            return
        with faulty.make({}) as provider:
            provider.get(faulty.path, {faulty.key})
            before = faulty.fake.connections
            for _ in range(5):
                provider.get(faulty.path, {faulty.key})
            assert faulty.fake.connections == before
