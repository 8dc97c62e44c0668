"""The KIP-269 scanner: delimiters, grammar, agreement with a slow model, linear time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.models import segments as model
from sparkconfig.substitution import Command, Malformed, iter_segments, parse
from sparkconfig.substitution.command import PUNCTUATION, java_trim, parse_command


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [""]),
        ("plain", ["plain"]),
        ("$[", ["$["]),
        ("$[t=id", ["$[t=id"]),
        ("$[[t=id]", ["$[[t=id]"]),
        ("$[]", [""]),
        ("$[[]]$[t=x] $[[t=y]]", ["", "$[t=x] ", ("cmd", "t", (), "y")]),
        ("$[t=x]$[[t=y]]", [("cmd", "t", (), "x"), ("bad", "$[[t=y]"), "]"]),
        ("$[t=x] $[[[[[[y", [("cmd", "t", (), "x"), " $[[[[[[y"]),
        ("$[[ ]]", [("bad", "$[[ ]]")]),
        ("$[[t=a[0]]]", [("cmd", "t", (), "a[0"), "]"]),
        ("$[t=$[t=b]]", [("cmd", "t", (), "$[t=b"), "]"]),
        ("$$[t=a]", ["$", ("cmd", "t", (), "a")]),
        ("\\$[t=a]", ["\\", ("cmd", "t", (), "a")]),
        ("$[bad] $[t=a]", [("bad", "$[bad]"), " ", ("cmd", "t", (), "a")]),
        ("$[bad] $[[t=a]]", [("bad", "$[bad]"), " ", ("bad", "$[[t=a]"), "]"]),
        ("$[t=a\r\n\u2028b]\n", [("cmd", "t", (), "a\r\n\u2028b"), "\n"]),
        ("$[t=\x00\ud800]", [("cmd", "t", (), "\x00\ud800")]),
        ("$[$[t=id]", [("bad", "$[$[t=id]")]),
    ],
)
def test_delimiters(text, expected):
    assert shape(text) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("t=", ("t", (), "")),
        (" t = id ", ("t", (), " id ")),
        ("t==/=", ("t", (), "=/=")),
        ("té=x", ("té", (), "x")),
        ("t/m/=id", ("t", ("m",), "id")),
        ("t/ a /b=c/=id", ("t", (" a ", "b=c"), "id")),
        ("t/m|n/=id", ("t", ("m|n",), "id")),
        ("t/a=1/=b/=id", ("t", ("a=1",), "b/=id")),
        ("t[m[=id", ("t", ("m",), "id")),
        ("t\\m\\=id", ("t", ("m",), "id")),
        ("t_x_=id", ("t", ("x",), "id")),
        (" =id", ("", (), "id")),
        ("\u00a0=id", ("\u00a0", (), "id")),
        ("t/\u00a0/=id", ("t", ("\u00a0",), "id")),
        ("", None),
        ("t", None),
        ("=id", None),
        ("/m/=id", None),
        ("t/m=id", None),
        ("t/=id", None),
        ("t//=id", None),
        ("t//m/=id", None),
        ("t/m//=id", None),
        ("t/a//b/=id", None),
        ("t/ /=id", None),
        ("t/\x00/=id", None),
        ("t/=m/=id", None),
        ("a.b=c", None),
    ],
)
def test_grammar(command, expected):
    parts = parse_command(command)
    assert (None if parts is None else tuple(parts)) == expected


@pytest.mark.parametrize("mark", sorted(PUNCTUATION - {"="}))
def test_any_punctuation_separates_modifiers(mark):
    assert tuple(parse_command(f"t{mark}a{mark}b=1{mark}=id")) == ("t", ("a", "b=1"), "id")


def test_punctuation_is_ascii():
    assert len(PUNCTUATION) == 32
    assert all(c.isascii() and c.isprintable() and not c.isalnum() and c != " " for c in PUNCTUATION)


def test_trim_is_javas():
    assert java_trim("\x00\x1f \t a \u00a0\x85") == "a \u00a0\x85"


fragments = st.lists(
    st.sampled_from(
        ["$", "[", "[[", "]", "]]", "=", "/", "|", "t", "id", " ", "\n", "$[", "$[[", "a=1", "é", "\x00"]
    )
    | st.characters(),
    max_size=24,
).map("".join)


@given(fragments)
def test_agrees_with_the_model(text):
    assert shape(text) == model(text)


@given(fragments)
def test_nothing_gets_lost(text):
    """Literals and raw commands, joined, are the text without its empty substitutions; then nothing changes."""
    plan = parse(text)
    joined = "".join(s if isinstance(s, str) else s.raw for s in plan.segments)
    if "" not in plan.segments:
        assert joined == text
    else:
        assert len(joined) < len(text) or text == ""


@given(st.text().filter(lambda t: "$[" not in t))
def test_text_without_an_opening_is_itself(text):
    assert shape(text) == [text]


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
    assert plan.malformed == ("$[hunter2]",)
