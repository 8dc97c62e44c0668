"""Request, answer and policy: the contract of KIP-458."""

import pytest

from sparkconfig.errors import ConfigurationError
from sparkconfig.policy import ConfigValue, OverridePolicy, OverrideRequest
from sparkconfig.policy.loader import load_policies, make_policy

CANARY = "s3cret-canary-4711"


def request(props=None, **fields):
    return OverrideRequest(**{"job_name": "job", "job_type": "batch", "props": props or {}, **fields})


def test_a_request_is_read_only_and_keeps_its_own_copy():
    props = {"a": "1"}
    asked = request(props)
    props["b"] = "2"
    assert dict(asked.props) == {"a": "1"}
    with pytest.raises(TypeError):
        asked.props["c"] = "3"
    with pytest.raises(AttributeError):
        asked.scope = "session"


def test_requests_are_equal_by_content_and_can_be_hashed():
    assert request({"a": "1"}) == request({"a": "1"})
    assert hash(request({"a": "1"})) == hash(request({"a": "1"}))
    assert request({"a": "1"}) != request({"a": "2"})
    assert request(scope="session") != request()


def test_texts_of_requests_and_answers_name_keys_and_hide_values():
    texts = [
        repr(request({"the.key": CANARY})),
        str(request({"the.key": CANARY})),
        repr(ConfigValue("the.key", CANARY, ("no",))),
        str(ConfigValue("the.key", CANARY, ("no",))),
    ]
    assert all("the.key" in text and CANARY not in text for text in texts)


def test_a_request_with_many_properties_has_a_short_text():
    assert len(repr(request({f"key.{n}": "v" for n in range(10_000)}))) < 1500


@pytest.mark.parametrize(("field", "value"), [("job_type", "bach"), ("scope", "sesion"), ("props", {1: "x"})])
def test_wrong_requests_are_refused(field, value):
    with pytest.raises(ConfigurationError):
        request(**{field: value})


def test_errors_can_be_given_as_one_text():
    assert ConfigValue("a", "b", "not so").errors == ("not so",)
    assert not ConfigValue("a", "b", "not so").allowed
    assert ConfigValue("a").allowed


class Picky(OverridePolicy):
    made = None

    def __init__(self):
        Picky.made = self
        self.closed = 0

    def configure(self, params, defaults):
        self.params, self.defaults = params, defaults
        if "fail" in params:
            raise RuntimeError(CANARY)

    def validate(self, request):
        return [ConfigValue(name, value) for name, value in request.props.items()]

    def close(self):
        self.closed += 1


@pytest.fixture
def picky(monkeypatch):
    import sys
    import types

    module = types.ModuleType("picky_policies")
    module.Picky = Picky
    module.Other = dict
    monkeypatch.setitem(sys.modules, "picky_policies", module)
    return "picky_policies"


def test_a_class_gets_its_params_and_the_operators_defaults(picky):
    confs = {
        "spark.config.override.policy": f"{picky}.Picky",
        "spark.config.override.policy.param.depth": "3",
        "spark.executor.memory": "4g",
    }
    policies = load_policies(confs, "None")
    assert Picky.made.params == {"depth": "3"}
    assert Picky.made.defaults == {"spark.executor.memory": "4g"}
    assert len(set(map(id, policies.values()))) == 1


def test_job_types_have_policies_of_their_own(picky):
    confs = {
        "spark.config.override.policy": "All",
        "spark.config.override.policy.sql": "Allowlist",
        "spark.config.override.policy.sql.param.allowlist": "spark.sql.ansi.enabled",
    }
    policies = load_policies(confs, "None")
    assert type(policies["batch"]).__name__ == "AllPolicy"
    asked = request({"spark.sql.ansi.enabled": "true", "spark.plugins": "x"}, job_type="sql")
    assert [value.allowed for value in policies["sql"].validate(asked)] == [True, False]


@pytest.mark.parametrize(
    ("confs", "words"),
    [
        ({"spark.config.override.policy": "Principle"}, ["Principal"]),
        ({"spark.config.override.policy": "none"}, ["'None'"]),
        ({"spark.config.override.policy": "no.such.module.Class"}, ["no.such.module", "imported"]),
        ({"spark.config.override.policy": "picky_policies.Other"}, ["OverridePolicy"]),
        ({"spark.config.override.policy": "picky_policies.Gone"}, ["Gone"]),
        ({"spark.config.override.policy.bach": "All"}, ["bach", "batch"]),
        ({"spark.config.override.policy.sql.param.x": "1"}, ["spark.config.override.policy.sql"]),
        ({"spark.config.override.policy": "All", "spark.config.override.policy.param.x": "1"}, ["no params"]),
        ({"spark.config.override.policy": "Rules"}, ["'file'"]),
        (
            {
                "spark.config.override.policy": "Rules",
                "spark.config.override.policy.param.file": "/no/such.json",
            },
            ["/no/such.json", "No such file"],
        ),
    ],
)
def test_a_policy_that_cannot_be_loaded_stops_the_start(picky, confs, words):
    with pytest.raises(ConfigurationError) as caught:
        load_policies(confs, "None")
    assert "spark.config.override.policy" in str(caught.value)
    assert all(word in str(caught.value) for word in words)


def test_a_policy_that_fails_to_start_is_closed_and_its_text_stays_inside(picky):
    confs = {
        "spark.config.override.policy": f"{picky}.Picky",
        "spark.config.override.policy.param.fail": "1",
    }
    with pytest.raises(ConfigurationError, match="RuntimeError") as caught:
        load_policies(confs, "None")
    assert Picky.made.closed == 1
    assert CANARY not in str(caught.value)
    assert caught.value.__cause__ is None


def test_an_entry_point_is_found_by_its_alias(picky, monkeypatch):
    from importlib import metadata

    point = metadata.EntryPoint("Acme", f"{picky}:Picky", "sparkconfig.policies")
    monkeypatch.setattr(
        metadata, "entry_points", lambda group: [point] if group == "sparkconfig.policies" else []
    )
    assert type(make_policy("Acme", {}, {})) is Picky
