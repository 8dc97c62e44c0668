"""Both languages in one map: order, sharing within a round, attribution of what is missing, linear work."""

import time

import pytest

from sparkconfig import Secret
from sparkconfig.errors import UnresolvedReferenceError
from sparkconfig.language.expression import Expression
from sparkconfig.language.mixed import MixedLanguage
from sparkconfig.resolution.resolver import Resolver
from sparkconfig.settings.schema import Settings
from sparkconfig.testing import ProviderCall, RecordingProvider


def store(**data):
    return RecordingProvider({"p": data})


def resolver(provider):
    language = MixedLanguage(sysprops={"x": "${v:p:user}"})
    return Resolver({"v": provider}, Settings(substitution_enabled=True), language=language)


def revealed(resolved):
    return {k: v.reveal() if isinstance(v, Secret) else v for k, v in resolved.items()}


def test_substitutions_first_then_references_in_the_text_between():
    provider = store(user="ada", odd="$[sysProp=x]${v:p:user}")
    with resolver(provider) as both:
        resolved = both.resolve_map(
            {
                "a": "${v:p:user}@$[sysProp=x]",
                "b": "<$[keyValue=a]>",
                "c": "${v:p:odd}$[]",
                "d": "$[${odd:p:user}]",
                "e": "${v:p$[]:user}",
                "f": "plain",
                "g": "$[sysProp=x]",
            }
        )
    assert revealed(resolved) == {
        "a": "ada@${v:p:user}",
        "b": "<ada@${v:p:user}>",
        "c": "$[sysProp=x]${v:p:user}",
        "d": "$[${odd:p:user}]",
        "e": "${v:p:user}",
        "f": "plain",
        "g": "${v:p:user}",
    }
    assert {k for k, v in resolved.items() if isinstance(v, Secret)} == {"a", "b", "c"}
    assert provider.calls == [ProviderCall("p", frozenset({"odd", "user"}))]


def test_a_missing_reference_is_told_for_every_key_that_used_it():
    with resolver(store()) as both, pytest.raises(UnresolvedReferenceError) as caught:
        both.resolve_map(
            {
                "a": "$[keyValue=b]!",
                "b": "x$[keyValue=c]",
                "c": "${v:p:none}",
                "d": "$[sysProp/defaultKey=c/=x]",
            }
        )
    assert len(caught.value.problems) == 3
    for key, problem in zip("abc", caught.value.problems, strict=True):
        assert key in problem
        assert "none" in problem


def test_provenance_reaches_through_keys():
    with resolver(store(k="1", l="2")) as both:
        sources = both.explain({"a": "$[keyValue=b]${v:p:k}", "b": "${v:p:l}"})
    assert [(s.conf_key, s.key) for s in sources] == [("a", "k"), ("a", "l"), ("b", "l")]


def test_an_expression_with_its_own_siblings():
    with resolver(store(k="1")) as both:
        one = Expression("$[keyValue=b]", "a", {"b": "${v:p:k}"})
        two = Expression("$[keyValue=b]", None, {"b": "other"})
        resolution = both.resolve([one, two])
    assert resolution.values[one].reveal() == "1"
    assert resolution.values[two].reveal() == "other"


def test_a_new_round_sees_new_values():
    provider = store(k="1")
    with resolver(provider) as both:
        values = {"a": "$[keyValue=b]", "b": "${v:p:k}"}
        assert both.resolve_map(values)["a"].reveal() == "1"
        provider.set("p", {"k": "2"})
        assert both.resolve_map(values)["a"].reveal() == "2"


@pytest.mark.parametrize(
    "end", ["end", "${v:p:k}", None, "$[keyValue=k0]"], ids=["plain", "ref", "broken", "circle"]
)
def test_a_chain_is_walked_once(end):
    """From each of 20,000 keys to the end would be 200 million steps."""
    count = 20_000
    chain = {f"k{i}": f"$[keyValue=k{i + 1}]" for i in range(count)}
    if end is not None:
        chain[f"k{count}"] = end
    started = time.process_time()
    with resolver(store(k="end")) as both:
        if end in ("end", "${v:p:k}"):
            assert set(revealed(both.resolve_map(chain)).values()) == {"end"}
        else:
            with pytest.raises(UnresolvedReferenceError):
                both.resolve_map(chain)
    assert time.process_time() - started < 30


def test_a_wide_map_is_walked_once():
    values = {f"k{i}": "$[keyValue/fromValueOfKey/=which]" for i in range(5000)}
    values |= {f"p{i}": f"value {i}" for i in range(20_000)} | {"which": "p1"}
    started = time.process_time()
    with resolver(store()) as both:
        assert both.resolve_map(values)["k7"] == "value 1"
    assert time.process_time() - started < 30
