"""Params, attempts, pins and HTTP failures: what the stores share."""

import errno
import socket
import ssl
import threading
from pathlib import Path

import pytest

from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    SecretNotFoundError,
)
from sparkconfig.providers._kit.http import status_failure, transport_failure
from sparkconfig.providers._kit.params import Param, read_params
from sparkconfig.providers._kit.pins import split_pins
from sparkconfig.providers._kit.retry import Attempts

TABLE = (
    Param("url", "the address", required=True),
    Param("mode", "how", default="fast", choices=("fast", "slow")),
    Param("token", "the token", secret=True),
    Param("attempts", "how often", default="3"),
    Param("timeout", "deadline", default="10s"),
    Param("keys", "patterns"),
)


def values(**given):
    return read_params("mine", TABLE, {"url": "u", **given})


class TestParams:
    def test_defaults_and_given_values(self):
        assert values().text("mode") == "fast"
        assert values(mode="slow").text("mode") == "slow"
        assert values().optional("token") is None
        assert values(token=" ").optional("token") is None

    def test_unknown_ones_are_refused_with_a_hint(self):
        with pytest.raises(ConfigurationError, match="unknown param tokem; did you mean token"):
            values(tokem="secret-value-1")

    def test_missing_ones_are_refused_with_their_meaning(self):
        with pytest.raises(ConfigurationError, match="param url is not set: the address"):
            read_params("mine", TABLE, {})

    def test_choices_are_checked(self):
        with pytest.raises(ConfigurationError, match="param mode must be one of fast, slow: 'medium'"):
            values(mode="medium")

    @pytest.mark.parametrize("text", ["0", "s", "3651d"])
    def test_malformed_durations(self, text):
        with pytest.raises(ConfigurationError, match="param timeout must be a duration"):
            values(timeout=text).milliseconds("timeout")

    @pytest.mark.parametrize("text", ["0", "-1", "x", "1.0", "\u0663", "9" * 30])
    def test_malformed_numbers(self, text):
        with pytest.raises(ConfigurationError, match="param attempts must be a whole number from 1"):
            values(attempts=text).number("attempts", 1)

    def test_a_secret_is_never_shown(self):
        error = values(token="t").wrong("token", "is wrong", "secret-value-1")
        assert "secret-value-1" not in str(error)

    def test_lists(self):
        assert values(keys=" *.jks, ,*.p12 ,").patterns("keys") == ("*.jks", "*.p12")

    def test_files(self, tmp_path):
        (tmp_path / "t").write_text(" text \n")
        (tmp_path / "empty").write_text("\n")
        assert values(token=str(tmp_path / "t")).file_text("token") == "text"
        with pytest.raises(ConfigurationError, match="FileNotFoundError"):
            values(token=str(tmp_path / "absent")).file_text("token")
        for name in ("absent", "empty"):
            with pytest.raises(AccessDeniedError, match="param token"):
                values(token=str(tmp_path / name)).identity("token")

    @pytest.mark.parametrize(
        "number", ["EMFILE", "ENFILE", "EIO", "ESTALE", "ENOMEM", "ETIMEDOUT", "EHOSTDOWN"]
    )
    def test_an_identity_that_cannot_be_read_for_a_while_is_an_outage_and_ends_no_value(
        self, tmp_path, monkeypatch, number
    ):
        def fail(*_arguments, **_options):
            raise OSError(getattr(errno, number), "a passing failure")

        monkeypatch.setattr(Path, "read_text", fail)
        with pytest.raises(ProviderUnavailableError, match="param token"):
            values(token=str(tmp_path / "t")).identity("token")

    @pytest.mark.parametrize("number", ["ENOENT", "ENOTDIR", "EACCES", "EPERM", "ELOOP", "EISDIR"])
    def test_an_identity_that_is_not_there_or_not_for_this_user_is_none(self, tmp_path, monkeypatch, number):
        def fail(*_arguments, **_options):
            raise OSError(getattr(errno, number), "it is so")

        monkeypatch.setattr(Path, "read_text", fail)
        with pytest.raises(AccessDeniedError, match="param token"):
            values(token=str(tmp_path / "t")).identity("token")


class TestAttempts:
    def test_only_unavailability_is_tried_again(self):
        calls = []

        def call(left):
            calls.append(left)
            raise [ProviderUnavailableError("down"), AccessDeniedError("no")][len(calls) - 1]

        with pytest.raises(AccessDeniedError):
            Attempts(5, 10).run(call)
        assert len(calls) == 2
        assert 0 < calls[1] < calls[0] <= 10

    def test_the_limit_holds_and_the_last_error_comes_out(self):
        errors = iter([ProviderUnavailableError("first"), ProviderTimeoutError("second")])

        def call(left):
            raise next(errors)

        with pytest.raises(ProviderTimeoutError, match="second"):
            Attempts(2, 10).run(call)

    def test_the_deadline_holds(self):
        calls = []

        def call(left):
            calls.append(left)
            raise ProviderUnavailableError("down")

        with pytest.raises(ProviderUnavailableError):
            Attempts(1000, 0.3).run(call)
        assert len(calls) < 1000

    def test_closing_ends_the_pauses(self):
        attempts = Attempts(1000, 60)
        started = threading.Event()

        def call(left):
            started.set()
            raise ProviderUnavailableError("down")

        def run():
            with pytest.raises(ProviderUnavailableError):
                attempts.run(call)

        thread = threading.Thread(target=run)
        thread.start()
        assert started.wait(5)
        attempts.stop()
        thread.join(5)
        assert not thread.is_alive()


class TestPins:
    def test_none_and_some(self):
        assert split_pins("a/b", {"version"}, "here") == ("a/b", {})
        assert split_pins("a?version=3&stage=X", {"version", "stage"}, "here") == (
            "a",
            {"version": "3", "stage": "X"},
        )

    @pytest.mark.parametrize(
        "name", ["a?", "a?version", "a?version=", "a?other=1", "a?version=1&version=2", "a?version=1&"]
    )
    def test_malformed_ones_are_refused(self, name):
        with pytest.raises(ConfigurationError, match=r"here: .* known: \?version=\.\.\."):
            split_pins(name, {"version"}, "here")

    def test_stores_without_pins(self):
        with pytest.raises(ConfigurationError, match="known: none"):
            split_pins("a?version=1", set(), "here")


class TestHttp:
    @pytest.mark.parametrize(
        ("status", "kind"),
        [
            (400, ProviderError),
            (401, AccessDeniedError),
            (403, AccessDeniedError),
            (404, SecretNotFoundError),
            (407, AccessDeniedError),
            (410, SecretNotFoundError),
            (429, ProviderUnavailableError),
            (500, ProviderUnavailableError),
            (503, ProviderUnavailableError),
            (None, ProviderUnavailableError),
        ],
    )
    def test_statuses(self, status, kind):
        assert type(status_failure("here", status)) is kind

    @pytest.mark.parametrize(
        ("error", "kind", "words"),
        [
            (ConnectionRefusedError(), ProviderUnavailableError, "cannot be reached"),
            (socket.gaierror(), ProviderUnavailableError, "host name"),
            (TimeoutError(), ProviderTimeoutError, "in time"),
            (ssl.SSLCertVerificationError(), ProviderUnavailableError, "TLS"),
        ],
    )
    def test_causes_are_found_below_wrappers(self, error, kind, words):
        wrapped = ConnectionError("the store said: secret")
        wrapped.__cause__ = OSError(error)
        failure = transport_failure("here", wrapped)
        assert type(failure) is kind
        assert words in str(failure)
        assert "secret" not in str(failure)
