"""The contract suite passes a good provider and catches each kind of bad one."""

import json
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import ClassVar

import pytest

from sparkconfig.errors import AccessDeniedError, ConfigurationError, SecretNotFoundError
from sparkconfig.providers.base import ConfigData
from sparkconfig.testing import ContractCase, ProviderContract, RecordingProvider

DATA = {"user": "alice-0001", "password": "s3cret-value-77"}


class Strict(RecordingProvider):
    """A good provider: like the recording one, but it knows its params."""

    live: ClassVar[list] = []

    def __init__(self):
        super().__init__()
        self.live.append(self)

    def configure(self, params):
        unknown = set(params) - {"data", "ttl"}
        if unknown:
            raise ConfigurationError(f"unknown param {sorted(unknown)}")
        super().configure(params)

    def close(self):
        if self in self.live:
            self.live.remove(self)


def case_of(kind, **changes):
    def change(values):
        for each in list(Strict.live):
            each.set("db/prod", values)

    settings = {"params": {"data": json.dumps({"db/prod": DATA})}, "path": "db/prod", "data": DATA}
    return ContractCase(kind, **{**settings, "change": change, **changes})


class TestAGoodProvider(ProviderContract):
    @pytest.fixture
    def case(self):
        return case_of(Strict)


class ExtraKeys(Strict):
    def get(self, path, keys=None):
        return super().get(path)


class NullForAbsent(Strict):
    def get(self, path, keys=None):
        answer = super().get(path, keys)
        return ConfigData({**dict.fromkeys(keys or (), ""), **answer.data})


class NotText(Strict):
    def get(self, path, keys=None):
        return ConfigData({key: value.encode() for key, value in super().get(path, keys).data.items()})


class ZeroTtl(Strict):
    def get(self, path, keys=None):
        return ConfigData(super().get(path, keys).data, ttl=0)


class LogsValues(Strict):
    def get(self, path, keys=None):
        answer = super().get(path, keys)
        logging.getLogger("bad").debug("read %s", dict(answer.data))
        return answer


class PrintsValues(Strict):
    def get(self, path, keys=None):
        answer = super().get(path, keys)
        print(dict(answer.data))
        return answer


class ShowsValues(Strict):
    def __repr__(self):
        return f"ShowsValues({self._data})"


class ChainsErrors(Strict):
    def get(self, path, keys=None):
        try:
            return super().get(path, keys)
        except SecretNotFoundError:
            raise SecretNotFoundError(f"nothing at {path}") from ValueError("the store said ...")


class LeaksInChain(Strict):
    def get(self, path, keys=None):
        if path not in self._data:
            try:
                raise ValueError(DATA["password"])
            except ValueError:
                raise SecretNotFoundError(f"nothing at {path}")  # noqa: B904 - the mistake that is caught
        return super().get(path, keys)


class TakesAnyParam(RecordingProvider):
    pass


class NotThreadSafe(Strict):
    def __init__(self):
        super().__init__()
        self.barrier = threading.Barrier(2)

    def get(self, path, keys=None):
        self.last = path
        try:
            self.barrier.wait(0.05)  # two threads are inside
            return ConfigData({})
        except threading.BrokenBarrierError:
            self.barrier.reset()
        return super().get(path, keys)


class NeverPushes(Strict):
    def subscribe(self, path, keys, callback):
        pass


class ServesWhatIsDenied(Strict):
    pass


@pytest.mark.parametrize(
    ("kind", "test"),
    [
        (ExtraKeys, "test_named_keys_and_no_others_are_answered"),
        (NullForAbsent, "test_an_absent_key_is_left_out"),
        (ExtraKeys, "test_no_keys_asked_no_keys_answered"),
        (NotText, "test_values_are_text_and_the_ttl_is_milliseconds"),
        (ZeroTtl, "test_values_are_text_and_the_ttl_is_milliseconds"),
        (ChainsErrors, "test_errors_drop_what_the_client_raised"),
        (NotThreadSafe, "test_threads_share_one_provider"),
    ],
)
def test_catches_bad_answers(kind, test):
    case, provider = case_of(kind), kind()
    provider.configure(case.params)
    with pytest.raises((AssertionError, AttributeError)):
        getattr(ProviderContract(), test)(provider, case)


@pytest.mark.parametrize("kind", [LogsValues, PrintsValues, ShowsValues, LeaksInChain])
def test_catches_what_shows_values(kind, caplog, capfd):
    with pytest.raises(AssertionError) as caught:
        ProviderContract().test_nothing_shows_a_value(case_of(kind), caplog, capfd)
    assert not any(value in str(caught.value) for value in DATA.values())


def test_catches_a_provider_that_takes_any_param():
    with pytest.raises(pytest.fail.Exception):
        ProviderContract().test_an_unknown_param_is_refused_by_name(case_of(TakesAnyParam))


def test_catches_a_denied_path_that_is_served():
    provider, case = ServesWhatIsDenied(), case_of(ServesWhatIsDenied, denied_path="db/prod")
    provider.configure(case.params)
    with pytest.raises(pytest.fail.Exception):
        ProviderContract().test_a_denied_path_is_not_allowed(provider, case)


def test_catches_a_provider_that_says_it_pushes_and_does_not(monkeypatch):
    monkeypatch.setattr("sparkconfig.testing.contract._PUSH_DEADLINE", 0.1)
    provider, case = NeverPushes(), case_of(NeverPushes)
    provider.configure(case.params)
    with pytest.raises(AssertionError, match="did not arrive"):
        ProviderContract().test_changes_are_pushed_or_subscribe_says_no(provider, case)


def test_accepts_a_path_that_is_denied():
    class Denies(Strict):
        def get(self, path, keys=None):
            if path == "locked":
                raise AccessDeniedError(f"not allowed: {path}")
            return super().get(path, keys)

    provider, case = Denies(), case_of(Denies, denied_path="locked")
    provider.configure(case.params)
    ProviderContract().test_a_denied_path_is_not_allowed(provider, case)


def test_the_kit_imports_without_pytest():
    code = (
        "import sys; import sparkconfig.testing as t; t.RecordingProvider; assert 'pytest' not in sys.modules"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3] / "python")}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
