"""The contract of a provider as a pytest suite."""

from __future__ import annotations

import logging
import threading
import traceback
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from sparkconfig.errors import AccessDeniedError, ConfigurationError, SecretNotFoundError
from sparkconfig.providers.base import ConfigData, ConfigProvider

__all__ = ["ContractCase", "ProviderContract", "assert_silent", "text_of"]

_PUSH_DEADLINE = 20.0
"""Seconds to wait for a pushed change before the test fails."""


@dataclass(frozen=True)
class ContractCase:
    """One provider, and what its store holds while the suite runs.

    Attributes:
        provider: the class; the suite makes and closes its own objects.
        params: params that make it reach the store.
        path: a path that exists.
        data: keys and values at ``path``; at least two keys; values of eight characters or more, found
            nowhere else, since the suite searches logs and messages for them.
        missing_path: a path that does not exist, or None where no such thing exists (environment variables).
        missing_key: a key that ``path`` does not have.
        denied_path: a path that these params may not read, or None when the store has no such thing here.
        lists_all: whether ``get(path)`` without keys returns all of them; False for stores that cannot list.
        exhaustive: whether ``data`` is everything that ``path`` holds.
        secret_params: names of params that are secrets themselves: their values never show either.
        change: writes new values for ``path`` into the store; needed when the provider pushes.
    """

    provider: type[ConfigProvider]
    params: Mapping[str, str] = field(repr=False)
    path: str
    data: Mapping[str, str] = field(repr=False)
    missing_path: str | None = "no/such/path"
    missing_key: str = "no-such-key"
    denied_path: str | None = None
    lists_all: bool = True
    exhaustive: bool = True
    secret_params: tuple[str, ...] = ()
    change: Callable[[Mapping[str, str]], None] | None = None

    def hidden(self) -> list[str]:
        """Everything that must not show: the values, and the params that are secrets."""
        return [*self.data.values(), *(self.params[name] for name in self.secret_params)]


class ProviderContract:
    """What sparkconfig relies on; a failing test names keys and never shows a value.

    Subclass it, and give the fixture ``case``::

        class TestMyStore(ProviderContract):
            @pytest.fixture
            def case(self, my_store):
                my_store.put("db/prod", {"user": "alice-0001", "password": "s3cret-value"})
                return ContractCase(
                    MyStoreProvider,
                    params={"url": my_store.url},
                    path="db/prod",
                    data={"user": "alice-0001", "password": "s3cret-value"},
                )
    """

    @pytest.fixture
    @abstractmethod
    def case(self) -> ContractCase:
        """The provider under test; every subclass supplies its own."""
        raise NotImplementedError("give a fixture named 'case' that returns a ContractCase")

    @pytest.fixture
    def provider(self, case: ContractCase) -> Iterator[ConfigProvider]:
        """A configured provider, closed after the test."""
        made = case.provider()
        try:
            made.configure(case.params)
            yield made
        finally:
            made.close()

    # Answers.

    def test_named_keys_and_no_others_are_answered(
        self, provider: ConfigProvider, case: ContractCase
    ) -> None:
        for key in case.data:
            answer = provider.get(case.path, frozenset({key}))
            assert set(answer.data) == {key}
            _assert_same(answer, {key: case.data[key]})

    def test_many_keys_come_in_one_answer(self, provider: ConfigProvider, case: ContractCase) -> None:
        assert len(case.data) >= 2, "a ContractCase needs two keys"
        _assert_same(provider.get(case.path, frozenset(case.data)), case.data)

    def test_without_keys_all_are_answered(self, provider: ConfigProvider, case: ContractCase) -> None:
        if not case.lists_all:
            with pytest.raises((ConfigurationError, AccessDeniedError)):
                provider.get(case.path)
            return
        answer = provider.get(case.path)
        if case.exhaustive:
            assert set(answer.data) == set(case.data)
        _assert_same(answer, case.data, only_these=False)

    def test_an_absent_key_is_left_out(self, provider: ConfigProvider, case: ContractCase) -> None:
        key = next(iter(case.data))
        answer = provider.get(case.path, frozenset({key, case.missing_key}))
        assert set(answer.data) == {key}
        assert not provider.get(case.path, frozenset({case.missing_key})).data

    def test_no_keys_asked_no_keys_answered(self, provider: ConfigProvider, case: ContractCase) -> None:
        assert not provider.get(case.path, frozenset()).data

    def test_an_absent_path_is_not_there(self, provider: ConfigProvider, case: ContractCase) -> None:
        if case.missing_path is None:
            return
        try:
            answer = provider.get(case.missing_path, frozenset(case.data))
        except SecretNotFoundError as error:
            assert case.missing_path in str(error), "the error must name the path"  # noqa: PT017
        else:
            assert not answer.data

    def test_a_denied_path_is_not_allowed(self, provider: ConfigProvider, case: ContractCase) -> None:
        if case.denied_path is None:
            return
        with pytest.raises(AccessDeniedError) as caught:
            provider.get(case.denied_path, frozenset(case.data))
        assert case.denied_path in str(caught.value), "the error must name the path"

    def test_values_are_text_and_the_ttl_is_milliseconds(
        self, provider: ConfigProvider, case: ContractCase
    ) -> None:
        answer = provider.get(case.path, frozenset(case.data))
        assert isinstance(answer, ConfigData)
        assert {type(key) for key in answer.data} == {str}
        assert {type(value) for value in answer.data.values()} == {str}
        assert answer.ttl is None or (type(answer.ttl) is int and answer.ttl > 0)

    def test_threads_share_one_provider(self, provider: ConfigProvider, case: ContractCase) -> None:
        keys = frozenset(case.data)
        with ThreadPoolExecutor(8) as pool:
            answers = [f.result() for f in [pool.submit(provider.get, case.path, keys) for _ in range(32)]]
        for answer in answers:
            _assert_same(answer, case.data)

    # Life cycle.

    def test_close_without_configure_is_harmless(self, case: ContractCase) -> None:
        case.provider().close()

    def test_close_after_a_failed_configure_is_harmless(self, case: ContractCase) -> None:
        made = case.provider()
        with pytest.raises(ConfigurationError):
            made.configure({**case.params, "no.such.param": "x"})
        made.close()

    def test_an_unknown_param_is_refused_by_name(self, case: ContractCase) -> None:
        made = case.provider()
        with pytest.raises(ConfigurationError, match=r"no\.such\.param") as caught:
            made.configure({**case.params, "no.such.param": "x-value-of-it"})
        made.close()
        assert_silent(text_of(caught.value), [*case.hidden(), "x-value-of-it"], "the error")

    # Silence.

    def test_nothing_shows_a_value(
        self, case: ContractCase, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
    ) -> None:
        texts: list[str] = []
        with caplog.at_level(logging.DEBUG), case.provider() as provider:
            provider.configure(case.params)
            answer = provider.get(case.path, frozenset(case.data))
            texts += [repr(provider), str(provider), repr(answer), str(answer)]
            for path in filter(None, (case.missing_path, case.denied_path)):
                try:
                    provider.get(path, frozenset(case.data))
                except (SecretNotFoundError, AccessDeniedError) as error:
                    texts.append(text_of(error))
        assert_silent("\n".join(texts), case.hidden(), "repr, str or an error")
        assert_silent(caplog.text, case.hidden(), "the log (at level DEBUG)")
        assert_silent("".join(capfd.readouterr()), case.hidden(), "the standard streams")

    def test_errors_drop_what_the_client_raised(self, provider: ConfigProvider, case: ContractCase) -> None:
        for path in filter(None, (case.missing_path, case.denied_path)):
            try:
                provider.get(path, frozenset(case.data))
            except (SecretNotFoundError, AccessDeniedError) as error:
                assert error.__cause__ is None, "raise ... from None"  # noqa: PT017 - raising is optional
                assert error.__suppress_context__ or error.__context__ is None, "raise ... from None"  # noqa: PT017

    # Pushing.

    def test_changes_are_pushed_or_subscribe_says_no(
        self, provider: ConfigProvider, case: ContractCase
    ) -> None:
        keys, news, arrived = frozenset(case.data), [], threading.Event()

        def changed(path: str, data: ConfigData) -> None:
            news.append((path, data))
            if dict(data.data) == fresh:
                arrived.set()

        if not provider.pushes:
            with pytest.raises(NotImplementedError):
                provider.subscribe(case.path, keys, changed)
            with pytest.raises(NotImplementedError):
                provider.unsubscribe_all()
            return
        assert case.change is not None, "a provider that pushes needs ContractCase.change"
        fresh = {key: value + "-new" for key, value in case.data.items()}
        provider.subscribe(case.path, keys, changed)
        case.change(fresh)
        assert arrived.wait(_PUSH_DEADLINE), "the whole new data did not arrive"
        assert {path for path, _ in news} == {case.path}
        _assert_same(provider.get(case.path, keys), fresh)
        provider.unsubscribe(case.path, keys, changed)
        provider.unsubscribe_all()


def _assert_same(answer: ConfigData, expected: Mapping[str, str], *, only_these: bool = True) -> None:
    """Compare without a value in the message, which pytest's own comparison would print."""
    if only_these:
        assert set(answer.data) == set(expected)
    wrong = [key for key, value in expected.items() if answer.data.get(key) != value]
    assert not wrong, f"wrong or missing values for the keys {wrong}"


def assert_silent(text: str, hidden: list[str], where: str) -> None:
    """Fail, naming only the place, when one of ``hidden`` is in ``text``."""
    shown = any(value in text for value in hidden if value)
    del text, hidden  # a failing test prints local variables with --showlocals
    assert not shown, f"{where} showed a value"


def text_of(error: BaseException) -> str:
    """What a log would show of an error, its causes and contexts included, without lines of source."""
    chain: list[str] = []
    following: BaseException | None = error
    while following is not None:
        chain += traceback.format_exception_only(following)
        hidden = following.__suppress_context__
        following = following.__cause__ or (None if hidden else following.__context__)
    return "".join(chain)
