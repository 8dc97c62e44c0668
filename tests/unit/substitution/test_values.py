"""Evaluation: modifiers, defaults, redaction, caching, cycles, chains, errors."""

import json
import logging
import pickle
import threading

import pytest

from sparkconfig import Secret
from sparkconfig.errors import SecretExposureError, SubstitutionError
from sparkconfig.substitution import RedactableObject, SubstitutableValues

PROPS = {"p": "PV", "empty": "", "blank": " \t", "nbsp": "\u00a0"}


class Recording(dict):
    def __init__(self, **values):
        super().__init__(values)
        self.reads = []

    def get(self, key, default=None):
        self.reads.append(key)
        return super().get(key, default)


def value_of(text, **others):
    return SubstitutableValues({"a": text, **others}, sysprops=PROPS).get_substitution_result("a")


def error_of(text, **others):
    with pytest.raises(SubstitutionError) as caught:
        value_of(text, **others)
    assert caught.value.__cause__ is None
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$[sysProp/defaultValue=D/=nope]", "D"),
        ("$[sysProp/notEmpty/defaultValue=D/=empty]", "D"),
        ("$[sysProp/notEmpty/defaultValue=D/=blank]", " \t"),
        ("$[sysProp/notBlank/defaultValue=D/=blank]", "D"),
        ("$[sysProp/notBlank/defaultValue=D/=nbsp]", "\u00a0"),
        ("$[sysProp/defaultValue = x/=nope]", " x"),
        ("$[sysProp/ defaultValue =x/=nope]", "x"),
        ("$[sysProp/defaultValue=/=nope]", ""),  # the recommended empty default
        ("$[sysProp/defaultValue=$[t=x/=nope]", "$[t=x"),
        ("$[sysProp/defaultKey=b/=nope]", "B"),
        ("$[sysProp/defaultKey= b/=nope]", "spaced"),
        ("$[sysProp/unknown/unknown/x=1/=p]", "PV"),
        ("$[sysProp/=x/=p]", "$[sysProp/=x/=p]"),
        ("$[sysProp/defaultValue=D/=]", "D"),  # the property "" does not exist
        ("$[keyValue= b]", "spaced"),
        ("$[nosuch=x]", "$[nosuch=x]"),
        ("${keyValue:b}", "${keyValue:b}"),
    ],
)
def test_values(text, expected):
    result = value_of(text, **{"b": "B", " b": "spaced", "c": "b", "d": "$[keyValue=e]", "e": "p"})
    assert (result.object, result.redacted) == (expected, False)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("$[sysProp=nope]", "does not exist: nope"),
        ("$[sysProp/notBlank/=blank]", "still blank (notBlank=true, notEmpty=false): blank"),
        ("$[sysProp/notEmpty/defaultValue=/=nope]", "default value for identifier=nope is empty"),
        ("$[sysProp/x=1/x=1/=p]", "multiple times"),
        ("$[sysProp/defaultValue=D/defaultKey=b/=p]", "both"),
        ("$[sysProp/fromValueOfKey/defaultValue=D/=nope]", "Mandatory key does not exist: nope"),
        ("$[keyValue=null]", "does not exist: null"),
        ("$[keyValue/defaultValue=D/=a]", "Circular reference"),
    ],
)
def test_errors_name_key_and_reason(text, part):
    message = error_of(text, b="B", null=None)
    assert part in message
    assert message.startswith("key 'a': ")


def test_a_default_key_that_is_not_needed_is_not_read():
    values = Recording(a="$[sysProp/defaultKey=a/=p]")
    assert SubstitutableValues(values, sysprops=PROPS).get_substitution_result("a").value == "PV"
    assert values.reads == ["a"]


def test_objects_stay_what_they_are_alone_and_become_text_beside_text():
    others = {"n": 7, "t": True, "l": [1, True, "x"], "m": {"k": None}, "f": 1.5}
    assert value_of("$[keyValue=n]", **others).object == 7
    assert value_of("n=$[keyValue=n]", **others).object == "n=7"
    assert value_of("$[]$[keyValue=n]", **others).object == "7"
    assert value_of("$[keyValue=t]!$[keyValue=l]$[keyValue=m]$[keyValue=f]", **others).object == (
        "true![1, true, x]{k=null}1.5"
    )
    assert value_of(["$[sysProp=p]"]).object == ["$[sysProp=p]"]


def test_an_endless_list_is_an_error():
    endless = []
    endless.append(endless)
    assert "deep" in error_of("x$[keyValue=l]", l=endless)


def test_nothing_inserted_is_scanned_again():
    values = SubstitutableValues(
        {"a": "$[sysProp=x]$[sysProp/defaultValue=$[q=1/=nope]"}, sysprops={"x": "$[sysProp=p]${v:p:k}"}
    )
    assert values.get_substitution_result("a").value == "$[sysProp=p]${v:p:k}$[q=1"


class TestRedaction:
    def test_redact_makes_the_whole_value_secret(self):
        result = value_of("x$[sysProp/ redact /=p]")
        assert result.redacted
        assert (result.value, result.display, str(result), f"{result}") == ("xPV", *["[redacted]"] * 3)
        assert "PV" not in repr(result)

    def test_it_goes_through_other_keys(self):
        assert value_of("$[keyValue=b]", b="$[sysProp/redact/=p]").redacted
        assert value_of("$[sysProp/defaultKey=b/=nope]", b="$[sysProp/redact/=p]").redacted
        assert value_of("$[sysProp/redact/defaultValue=D/=nope]").redacted

    def test_it_does_not_reach_the_other_key(self):
        values = SubstitutableValues({"a": "$[keyValue/redact/=b]", "b": "B"})
        assert values.get_substitution_result("a").redacted
        assert not values.get_substitution_result("b").redacted

    def test_an_identifier_from_a_secret_does_not_redact_but_is_not_told(self):
        assert not value_of("$[sysProp/fromValueOfKey/=b]", b=Secret("p")).redacted
        message = error_of("$[sysProp/fromValueOfKey/=b]", b=Secret("hunter2"))
        assert "hunter2" not in message

    def test_secrets_are_substituted_and_stay_secret(self):
        assert value_of(Secret("plain")) == RedactableObject("plain", True)
        result = value_of(Secret("x$[sysProp=p]"))
        assert (result.value, result.redacted) == ("xPV", True)
        assert value_of("$[keyValue=b]", b=Secret("s")) == RedactableObject("s", True)

    @pytest.mark.parametrize(
        "text",
        [
            "$[sysProp=hunter2]",
            "$[sysProp/hunter2=1/hunter2=1/=p]",
            "$[keyValue/fromValueOfKey/=hunter2]",
            "$[sysProp/defaultKey=hunter2/=nope]",
            "$[file=/hunter2]",
            "$[envVar=hunter2]",
        ],
    )
    def test_messages_show_nothing_of_a_secret(self, text):
        assert "hunter2" not in error_of(Secret(text))

    def test_log_shows_nothing_of_a_value(self, caplog):
        caplog.set_level(logging.DEBUG)
        value_of("$[hunter2] $[hunter2=x] $[hunter2/m/=x]")
        assert "hunter2" not in caplog.text
        assert "3 text(s)" in caplog.text

    def test_a_redacted_result_is_not_serialised(self):
        result = RedactableObject("hunter2", True)
        with pytest.raises(SecretExposureError):
            pickle.dumps(result)
        with pytest.raises(TypeError):
            json.dumps(result)
        assert pickle.loads(pickle.dumps(RedactableObject(7))) == RedactableObject(7)

    def test_equality_is_of_object_and_flag(self):
        assert RedactableObject("x") == RedactableObject("x")
        assert RedactableObject("x") != RedactableObject("x", True)
        assert RedactableObject(1) != RedactableObject(True)
        assert RedactableObject("x").redacted_version() == RedactableObject("x", True)
        assert len({RedactableObject("x"), RedactableObject("x")}) == 1


class TestCaching:
    def test_each_key_is_read_once_and_kept(self):
        underlying = Recording(a="$[keyValue=b]$[keyValue=b]", b="B")
        values = SubstitutableValues(underlying)
        assert values.get_substitution_result("a").value == "BB"
        underlying["b"] = underlying["a"] = "changed"
        assert values.get_substitution_result("b").value == "B"
        assert values.get_substitution_result("a").value == "BB"
        assert underlying.reads == ["a", "b"]
        assert dict(values.substitution_results) == {
            "a": RedactableObject("BB"),
            "b": RedactableObject("B"),
        }

    def test_missing_is_kept_failure_is_not(self):
        underlying = Recording(a="$[sysProp=nope]")
        values = SubstitutableValues(underlying, sysprops={})
        assert values.get_substitution_result("z") is None
        with pytest.raises(SubstitutionError, match="Mandatory key does not exist: z"):
            values.get_substitution_result("z", required=True)
        with pytest.raises(SubstitutionError):
            values.get_substitution_result("a")
        underlying.update(a="A", z="Z")
        assert values.get_substitution_result("a").value == "A"
        assert values.get_substitution_result("z") is None
        assert underlying.reads == ["z", "a", "a"]

    def test_a_circle_can_be_mended(self):
        underlying = {"a": "$[keyValue=b]", "b": "$[keyValue=a]"}
        values = SubstitutableValues(underlying)
        for key in "ab":
            with pytest.raises(SubstitutionError, match=f"Circular reference trying to evaluate key: {key}"):
                values.get_substitution_result(key)
        assert not values.substitution_results
        underlying["b"] = "B"
        assert values.get_substitution_result("a").value == "B"

    def test_substitute_gives_all_that_exist(self):
        values = SubstitutableValues({"a": "$[keyValue=b]", "b": "B", "n": None, "i": 3})
        assert values.substitute(["a", "b", "n", "zz", "i"]) == {
            "a": RedactableObject("B"),
            "b": RedactableObject("B"),
            "i": RedactableObject(3),
        }

    def test_two_threads_are_not_a_circle(self):
        """While one thread is inside the evaluation of a key, another may evaluate it too."""
        inside, go = threading.Event(), threading.Event()

        def literal(text):
            if threading.current_thread().name == "slow":
                inside.set()
                assert go.wait(10)
            return text

        values = SubstitutableValues({"a": "x$[keyValue=b]", "b": "B"}, literal=literal)
        slow = threading.Thread(target=values.get_substitution_result, args=("a",), name="slow")
        slow.start()
        try:
            assert inside.wait(10)
            assert values.get_substitution_result("a").value == "xB"
        finally:
            go.set()
            slow.join(10)


class TestSize:
    def test_failures_may_be_kept(self):
        underlying = Recording(a="$[keyValue=b]", b="$[keyValue=none]", c="$[keyValue=a]")
        values = SubstitutableValues(underlying, keep_failures=True)
        for key in "abcc":
            with pytest.raises(SubstitutionError, match=r"key 'b': .* does not exist: none"):
                values.get_substitution_result(key)
        assert underlying.reads == ["a", "b", "none", "c"]

    def test_chains_through_defaults_and_indirections(self):
        count = 20_000
        chain = {f"k{i}": f"$[sysProp/defaultKey=k{i + 1}/=none]" for i in range(count)}
        assert SubstitutableValues({**chain, f"k{count}": "end"}).get_substitution_result("k0").value == "end"

    def test_100_000_substitutions_in_one_value(self):
        assert value_of("$[keyValue=b]," * 100_000, b="B").value == "B," * 100_000

    def test_nul_and_lone_surrogates(self):
        odd = "\x00\ud800"
        others = {odd: odd}
        assert value_of(f"$[keyValue={odd}]{odd}", **others).value == odd + odd
        assert value_of(f"$[envVar/defaultValue=D/={odd}]$[file/defaultValue=D/={odd}]").value == "DD"
        assert "\x00" not in error_of(f"$[envVar={odd}]")
