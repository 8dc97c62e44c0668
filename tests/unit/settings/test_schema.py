"""Settings: declared once, read together, wrong ones reported together."""

from __future__ import annotations

import pytest

from sparkconfig.errors import ConfigurationError
from sparkconfig.settings.foreign import DEFAULT_FOREIGN
from sparkconfig.settings.kinds import DURATION
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
        ("200000us", 200),
    ],
)
def test_durations_as_spark_writes_them(text: str, expected: int) -> None:
    assert parse({"spark.config.provider.timeout": text}).provider_timeout == expected


WRONG_DURATIONS = {
    "": "such as 500ms", "fast": "such as 500ms", "1.5s": "such as 500ms", "10x": "such as 500ms",
    "9" * 30: "such as 500ms",
    "\u0661s": "such as 500ms", "1e3": "such as 500ms", "10s 5ms": "such as 500ms", "PT5S": "such as 500ms",
    "s": "such as",
    "-1s": "at least", "-5": "at least", "- 5s": "at least", "9999999999d": "at most 3650d",
    "999999999999999": "at most",
    "3651d": "at most", "87601h": "at most", "Infinity": "such as",
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG_DURATIONS)
@pytest.mark.parametrize("name", [each.name for each in declared() if each.metadata["kind"].name == DURATION])
def test_what_is_not_a_duration(name: str, text: str) -> None:
    """Of every setting that is one."""
    setting = next(each.metadata["name"] for each in declared() if each.name == name)
    (problem,) = _problems({setting: text})
    assert problem.startswith(f"{setting}: expected ")
    assert WRONG_DURATIONS[text] in problem
    assert getattr(parse({setting: "3650d"}), name) == 315_360_000_000


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


def test_foreign_providers_replace_or_add() -> None:
    assert parse({"spark.config.foreign.providers": "a, b"}).foreign_providers == {"a", "b"}
    assert parse({"spark.config.foreign.providers": "+ a, b"}).foreign_providers == DEFAULT_FOREIGN | {
        "a",
        "b",
    }
    assert parse({"spark.config.foreign.providers": ""}).foreign_providers == frozenset()


def test_values_that_are_not_text() -> None:
    assert "expected text, got bool" in _problems({"spark.config.rpc.insecure": True})[0]
