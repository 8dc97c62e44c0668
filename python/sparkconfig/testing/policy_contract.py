"""The contract of an override policy as a pytest suite."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest

from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.base import OverridePolicy
from sparkconfig.policy.request import JOB_TYPES, SCOPES, ConfigValue, OverrideRequest, ReferenceUse
from sparkconfig.testing.contract import assert_silent, text_of

__all__ = ["PolicyCase", "PolicyContract"]


@dataclass(frozen=True)
class PolicyCase:
    """One policy, and what it decides.

    Attributes:
        policy: the class; the suite makes and closes its own objects.
        params: its params.
        defaults: confs that the operator sets.
        allowed: names and values that a job of this kind may set.
        denied: names and values that it may not set. Values of eight characters or more, found nowhere else, since
            the suite searches errors and logs for them.
        job_type: one of ``sparkconfig.policy.request.JOB_TYPES``.
        scope: one of ``sparkconfig.policy.request.SCOPES``.
    """

    policy: type[OverridePolicy]
    params: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, str] = field(default_factory=dict)
    allowed: Mapping[str, str] = field(default_factory=dict)
    denied: Mapping[str, str] = field(default_factory=dict)
    job_type: str = "batch"
    scope: str = "application"

    def request(self, props: Mapping[str, object], **fields: str) -> OverrideRequest:
        """A request of such a job about ``props``."""
        return OverrideRequest(
            "contract",
            fields.get("job_type", self.job_type),
            scope=fields.get("scope", self.scope),
            props=props,
        )


class PolicyContract:
    """What sparkconfig relies on; a failing test names keys and never shows a value.

    Subclass it, and give the fixture ``case``::

        class TestClusterSize(PolicyContract):
            @pytest.fixture
            def case(self):
                return PolicyCase(
                    ClusterSize,
                    params={"most": "8"},
                    allowed={"spark.executor.instances": "4"},
                    denied={"spark.executor.instances.max": "99999999"},
                )
    """

    @pytest.fixture
    @abstractmethod
    def case(self) -> PolicyCase:
        """The policy under test; every subclass supplies its own."""
        raise NotImplementedError("give a fixture named 'case' that returns a PolicyCase")

    @pytest.fixture
    def policy(self, case: PolicyCase) -> Iterator[OverridePolicy]:
        """A configured policy, closed after the test."""
        made = case.policy()
        try:
            made.configure(case.params, case.defaults)
            yield made
        finally:
            made.close()

    # Decisions.

    def test_what_is_allowed_is_allowed(self, policy: OverridePolicy, case: PolicyCase) -> None:
        answers = policy.validate(case.request(case.allowed))
        wrong = [each.name for each in answers if not each.allowed]
        assert not wrong, f"refused: {wrong}"

    def test_what_is_denied_is_denied_and_says_why(self, policy: OverridePolicy, case: PolicyCase) -> None:
        answers = policy.validate(case.request(case.denied))
        wrong = [each.name for each in answers if each.allowed]
        assert not wrong, f"allowed: {wrong}"
        assert all(error.strip() for each in answers for error in each.errors), "an error without a text"

    def test_each_property_has_one_answer(self, policy: OverridePolicy, case: PolicyCase) -> None:
        """A property without an answer would count as refused, one with two as what the last one says."""
        props = {**case.allowed, **case.denied}
        answers = policy.validate(case.request(props))
        assert {type(each) for each in answers} <= {ConfigValue}
        names = sorted(each.name for each in answers)
        assert names == sorted(props), f"answered: {names}"
        assert [each.name for each in answers if each.value != props[each.name]] == [], "a value was changed"
        assert policy.validate(case.request({})) == []

    def test_a_decision_does_not_depend_on_the_others(self, policy: OverridePolicy, case: PolicyCase) -> None:
        props = {**case.allowed, **case.denied}
        together = {each.name: each.allowed for each in policy.validate(case.request(props))}
        for name, value in props.items():
            (alone,) = policy.validate(case.request({name: value}))
            assert alone.allowed == together[name], f"{name} alone and with others"

    def test_every_kind_of_job_and_place_is_answered(self, policy: OverridePolicy, case: PolicyCase) -> None:
        props = {**case.allowed, **case.denied}
        for job_type in JOB_TYPES:
            for scope in SCOPES:
                request = case.request(props, job_type=job_type, scope=scope)
                assert len(policy.validate(request)) == len(props), f"a {job_type} job, {scope}"

    def test_threads_share_one_policy(self, policy: OverridePolicy, case: PolicyCase) -> None:
        request = case.request({**case.allowed, **case.denied})
        expected = [(each.name, each.errors) for each in policy.validate(request)]
        with ThreadPoolExecutor(8) as pool:
            several = [each.result() for each in [pool.submit(policy.validate, request) for _ in range(32)]]
        assert all([(each.name, each.errors) for each in answers] == expected for answers in several)

    def test_the_other_questions_have_answers_of_their_kind(
        self, policy: OverridePolicy, case: PolicyCase
    ) -> None:
        request = case.request({})
        for name in {**case.allowed, **case.denied}:
            assert type(policy.names(request, name)) is bool
            why, _ = policy.check_reference(request, ReferenceUse(name, "vault", "db/prod", "password"))
            assert why is None or why.strip()
            assert policy.about_missing(request, name) is None or isinstance(
                policy.about_missing(request, name), str
            )
        assert {type(policy.evaluates_statements(job_type)) for job_type in JOB_TYPES} == {bool}
        for texts in (policy.defaults(request), policy.required(request)):
            assert all(isinstance(name, str) and isinstance(text, str) for name, text in texts.items())

    # Life cycle.

    def test_close_without_configure_is_harmless(self, case: PolicyCase) -> None:
        case.policy().close()

    def test_an_unknown_param_is_refused_by_name(self, case: PolicyCase) -> None:
        made = case.policy()
        with pytest.raises(ConfigurationError, match=r"no\.such\.param") as caught:
            made.configure({**case.params, "no.such.param": "x-value-of-it"}, case.defaults)
        made.close()
        assert_silent(text_of(caught.value), ["x-value-of-it"], "the error")

    # Silence.

    def test_nothing_shows_a_value(
        self, case: PolicyCase, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
    ) -> None:
        props = {**case.allowed, **case.denied}
        hidden = [value for value in props.values() if len(value) >= 8]
        with caplog.at_level(logging.DEBUG), case.policy() as policy:
            policy.configure(case.params, case.defaults)
            answers = policy.validate(case.request(props))
            texts = [
                repr(policy),
                str(policy),
                *(text for each in answers for text in (*each.errors, str(each))),
            ]
        assert_silent("\n".join(texts), hidden, "repr, str or an error")
        assert_silent(caplog.text, hidden, "the log (at level DEBUG)")
        assert_silent("".join(capfd.readouterr()), hidden, "the standard streams")
