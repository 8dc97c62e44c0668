"""The environment provider."""

from __future__ import annotations

import pytest

from sparkconfig.errors import ConfigurationError
from sparkconfig.providers.envvar import EnvVarConfigProvider

ENVIRONMENT = {"DB_PW": "1", "DB_USER": "2", "HOME": "3", "a.b": "4"}


def _provider(pattern: str | None = None) -> EnvVarConfigProvider:
    provider = EnvVarConfigProvider(ENVIRONMENT)
    provider.configure({} if pattern is None else {"allowlist.pattern": pattern})
    return provider


def test_variables_and_those_that_are_not_set() -> None:
    assert _provider().get("", {"DB_PW", "NONE"}).data == {"DB_PW": "1"}
    assert _provider().get("").data == ENVIRONMENT


def test_the_pattern_has_to_match_the_whole_name() -> None:
    assert set(_provider("DB_.*").get("").data) == {"DB_PW", "DB_USER"}
    assert _provider("DB").get("", {"DB_PW"}).data == {}
    assert _provider("").get("").data == {}
    assert _provider("HOME|DB_PW").get("").data == {"HOME": "3", "DB_PW": "1"}


def test_a_path_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match="Path is not supported"):
        _provider().get("HOME", {"default"})


def test_the_process_environment_by_default(monkeypatch) -> None:
    provider = EnvVarConfigProvider()
    provider.configure({})
    monkeypatch.setenv("SPARKCONFIG_TEST_VARIABLE", "now")
    assert provider.get("", {"SPARKCONFIG_TEST_VARIABLE"}).data == {"SPARKCONFIG_TEST_VARIABLE": "now"}


@pytest.mark.parametrize("name", ["", "\0", "\ud800", "A=B", "x" * 100_000])
def test_names_that_no_variable_can_have_are_not_set(name: str) -> None:
    provider = EnvVarConfigProvider()
    provider.configure({})
    assert provider.get("", {name}).data == {}


@pytest.mark.parametrize(
    "pattern",
    ["(", "[", "*", r"\p{Upper}+", r"\Qa.b\E", "(?<name>A)", r"\h", "[A-Z&&[^B]]*X", "[a[b]]"],
)
def test_patterns_that_cannot_be_used_are_clear_errors(pattern: str) -> None:
    """Those too that only Java knows, or reads in another way."""
    with pytest.raises(ConfigurationError, match=r"allowlist\.pattern is not a usable pattern"):
        _provider(pattern)
