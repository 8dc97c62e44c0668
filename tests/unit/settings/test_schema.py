"""Settings: declared once, read together, wrong ones reported together."""

from __future__ import annotations

import pytest

from sparkconfig.errors import ConfigurationError
from sparkconfig.settings.foreign import DEFAULT_FOREIGN
from sparkconfig.settings.schema import PREFIX, Settings, declared, parse


def _problems(confs: dict[str, str]) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        parse(confs)
    return list(caught.value.problems)


def test_defaults() -> None:
    settings = parse({"spark.app.name": "x"})
    assert settings == Settings()
    assert settings.unresolved == "fail"
    assert not settings.substitution_enabled
    assert settings.reload_action == "refresh"
    assert not settings.rpc_insecure
    assert settings.foreign_providers == DEFAULT_FOREIGN


def test_every_setting_has_a_doc_and_a_default_of_its_own_kind() -> None:
    for setting in declared():
        metadata = setting.metadata
        assert metadata["doc"].endswith("."), metadata["name"]
        assert metadata["name"].startswith(PREFIX)
        assert metadata["kind"].parse(metadata["default"]) == getattr(Settings(), setting.name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10s", 10_000),
        ("500ms", 500),
        ("250", 250),
        (" 2M ", 120_000),
        ("1min", 60_000),
        ("1h", 3_600_000),
        ("1d", 86_400_000),
        ("5000us", 5),
    ],
)
def test_durations_as_spark_writes_them(text: str, expected: int) -> None:
    assert parse({"spark.config.provider.timeout": text}).provider_timeout == expected


@pytest.mark.parametrize("text", ["", "fast", "10 s", "1.5s", "-1s", "10x", "0", "9" * 30, "\u0661s"])
def test_what_is_not_a_duration(text: str) -> None:
    (problem,) = _problems({"spark.config.provider.timeout": text})
    assert problem.startswith("spark.config.provider.timeout: ")


@pytest.mark.parametrize("name", ["PATH", "LD_PRELOAD", "PYTHON*", "SPARK_HOME", "a b", "*", "=", "A*B"])
def test_variables_that_a_side_process_must_not_keep(name: str) -> None:
    assert parse({"spark.config.agent.variables": "AWS_*, SHOP_TOWN"}).agent_variables == (
        "AWS_*",
        "SHOP_TOWN",
    )
    (problem,) = _problems({"spark.config.agent.variables": f"AWS_*, {name}"})
    assert problem.startswith("spark.config.agent.variables: ")


def test_all_problems_in_one_error() -> None:
    problems = _problems(
        {
            "spark.config.unresolvd": "keep",
            "spark.config.unresolved": "maybe",
            "spark.config.rpc.insecure": "yes",
            "spark.config.substitution.enable": "true",
            "spark.config.something.else": "x",
        }
    )
    text = "\n".join(problems)
    assert len(problems) == 5
    assert "spark.config.unresolvd: no such setting; did you mean spark.config.unresolved?" in text
    assert "did you mean spark.config.substitution.enabled?" in text
    assert "expected one of fail, keep, got 'maybe'" in text
    assert "expected true or false, got 'yes'" in text


def test_families_are_left_to_their_loaders() -> None:
    parse(
        {
            "spark.config.providers.vault.param.url": "x",
            "spark.config.override.policy.streaming": "None",
            "spark.config.substitution.acmeSubstituterType": "acme:Type",
        }
    )


def test_foreign_providers_replace_or_add() -> None:
    assert parse({"spark.config.foreign.providers": "a, b"}).foreign_providers == {"a", "b"}
    assert parse({"spark.config.foreign.providers": "+ a, b"}).foreign_providers == DEFAULT_FOREIGN | {
        "a",
        "b",
    }
    assert parse({"spark.config.foreign.providers": ""}).foreign_providers == frozenset()


def test_values_that_are_not_text() -> None:
    assert "expected text, got bool" in _problems({"spark.config.rpc.insecure": True})[0]
