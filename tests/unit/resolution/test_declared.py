"""Providers from configuration: names, classes, params, order, life cycle; all problems in one error."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Set
from typing import ClassVar

import pytest

from sparkconfig import ConfigData, ConfigProvider, load_providers
from sparkconfig.errors import ConfigurationError
from sparkconfig.providers.registry import find_class

HERE = __name__
VALUE = "s3cret-value-0001"


class Living(ConfigProvider):
    """Counts its life; answers from its params; can fail at any point."""

    lives: ClassVar[list[Living]] = []

    def __init__(self) -> None:
        self.configured: list[dict[str, str]] = []
        self.closed = 0
        Living.lives.append(self)

    def configure(self, params: Mapping[str, str]) -> None:
        self.configured.append(dict(params))
        if "own.error" in params:
            raise ConfigurationError("param own.error is set")
        if "foreign.error" in params:
            raise RuntimeError(params["foreign.error"])

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        params = self.configured[0]
        return ConfigData({key: params[key] for key in keys or params if key in params})

    def close(self) -> None:
        self.closed += 1
        if "close.error" in self.configured[0]:
            raise RuntimeError(VALUE)


class Unmakable(ConfigProvider):
    def __init__(self) -> None:
        raise RuntimeError(VALUE)

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        raise NotImplementedError


@pytest.fixture(autouse=True)
def lives() -> list[Living]:
    Living.lives.clear()
    return Living.lives


def _confs(names: str, **params: str) -> dict[str, str]:
    confs = {"spark.config.providers": names}
    for name in names.split(","):
        confs[f"spark.config.providers.{name.strip()}.class"] = f"{HERE}.Living"
    return confs | {f"spark.config.providers.{key}": value for key, value in params.items()}


def _problems(confs: dict[str, str]) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        load_providers(confs)
    assert VALUE not in str(caught.value)
    assert caught.value.__cause__ is None
    return list(caught.value.problems)


def test_configured_once_closed_once_last_first(lives) -> None:
    with load_providers(_confs(" one , two ", **{"one.param.a": "1", "one.param.b.c": "2"})) as providers:
        assert list(providers) == ["one", "two"]
        assert [life.configured for life in lives] == [[{"a": "1", "b.c": "2"}], [{}]]
        assert not any(life.closed for life in lives)
    providers.close()
    assert [life.closed for life in lives] == [1, 1]


def test_all_are_closed_when_one_fails_or_close_fails(lives, caplog) -> None:
    confs = _confs("one,two,three", **{"two.param.own.error": "x", "one.param.close.error": "x"})
    assert _problems(confs) == ["spark.config.providers.two: param own.error is set"]
    assert [life.closed for life in lives] == [1, 1, 1]
    assert "close() failed with RuntimeError" in caplog.text
    assert VALUE not in caplog.text


class Stuck(Living):
    release = threading.Event()

    def configure(self, params: Mapping[str, str]) -> None:
        super().configure(params)
        Stuck.release.wait()

    def close(self) -> None:
        super().close()
        Stuck.release.wait()


def test_configure_and_close_that_hang_end_at_the_deadline(lives, caplog) -> None:
    Stuck.release.clear()
    confs = _confs("one,two") | {"spark.config.providers.two.class": f"{HERE}.Stuck"}
    try:
        with pytest.raises(ConfigurationError) as caught:
            load_providers(confs, timeout_ms=200)
    finally:
        Stuck.release.set()
    assert caught.value.problems == (
        "spark.config.providers.two: configure() did not return within 200 ms (spark.config.provider.timeout)",
    )
    assert [life.closed for life in lives] == [1, 1]
    assert "provider 'two': close() did not return within 200 ms" in caplog.text


def test_all_problems_of_all_providers_in_one_error() -> None:
    problems = _problems(
        _confs("env,spark,a.b,one,two,three,four")
        | {
            "spark.config.providers.one.class": "valt",
            "spark.config.providers.two.param.foreign.error": VALUE,
            "spark.config.providers.three.url": "x",
            "spark.config.providers.three.param.": "x",
            "spark.config.providers.undeclared.class": "x",
            "spark.config.providers.four.class": f"{HERE}.Unmakable",
        }
    )
    text = "\n".join(problems)
    for part in (
        "Spark itself expands ${env:...}; choose another name; the alias of the environment provider is envvar",
        "Spark itself expands ${spark:...}",
        "'a.b' is not a provider name",
        "one.class: no provider is called 'valt' (did you mean 'vault'?)",
        "spark.config.providers.two: configure() failed with RuntimeError",
        "write spark.config.providers.three.param.url",
        "the name of the param is missing",
        "undeclared.class: 'undeclared' is not listed in spark.config.providers",
        "four.class: cannot be created: RuntimeError",
    ):
        assert part in text


def test_a_param_may_hold_references_to_earlier_providers(lives) -> None:
    confs = _confs(
        "one,two,three",
        **{
            "one.param.token": VALUE,
            "two.param.auth": "Bearer ${one:token}",
            "three.param.both": "${one:token} ${two:auth}",
        },
    )
    with load_providers(confs, timeout_ms=5000):
        assert lives[2].configured == [{"both": f"{VALUE} Bearer {VALUE}"}]


def test_references_to_later_missing_or_broken_providers_are_errors(lives) -> None:
    problems = _problems(
        _confs(
            "one,two,three",
            **{
                "one.param.later": "${three:x}",
                "one.param.self": "${one:x}",
                "two.param.typo": "${tree:x}",
                "three.param.broken": "${one:x}",
            },
        )
    )
    text = "\n".join(problems)
    assert "one.param.later: the reference needs provider 'three', which is not declared earlier" in text
    assert "one.param.self: the reference needs provider 'one', which is not declared earlier" in text
    assert "two.param.typo: a reference names the unknown provider 'tree'" in text
    assert "three.param.broken: the reference needs provider 'one', which could not be made" in text
    assert [life.closed for life in lives] == [0, 0, 0], "none of them was configured"


def test_a_missing_key_in_a_param_is_an_error() -> None:
    (problem,) = _problems(_confs("one,two", **{"two.param.x": "${one:nope}"}))
    assert problem.startswith("spark.config.providers.two.param.x: ${one:nope}: ")


def test_no_providers_and_other_prefixes() -> None:
    assert len(load_providers({"spark.config.providers": " , ", "spark.app.name": "x"})) == 0
    with load_providers({"my.providers": "envvar"}, prefix="my.") as providers:
        assert list(providers) == ["envvar"]


def test_wrap_stands_in_front(lives) -> None:
    class Front(ConfigProvider):
        def __init__(self, inner: ConfigProvider) -> None:
            self._inner = inner

        def configure(self, params: Mapping[str, str]) -> None:
            self._inner.configure(params)

        def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
            return ConfigData({key: f"<{value}>" for key, value in self._inner.get(path, keys).data.items()})

        def close(self) -> None:
            self._inner.close()

    confs = _confs("one", **{"one.param.k": "v"})
    with load_providers(confs, wrap=lambda name, inner: Front(inner)) as providers:
        assert providers["one"].get("", {"k"}).data == {"k": "<v>"}
    assert lives[0].closed == 1


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("no.such.module.Class", "cannot be imported: No module named 'no'"),
        ("sparkconfig.providers.file.Nope", "has no 'Nope'"),
        ("sparkconfig.providers.file:FileConfigProvider.Nope", "has no"),
        ("sparkconfig.secret.Secret", "is not a class derived from sparkconfig.ConfigProvider"),
        ("sparkconfig.providers.file", "is not a class derived from"),
        ("a b.c", "is not a dotted path"),
        (".x", "is not a dotted path"),
        ("x:", "is not a dotted path"),
        ("org.apache.kafka.common.config.provider.FileConfigProvider", "is a Java class"),
        ("", "no provider is called ''"),
    ],
)
def test_classes_that_cannot_be_used(name: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(said)):
        find_class(name)
