"""Resolver: one round for many expressions, both languages, what fails and why, and where values come from."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from sparkconfig import Resolver, Secret
from sparkconfig.errors import (
    AccessDeniedError,
    ConfigurationError,
    ProviderTimeoutError,
    ProviderUnavailableError,
    SecretNotFoundError,
    SubstitutionError,
    UnresolvedReferenceError,
)
from sparkconfig.language.expression import Expression
from sparkconfig.settings.schema import parse
from sparkconfig.substitution import RedactableObject, SubstituterType
from sparkconfig.testing import RecordingProvider

VALUE = "s3cret-value-0001"


def _resolver(**settings: str) -> tuple[Resolver, RecordingProvider]:
    vault = RecordingProvider({"db": {"pw": VALUE, "user": "alice"}, "down": {}, "shut": {}}, ttl=700)
    vault.fail("down", ProviderUnavailableError("no route"))
    vault.fail("shut", AccessDeniedError("not yours"))
    confs = {f"spark.config.{key.replace('_', '.')}": value for key, value in settings.items()}
    return Resolver({"vault": vault}, parse(confs)), vault


def _both(confs: dict[str, str] | None = None, **kwargs: object) -> Resolver:
    base = {"spark.config.providers": "envvar", "spark.config.substitution.enabled": "true"}
    environ = {"PW": VALUE, "USER": "alice", "REF": "${envvar:PW}", "SUB": "$[envVar=PW]"}
    return Resolver.from_confs(base | (confs or {}), environ=environ, **kwargs)


def _plain(resolved: dict[str, Secret | str]) -> dict[str, str]:
    return {key: value.reveal() if isinstance(value, Secret) else value for key, value in resolved.items()}


def test_one_round_asks_each_path_once_over_all_expressions() -> None:
    resolver, vault = _resolver()
    expressions = [
        Expression("${vault:db:pw}", "a"),
        Expression("x${vault:db:user}", "b"),
        Expression("${sys:x}"),
    ]
    resolution = resolver.resolve([*expressions, expressions[0]])
    assert [(call.path, sorted(call.keys)) for call in vault.calls] == [("db", ["pw", "user"])]
    assert not resolution.problems
    assert not resolution.failed
    assert resolution.ttls == {("vault", "db"): 700}
    first, second, foreign = (resolution.values[expression] for expression in expressions)
    assert (first.reveal(), first.redact, first.resolved) == (VALUE, True, True)
    assert second.reveal() == "xalice"
    assert (foreign.value, foreign.redact, foreign.resolved) == ("${sys:x}", False, False)
    assert VALUE not in repr(resolution)
    (source,) = resolution.provenance[expressions[0]]
    assert (source.provider, source.path, source.key, source.ttl) == ("vault", "db", "pw", 700)


def test_a_failure_is_told_apart_and_costs_the_others_nothing() -> None:
    resolver, _ = _resolver()
    expressions = {
        name: Expression(f"${{{text}}}", f"key.{name}")
        for name, text in {
            "down": "vault:down:x",
            "shut": "vault:shut:x",
            "gone": "vault:db:x",
            "typo": "valut:db:pw",
            "good": "vault:db:pw",
        }.items()
    }
    resolution = resolver.resolve(expressions.values())
    kinds = {name: [type(error) for error in resolution.failed.get(e, [])] for name, e in expressions.items()}
    assert kinds == {
        "down": [ProviderUnavailableError],
        "shut": [AccessDeniedError],
        "gone": [SecretNotFoundError],
        "typo": [ConfigurationError],
        "good": [],
    }
    assert set(resolution.values) == {expressions["good"]}
    assert len(resolution.problems) == 4
    assert resolution.problems_of(expressions["gone"])[0].startswith("key.gone: ${vault:db:x}: ")
    assert resolution.problems_of(expressions["good"]) == []


def test_keep_mode_keeps_what_is_not_there_and_reports_what_is_down() -> None:
    resolver, _ = _resolver(unresolved="keep")
    texts = ["${vault:db:x}", "${valut:db:x}", "${vault:shut:x}", "${vault:down:x}"]
    resolution = resolver.resolve([Expression(text) for text in texts])
    assert [value.reveal() for value in resolution.values.values()] == texts[:3]
    assert list(resolution.failed) == [Expression(texts[3])]


def test_resolve_map_raises_all_problems_or_gives_all_values() -> None:
    resolver, _ = _resolver()
    assert _plain(resolver.resolve_map({"a": "u=${vault:db:user}", "b": "plain", "c": "${sys:x}"})) == {
        "a": "u=alice",
        "b": "plain",
        "c": "${sys:x}",
    }
    with pytest.raises(UnresolvedReferenceError) as caught:
        resolver.resolve_map({"a": "${vault:db:pw}", "b": "${vault:db:x}", "c": "${vault:shut:x}"})
    assert [problem[:3] for problem in caught.value.problems] == ["b: ", "c: "]


def test_kafkas_own_references_in_an_option_map_stay_kafkas() -> None:
    resolver, vault = _resolver()
    options = {
        "kafka.config.providers": "file,vault",
        "kafka.config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
        "kafka.config.providers.vault.class": "com.example.VaultProvider",
        "kafka.sasl.jaas.config": "${file:/x:y} ${vault:db:pw}",
    }
    assert resolver.resolve_map(options) == options
    assert not vault.calls
    with pytest.raises(UnresolvedReferenceError, match="unknown provider 'file'"):
        resolver.resolve_map({"kafka.sasl.jaas.config": "${file:/x:y}"})


def test_a_kafka_provider_without_a_class_is_told_apart_from_an_unknown_one() -> None:
    resolver, vault = _resolver()
    options = {
        "kafka.config.providers": "broker,vault",
        "kafka.a": "${broker:x:y}",
        "kafka.b": "${vault:db:pw}",
    }
    with pytest.raises(UnresolvedReferenceError) as caught:
        resolver.resolve_map(options)
    (problem,) = caught.value.problems
    assert problem.startswith("kafka.a: kafka.config.providers lists 'broker' without the option ")
    assert "kafka.config.providers.broker.class" in problem
    assert vault.calls  # Kafka would not have asked the other one either: it is ours


def test_explain_tells_origins_and_problems_without_values() -> None:
    resolver, _ = _resolver()
    sources = resolver.explain({"a": "${vault:db:pw}", "b": "${vault:db:x}", "c": "plain"})
    assert [(s.conf_key, s.provider_class, s.key, s.ttl, s.problem is None) for s in sources] == [
        ("a", "RecordingProvider", "pw", 700, True),
        ("b", "RecordingProvider", "x", 700, False),
    ]
    assert VALUE not in repr(sources)


def test_from_confs_reports_settings_and_providers_together(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Resolver.from_confs(
            {
                "spark.config.unresolvd": "x",
                "spark.config.providers": "files,none",
                "spark.config.providers.files.class": "file",
                "spark.config.providers.files.param.allowed.paths": str(tmp_path / "none"),
            }
        )
    assert len(caught.value.problems) == 3


def test_close_closes_the_providers_once() -> None:
    closed: list[int] = []
    with Resolver({}, close=lambda: closed.append(1)), Resolver({}):
        pass
    assert closed == [1]


def test_substitutions_are_off_unless_asked_for() -> None:
    resolver, _ = _resolver()
    assert (
        resolver.resolve_map({"a": "$[envVar=PATH] ${vault:db:user}"})["a"].reveal() == "$[envVar=PATH] alice"
    )


def test_a_reference_where_it_is_text_is_reported_and_kept_in_keep_mode(
    caplog: pytest.LogCaptureFixture,
) -> None:
    texts = {
        "malformed": "$[${envvar:PW}] ${envvar:USER}",
        "misspelt": "$[enVar/defaultValue=${envvar:PW}/=X]",
        "of another key": "<$[keyValue=misspelt]>",
        "a default is text": "$[envVar/defaultValue=${envvar:PW}/=NONE]",
        "an odd password": "$[a${b:c}d]",
    }
    with _both() as failing, pytest.raises(UnresolvedReferenceError) as caught:
        failing.resolve_map(texts)
    assert [
        problem.partition(": ${envvar:PW} is inside $[...]")[:2] for problem in caught.value.problems
    ] == [(key, ": ${envvar:PW} is inside $[...]") for key in ("malformed", "misspelt", "of another key")]
    with _both({"spark.config.unresolved": "keep"}) as keeping:
        assert _plain(keeping.resolve_map(texts)) == {
            "malformed": "$[${envvar:PW}] alice",
            "misspelt": texts["misspelt"],
            "of another key": f"<{texts['misspelt']}>",
            "a default is text": "${envvar:PW}",
            "an odd password": "$[a${b:c}d]",
        }
    assert caplog.text.count("is inside") == 3


def test_problems_of_both_languages_come_together() -> None:
    resolution = _both().resolve(
        [
            Expression("$[envVar=NONE]", "a"),
            Expression("$[envVar=USER]${envvar:NONE}", "b"),
            Expression("$[keyValue=x]", "c", {"x": "${envvar:NONE}"}),
            Expression("$[keyValue=c]", "c", {}),
            Expression("$[envVar/defaultKey=never/=USER]", "d", {"never": "${envvar:NONE}"}),
        ]
    )
    kinds = [[type(error) for error in errors] for errors in resolution.failed.values()]
    assert kinds == [[SubstitutionError], [SecretNotFoundError], [SecretNotFoundError], [SubstitutionError]]
    assert [value.reveal() for value in resolution.values.values()] == ["alice"]
    assert "Circular" in resolution.problems[3]


def test_an_operators_allowlists_begin_empty_and_can_be_opened(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("content")
    texts = {
        "env": "$[envVar=USER]",
        "file": f"$[file={tmp_path}/f]",
        "prop": "$[sysProp=os.name]",
    }
    given = {"sysprops": {"os.name": "Linux"}}
    assert _plain(_both(**given).resolve_map(texts)) == {"env": "alice", "file": "content", "prop": "Linux"}
    with pytest.raises(UnresolvedReferenceError) as caught:
        _both(**given, operator=True).resolve_map(texts)
    assert len(caught.value.problems) == 3
    opened = {
        "spark.config.substitution.envVar.allowlist.pattern": "US.*",
        "spark.config.substitution.sysProp.allowlist.pattern": r"os\..*",
        "spark.config.substitution.file.allowed.paths": str(tmp_path),
    }
    resolver = _both(opened, **given, operator=True)
    assert _plain(resolver.resolve_map(texts)) == {"env": "alice", "file": "content", "prop": "Linux"}
    with pytest.raises(UnresolvedReferenceError):
        resolver.resolve_map({"x": "$[envVar=PW]"})


@pytest.mark.parametrize("empty", ["", "  "])
@pytest.mark.parametrize("operator", [False, True])
def test_an_allowlist_that_is_set_and_empty_allows_nothing(
    tmp_path: Path, empty: str, operator: bool
) -> None:
    (tmp_path / "f").write_text("content")
    prefix = "spark.config.substitution."
    lists = {
        "envVar.allowlist.pattern": "$[envVar=USER]",
        "sysProp.allowlist.pattern": "$[sysProp=os.name]",
        "file.allowed.paths": f"$[file={tmp_path}/f]",
    }
    shut = _both({prefix + name: empty for name in lists}, sysprops={"os.name": "Linux"}, operator=operator)
    with shut, pytest.raises(UnresolvedReferenceError) as caught:
        shut.resolve_map(dict(lists))
    assert len(caught.value.problems) == 3
    assert all("is not on the allowlist" in problem for problem in caught.value.problems)


class Shout(SubstituterType):
    def do_substitution(self, type, modifiers, identifier, substitutable_values):  # noqa: A002
        return RedactableObject(identifier.upper())


def test_custom_types_come_from_start_up_confs_alone() -> None:
    name = f"{__name__}:Shout"
    resolver = _both({"spark.config.substitution.shoutSubstituterType": name})
    assert resolver.resolve_map({"a": "$[shout=hey]"}) == {"a": "HEY"}
    inside = {"a": "$[shout=hey]", "shoutSubstituterType": name}
    inside["spark.config.substitution.shoutSubstituterType"] = name
    assert _both().resolve_map(inside)["a"] == "$[shout=hey]"
    with pytest.raises(ConfigurationError, match="shoutSubstituterType"):
        _both({"spark.config.substitution.shoutSubstituterType": "no.such:Type"})


class Hang(SubstituterType):
    release = threading.Event()

    def do_substitution(self, type, modifiers, identifier, substitutable_values):  # noqa: A002
        Hang.release.wait()
        return RedactableObject("late")


def test_a_custom_type_that_hangs_ends_at_the_deadline_and_others_answer() -> None:
    Hang.release.clear()
    prefix = "spark.config.substitution."
    confs = {f"{prefix}hangSubstituterType": f"{__name__}:Hang", "spark.config.provider.timeout": "200ms"}
    texts = {"first": "$[envVar=USER]", "a": "$[hang=x]", "b": "$[keyValue=a]", "plain": "${envvar:USER}"}
    try:
        with _both(confs) as resolver:
            resolution = resolver.resolve([Expression(text, key, texts) for key, text in texts.items()])
    finally:
        Hang.release.set()
    assert {e.key: v.reveal() for e, v in resolution.values.items()} == {"first": "alice", "plain": "alice"}
    assert {e.key: [type(error) for error in errors] for e, errors in resolution.failed.items()} == {
        "a": [ProviderTimeoutError],
        "b": [ProviderTimeoutError],
    }
    assert "a: a substitution type did not answer within 200 ms" in resolution.problems[0]


@pytest.mark.timeout(60)  # siblings of its own for each value would be 100 million entries
def test_ten_thousand_values_of_one_map_share_their_siblings() -> None:
    configs = {f"k{index}": "${vault:db:user}" for index in range(10_000)}
    resolver, _ = _resolver()
    assert len(resolver.resolve_map(configs)) == len(configs)
