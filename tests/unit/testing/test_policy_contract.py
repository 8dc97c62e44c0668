"""The contract suite of policies passes the built-in ones and catches each kind of bad one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sparkconfig import ConfigValue, OverridePolicy
from sparkconfig.errors import ConfigurationError
from sparkconfig.policy.builtin.all import AllPolicy
from sparkconfig.policy.builtin.allowlist import AllowlistPolicy
from sparkconfig.policy.builtin.none import NonePolicy
from sparkconfig.policy.builtin.rules import RulesPolicy
from sparkconfig.testing import PolicyCase, PolicyContract

FREE = {"spark.sql.shuffle.partitions": "canary-71-free"}
TAKEN = {"spark.executor.memory": "canary-72-taken", "spark.jars": "canary-73-taken"}


class TestAll(PolicyContract):
    @pytest.fixture
    def case(self) -> PolicyCase:
        return PolicyCase(AllPolicy, allowed={**FREE, **TAKEN})


class TestNone(PolicyContract):
    @pytest.fixture
    def case(self) -> PolicyCase:
        return PolicyCase(NonePolicy, denied={**FREE, **TAKEN})


class TestAllowlist(PolicyContract):
    @pytest.fixture
    def case(self) -> PolicyCase:
        return PolicyCase(
            AllowlistPolicy, {"allowlist": "spark.sql.shuffle.partitions"}, allowed=FREE, denied=TAKEN
        )


class TestRules(PolicyContract):
    @pytest.fixture
    def case(self, tmp_path: Path) -> PolicyCase:
        document = tmp_path / "rules.json"
        rules = [
            {"key": "spark.sql.shuffle.partitions", "type": "unlimited"},
            {"key": "spark.executor.memory", "type": "forbidden"},
            {"key": "spark.jars", "type": "fixed", "value": "none"},
        ]
        document.write_text(json.dumps({"rules": rules}))
        return PolicyCase(RulesPolicy, {"file": str(document)}, allowed=FREE, denied=TAKEN)


class Good(OverridePolicy):
    def configure(self, params: dict, defaults: dict) -> None:
        if params:
            raise ConfigurationError(f"unknown param {sorted(params)}")

    def validate(self, request):
        return [
            ConfigValue(name, value, self.errors(name, value, request))
            for name, value in request.props.items()
        ]

    def errors(self, name, value, request):
        return () if name in FREE else ("it is the operator's",)


class ShowsValues(Good):
    def errors(self, name, value, request):
        return () if name in FREE else (f"{value} is not allowed",)


class LeavesOut(Good):
    def validate(self, request):
        return super().validate(request)[1:]


class SaysNothing(Good):
    def errors(self, name, value, request):
        return () if name in FREE else (" ",)


class LooksAtOthers(Good):
    def errors(self, name, value, request):
        return () if len(request.props) == 1 else ("too many",)


class KnowsBatchAlone(Good):
    def errors(self, name, value, request):
        return {"batch": super().errors(name, value, request)}[request.job_type]


class TakesAnyParam(Good):
    def configure(self, params, defaults):
        pass


class NeedsConfigure(Good):
    def configure(self, params, defaults):
        super().configure(params, defaults)
        self.opened = []

    def close(self):
        self.opened.clear()


class AnswersText(Good):
    def names(self, request, name):
        return "yes"


CHECKS = [name for name in vars(PolicyContract) if name.startswith("test_")]


@pytest.fixture
def failing(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> Callable[[type[OverridePolicy]], set[str]]:
    def failing(kind: type[OverridePolicy]) -> set[str]:
        case = PolicyCase(kind, allowed=FREE, denied=TAKEN)
        found, texts = set(), []
        for name in CHECKS:
            made = kind()
            made.configure({}, {})
            check = getattr(PolicyContract(), name)
            wanted = {"case": case, "policy": made, "caplog": caplog, "capfd": capfd}
            given = {key: wanted[key] for key in check.__code__.co_varnames[1 : check.__code__.co_argcount]}
            try:
                check(**given)
            except (Exception, pytest.fail.Exception) as error:
                texts.append(str(error))
                found.add(name)
        assert "canary" not in "".join(texts)
        return found

    return failing


@pytest.mark.parametrize(
    ("kind", "caught"),
    [
        (Good, set()),
        (ShowsValues, {"test_nothing_shows_a_value"}),
        (SaysNothing, {"test_what_is_denied_is_denied_and_says_why"}),
        (KnowsBatchAlone, {"test_every_kind_of_job_and_place_is_answered"}),
        (TakesAnyParam, {"test_an_unknown_param_is_refused_by_name"}),
        (AnswersText, {"test_the_other_questions_have_answers_of_their_kind"}),
    ],
)
def test_a_bad_policy_fails_where_it_is_bad(failing, kind: type[OverridePolicy], caught: set[str]) -> None:
    assert failing(kind) == caught


@pytest.mark.parametrize(
    ("kind", "caught"),
    [
        (LeavesOut, "test_each_property_has_one_answer"),
        (LooksAtOthers, "test_a_decision_does_not_depend_on_the_others"),
        (NeedsConfigure, "test_close_without_configure_is_harmless"),
    ],
)
def test_a_worse_one_fails_in_several_places(failing, kind: type[OverridePolicy], caught: str) -> None:
    assert caught in failing(kind)
