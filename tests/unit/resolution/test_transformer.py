"""ConfigTransformer: both modes, all errors at once, hostile providers, and nothing of a value in an error."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Set

import pytest

from sparkconfig import ConfigData, ConfigProvider, ConfigTransformer, Secret, reverse_transform
from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    SecretNotFoundError,
    SparkConfigError,
    UnresolvedReferenceError,
)
from sparkconfig.testing import RecordingProvider

VALUE = "s3cret-value-0001"


class Answering(ConfigProvider):
    """Answers with whatever it was given, of any type, or raises it."""

    def __init__(self, answer: object) -> None:
        self._answer = answer

    def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
        if isinstance(self._answer, BaseException):
            raise self._answer
        if callable(self._answer):
            return self._answer()
        return self._answer


def _fail(configs: dict[str, object], **providers: ConfigProvider) -> list[str]:
    with pytest.raises(UnresolvedReferenceError) as caught:
        ConfigTransformer(providers, unresolved="fail").transform(configs)
    return list(caught.value.problems)


def test_a_resolved_value_is_a_secret_and_the_rest_is_what_was_given() -> None:
    vault = RecordingProvider({"db": {"pw": VALUE}})
    configs = {"a": "x-${vault:db:pw}", "b": "plain", "c": None, "d": object(), "e": "${sys:x}", "f": "${x}"}
    result = ConfigTransformer({"vault": vault}, unresolved="fail").transform(configs)
    assert isinstance(result.data["a"], Secret)
    assert result.reveal() == {**configs, "a": f"x-{VALUE}"}
    assert VALUE not in repr(result)


def test_fail_mode_reports_everything_at_once_and_says_what_to_do() -> None:
    problems = _fail(
        {
            "k.denied": "${vault:forbidden:pw}",
            "k.down": "${vault:down:pw}",
            "k.missing": "${vault:db:nope} ${vault:db:nope}",
            "k.typo": "${valut:db:pw}",
            "k.good": "${vault:db:pw}",
        },
        vault=_scripted(),
    )
    assert len(problems) == 4
    denied, down, missing, typo = problems
    assert denied.startswith("k.denied: ${vault:forbidden:pw}: ")
    assert "ask for access" in denied
    assert "store is up" in down
    assert "'nope' at path 'db'" in missing
    assert "did you mean 'vault'?" in typo
    assert "spark.config.foreign.providers" in typo
    assert VALUE not in "".join(problems)


def _scripted() -> RecordingProvider:
    provider = RecordingProvider({"db": {"pw": VALUE}, "forbidden": {}, "down": {}})
    provider.fail("forbidden", AccessDeniedError("not yours"))
    provider.fail("down", ProviderUnavailableError("no route"))
    return provider


def test_an_unknown_provider_name_shows_no_text_that_may_be_a_password() -> None:
    (problem,) = _fail({"k": "hunter2${x!secret:path-secret:key-secret}"})
    assert "secret" not in problem.replace("spark.config", "")
    assert problem.startswith("k: ")
    (problem,) = _fail({"k": "hunter2${valut:path-hush:key-hush}"})
    assert "'valut'" in problem
    assert "hush" not in problem


def test_keep_mode_leaves_text_byte_for_byte_and_raises_what_is_broken() -> None:
    configs = {"a": "${vault:db:nope} ${other:x:y} ${vault:forbidden:x}", "b": "${vault:db:pw}"}
    result = ConfigTransformer({"vault": _scripted()}).transform(configs)
    assert result.reveal() == {**configs, "b": VALUE}
    with pytest.raises(ProviderUnavailableError, match="no route"):
        ConfigTransformer({"vault": _scripted()}).transform({"a": "${vault:down:x}"})


def test_keep_mode_hides_no_second_broken_provider() -> None:
    broken = {name: Answering(ProviderUnavailableError(f"{name} is down")) for name in ("one", "two")}
    with pytest.raises(UnresolvedReferenceError, match=r"one is down[\s\S]*two is down"):
        ConfigTransformer(broken).transform({"a": "${one:k}", "b": "${two:k}"})


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (None, "NoneType, not ConfigData"),
        ({"k": VALUE}, "dict, not ConfigData"),
        (VALUE, "str, not ConfigData"),
        (ConfigData({"k": VALUE.encode()}), "key 'k' is bytes, not text"),
        (ConfigData({"k": 5}), "key 'k' is int, not text"),
        (ConfigData({"k": Secret(VALUE)}), "key 'k' is Secret"),
        (ConfigData({"k": VALUE}, ttl="soon"), "the ttl is str"),
        (ConfigData({"k": VALUE}, ttl=True), "the ttl is bool"),
        (ConfigData({"k": VALUE}, ttl=1.5), "the ttl is float"),
        (RuntimeError(f"401 for {VALUE}"), "failed at path 'p' with RuntimeError"),
        (RecursionError(), "RecursionError"),
        (KeyError(VALUE), "KeyError"),
    ],
)
@pytest.mark.parametrize("mode", ["keep", "fail"])
@pytest.mark.parametrize("timeout_ms", [None, 5000])
def test_wrong_answers_and_foreign_exceptions_are_clear_errors_without_a_value(
    answer, said, mode, timeout_ms
) -> None:
    transformer = ConfigTransformer({"x": Answering(answer)}, unresolved=mode, timeout_ms=timeout_ms)
    with pytest.raises(SparkConfigError) as caught:
        transformer.transform({"a": "${x:p:k}"})
    transformer.close()
    assert said in str(caught.value)
    assert VALUE not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_what_was_not_asked_for_is_ignored_even_of_a_wrong_type() -> None:
    answer = ConfigData({"k": "v", "other": 5, "none": None})
    result = ConfigTransformer({"x": Answering(answer)}).transform({"a": "${x:k}${x:none}"})
    assert result.reveal() == {"a": "v${x:none}"}


def test_errors_of_a_provider_lose_their_cause_and_their_frames() -> None:
    def get() -> ConfigData:
        response = VALUE
        try:
            raise RuntimeError(response)
        except RuntimeError as error:
            raise SecretNotFoundError("no such path") from error

    with pytest.raises(UnresolvedReferenceError) as caught:
        ConfigTransformer({"x": Answering(get)}, unresolved="fail").transform({"a": "${x:p:k}"})
    error = caught.value
    while error is not None:
        frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
        in_package = [f for f in frames if "sparkconfig" in f.f_globals.get("__name__", "")]
        assert VALUE not in "".join(repr(f.f_locals) for f in in_package)
        error = error.__cause__ or error.__context__


def test_a_failing_transform_leaves_no_other_value_in_its_frames() -> None:
    with pytest.raises(UnresolvedReferenceError) as caught:
        ConfigTransformer({"vault": _scripted()}, unresolved="fail").transform(
            {"good": "${vault:db:pw}", "bad": "${vault:db:nope}"}
        )
    for frame, _ in traceback.walk_tb(caught.value.__traceback__):
        if frame.f_globals.get("__name__", "").startswith("sparkconfig."):
            assert VALUE not in repr(frame.f_locals)


def test_a_hanging_provider_ends_at_its_deadline_and_the_others_answer() -> None:
    never = threading.Event()
    transformer = ConfigTransformer(
        {"hung": Answering(never.wait), "vault": RecordingProvider({"db": {"pw": VALUE}})},
        unresolved="keep",
        timeout_ms=100,
    )
    with pytest.raises(ProviderTimeoutError, match=r"'hung' did not answer for path 'p' within 100 ms"):
        transformer.transform({"a": "${hung:p:k}", "b": "${vault:db:pw}"})
    assert transformer.transform({"b": "${vault:db:pw}"}).reveal() == {"b": VALUE}
    never.set()
    transformer.close()


def test_a_hundred_thousand_unresolved_references_give_a_message_of_human_size() -> None:
    text = "".join(f"${{vault:db:missing{index}}}" for index in range(100_000))
    with pytest.raises(UnresolvedReferenceError) as caught:
        ConfigTransformer({"vault": _scripted()}, unresolved="fail").transform({"k": text})
    assert len(caught.value.problems) == 201
    assert caught.value.problems[-1] == "... and 99800 more"
    assert len(str(caught.value)) < 50_000


def test_a_gigantic_reference_gives_a_message_of_human_size() -> None:
    (problem,) = _fail({"k" * 100_000: "${vault:" + "p" * 5_000_000 + ":k}"}, vault=RecordingProvider({}))
    assert len(problem) < 2_000


@pytest.mark.parametrize("odd", ["a\0b", "\ud800", "line\nbreak", "\u202e"])
def test_odd_characters_pass_and_never_break_a_message(odd: str) -> None:
    provider = RecordingProvider({odd: {odd: odd}})
    transformed = ConfigTransformer({"x": provider}).transform({odd: f"${{x:{odd}:{odd}}}"})
    assert transformed.reveal() == {odd: odd}
    (problem,) = _fail({odd: f"${{x:{odd}:other{odd}}}"}, x=provider)
    assert problem.encode()
    assert "\n" not in problem


def test_places_are_asked_and_errors_are_listed_in_the_order_of_the_map() -> None:
    asked: list[str] = []

    class Noting(ConfigProvider):
        def get(self, path: str, keys: Set[str] | None = None) -> ConfigData:
            asked.append(path)
            return ConfigData({})

    problems = _fail({"1": "${x:a:k}", "2": "${x:b:k}${x:c:k}", "3": "${x:d:k}", "4": "${x:a:l}"}, x=Noting())
    assert asked == ["a", "b", "c", "d"]
    assert [problem[:10] for problem in problems] == [
        "1: ${x:a:k", "2: ${x:b:k", "2: ${x:c:k", "3: ${x:d:k", "4: ${x:a:l",
    ]  # fmt: skip


def test_the_input_is_not_changed_and_any_mapping_will_do() -> None:
    from types import MappingProxyType

    given = {"a": "${vault:db:pw}"}
    result = ConfigTransformer({"vault": _scripted()}).transform(MappingProxyType(given))
    assert given == {"a": "${vault:db:pw}"}
    assert result.reveal() == {"a": VALUE}


def test_a_registered_provider_may_have_a_foreign_name() -> None:
    result = ConfigTransformer({"sys": RecordingProvider({"": {"k": "v"}})}, unresolved="fail").transform(
        {"a": "${sys:k}"}
    )
    assert result.reveal() == {"a": "v"}
    assert _fail({"a": "${sys:other}"}, sys=RecordingProvider({"": {}}))


def test_unknown_mode() -> None:
    with pytest.raises(ConfigurationError, match="'keep' or 'fail'"):
        ConfigTransformer({}, unresolved="ignore")


def test_reverse_transform_puts_references_back_where_the_key_is() -> None:
    raw = {"a": "x ${v:p:k}", "b": "plain", "c": "${v:p:k}", "n": None, "s": "${name}"}
    derived = {"a": "x resolved", "b": "changed", "other": "resolved", "n": "now", "s": "t"}
    assert reverse_transform(raw, derived) == {**derived, "a": "x ${v:p:k}"}
