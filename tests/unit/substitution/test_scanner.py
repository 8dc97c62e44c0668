"""The KIP-269 scanner: delimiters, grammar, agreement with a slow model, linear time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.models import segments as model
from sparkconfig import Secret
from sparkconfig.errors import SubstitutionError
from sparkconfig.substitution import (
    REDACTED,
    Allowlists,
    Command,
    Malformed,
    RedactableObject,
    SubstitutableValues,
    SubstituterTypeHelper,
    iter_segments,
    parse,
)
from sparkconfig.substitution.command import PUNCTUATION, java_trim, parse_command
from support.machines import limits


def shape(text):
    """Segments as plain data: literal text, ("cmd", type, modifiers, identifier) or ("bad", raw)."""
    out = []
    for segment in iter_segments(text):
        if isinstance(segment, Command):
            out.append(("cmd", segment.type, segment.modifiers, segment.identifier))
        elif isinstance(segment, Malformed):
            out.append(("bad", segment.raw))
        else:
            out.append(segment)
    return out


@pytest.mark.parametrize("brackets", [1, 2, 3, 4, 5])
def test_one_to_five_brackets_are_delimiters(brackets):
    text = "x $" + "[" * brackets + "t=id" + "]" * brackets + " y"
    assert shape(text) == ["x ", ("cmd", "t", (), "id"), " y"]


@pytest.mark.parametrize("text", ["$[[[[[[t=id]]]]]]", "$[[[[[[", "a $[[[[[[t=id]]]]]] $[t=id]"])
def test_six_brackets_leave_the_whole_value(text):
    assert shape(text) == [text]


@pytest.mark.parametrize("mark", sorted(PUNCTUATION - {"="}))
def test_any_punctuation_separates_modifiers(mark):
    assert tuple(parse_command(f"t{mark}a{mark}b=1{mark}=id")) == ("t", ("a", "b=1"), "id")


def test_punctuation_is_ascii():
    assert len(PUNCTUATION) == 32
    assert all(c.isascii() and c.isprintable() and not c.isalnum() and c != " " for c in PUNCTUATION)


def test_trim_is_javas():
    assert java_trim("\x00\x1f \t a \u00a0\x85") == "a \u00a0\x85"


SIGNS = ["$", "[", "[[", "]", "]]", "=", "/", "|", "t", "id", " ", "\n", "$[", "$[[", "a=1", "é", "\x00"]
fragments = st.lists(st.sampled_from(SIGNS) | st.characters(), max_size=24).map("".join)
commands = st.sampled_from(
    ["$[keyValue=b]", "$[sysProp/defaultKey=c/=p]", "$[keyValue/redact/=a]", "$[helped/f/=c]"]
)


class Helped(SubstituterTypeHelper):
    def retrieve_result(self, kind, identifier, redact, flags, arguments, values):
        return RedactableObject(len(identifier)) if identifier else None


def result_of(values, key):
    try:
        return values.get_substitution_result(key, required=True)
    except SubstitutionError:
        return None


@given(*[st.lists(commands | fragments, max_size=4).map("".join)] * 3)
@limits(least=100)
def test_neither_the_order_of_questions_nor_unrelated_keys_matter(a, b, c):
    texts = {"a": a, "b": b, "c": Secret(c)}

    def make(values):
        definitions = {"helpedSubstituterType": Helped}
        allow = Allowlists(file_paths=[])
        return SubstitutableValues(
            values, environ={}, sysprops={"t": ""}, allow=allow, definitions=definitions
        )

    one, two = make(texts), make(texts)
    forward = {key: result_of(one, key) for key in "abc"}
    assert forward == {key: result_of(two, key) for key in "cba"}
    assert forward["c"] is None or (forward["c"].redacted and forward["c"].display == REDACTED)


@given(fragments)
@limits(least=100)
def test_agrees_with_the_model(text):
    assert shape(text) == model(text)


@pytest.mark.parametrize(
    "text",
    [
        "$[" * 5_000_000,
        "$" + "[" * 10_000_000,
        "$[" + "x" * 10_000_000 + "=]",
        "$[x" + "/" * 10_000_000 + "=]",
        "$[x" + "/a" * 5_000_000 + "/=]",
        "$[[[[[a=" + "]]]]x" * 2_000_000,
        "$[x/" * 2_500_000 + "]",
        "$[]" * 1_000_000,
    ],
    ids=["openings", "brackets", "type", "marks", "modifiers", "closings", "unclosed", "empties"],
)
@pytest.mark.timeout(60)  # quadratic time would be hours
def test_ten_megabytes_of_hostile_text(text):
    for _ in iter_segments(text):
        pass


def test_repr_shows_no_text():
    plan = parse("pw$[t=hunter2] $[hunter2]")
    assert "hunter2" not in repr(plan) + repr(plan.segments)
    assert plan.literals == ("pw", " ")
    assert [c.identifier for c in plan.commands] == ["hunter2"]
    assert [s.raw for s in plan.segments if isinstance(s, Malformed)] == ["$[hunter2]"]
