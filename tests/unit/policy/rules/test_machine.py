"""A policy document that an operator edits, beside a slow model of which rule decides."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from fuzz import policy_model as model
from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.builtin.rules import RulesPolicy
from sparkconfig.policy.request import JOB_TYPES, OverrideRequest
from sparkconfig.policy.rules.document import parse
from sparkconfig.policy.rules.rulebook import load
from sparkconfig.settings.scopes import Scope
from support.machines import limits

KEYS = st.sampled_from(
    ["spark.acme.x", "spark.acme.y", "spark.acme.*", "spark.*", "*", "Spark.Acme.X", "*.x"]
)
NAMES = st.sampled_from(
    ["spark.acme.x", "SPARK.ACME.X", "spark.acme.y", "spark.acme.z", "spark.other", "acme.z"]
)
TEXTS = st.sampled_from(["a", "b", "A", "true", "False", " b "])
SCOPES = st.sampled_from(get_args(Scope))
JOBS = st.sampled_from(JOB_TYPES)


@st.composite
def elements(draw: st.DrawFn) -> dict[str, Any]:
    """One rule."""
    kind = draw(st.sampled_from(["fixed", "forbidden", "unlimited", "allowlist", "blocklist"]))
    made: dict[str, Any] = {"key": draw(KEYS), "type": kind}
    if kind == "fixed":
        made["value"] = draw(TEXTS)
    if kind in ("allowlist", "blocklist"):
        made["values"] = draw(st.lists(TEXTS, min_size=1, max_size=3))
    if draw(st.booleans()):
        made["jobTypes"] = draw(st.lists(JOBS, min_size=1, max_size=2, unique=True))
    if draw(st.booleans()):
        made["scopes"] = draw(st.lists(SCOPES, min_size=1, max_size=2, unique=True))
    if kind not in ("fixed", "forbidden") and "*" not in made["key"]:
        made["isOptional"] = draw(st.booleans())
    return made


class PolicyDocument(RuleBasedStateMachine):
    """Each question goes to a policy that was read anew; the order of rules never matters."""

    def __init__(self) -> None:
        super().__init__()
        self.rules: list[dict[str, Any]] = []

    @rule(element=elements(), place=st.integers(0, 9))
    def add(self, element: dict[str, Any], place: int) -> None:
        self.rules.insert(place, element)

    @precondition(lambda self: self.rules)
    @rule(place=st.integers(0, 9))
    def take_away(self, place: int) -> None:
        del self.rules[place % len(self.rules)]

    @precondition(lambda self: self.rules)
    @rule(job=JOBS, scope=SCOPES, name=NAMES, value=st.one_of(st.none(), TEXTS, st.just("${vault:p:k}")))
    def ask(self, job: str, scope: str, name: str, value: str | None) -> None:
        expected = model.allowed(self.rules, job, scope, name, value)
        for rules in (self.rules, self.rules[::-1]):
            document = parse("// edited\n" + json.dumps({"rules": rules}, indent=1), "policy.json")
            policy = RulesPolicy()
            policy.use(load(document))
            request = OverrideRequest(job_name="job", job_type=job, scope=scope, props={name: value})
            (found,) = policy.validate(request)
            assert policy.names(request, name) == (expected is not None)
            assert (not found.errors) == bool(expected), found.errors


TOKENS = [
    *'{}[]:,"\\\n #=.\x00é\t',
    "//",
    "/*",
    "*/",
    '"a":',
    '"a":1,',
    "[[1]]",
    "NaN",
    "-0",
    "1e999",
    "true",
    "\\u0061",
]


@given(st.lists(st.sampled_from(TOKENS), max_size=20).map("".join).flatmap(lambda inner: st.sampled_from(
    [inner, f"{{{inner}}}", f'{{"a": [{inner}]}}'])))  # fmt: skip
@limits(least=100)
def test_a_document_is_what_the_model_reads_with_the_lines_of_its_fields(text: str) -> None:
    try:
        expected = model.parse(text)
    except (model.RepeatedNameError, ValueError):
        expected = None
    if not isinstance(expected, dict):
        with pytest.raises(ConfigurationError) as caught:
            parse(text, "p.json")
        assert str(caught.value).replace("\n", "").isprintable()
        return
    found = parse(text, "p.json")
    assert found.data == expected
    assert dict(found.lines) == model.lines(text)


TestPolicyDocument = PolicyDocument.TestCase
TestPolicyDocument.settings = limits(25)
