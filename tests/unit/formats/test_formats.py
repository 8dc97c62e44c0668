"""Details of the formats that the file provider reads; Java properties are in the conformance cases, too."""

from __future__ import annotations

import pytest

from sparkconfig.formats import FORMATS, FormatError, format_of

TWO_MEGABYTES = 2_000_000


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a=1\nb = 2 \n c=3", {"a": "1", "b": "2", "c": "3"}),
        (b"\xef\xbb\xbfa=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        (b"# comment\n\n  # more\nexport A=x", {"A": "x"}),
        (b"a=x # comment\nb=x#y\nc=#z\nd= # z", {"a": "x", "b": "x#y", "c": "", "d": ""}),
        (rb"""a='x # $y \n "' # c""", {"a": r'x # $y \n "'}),
        (rb'a="x\ty\n\"\\ \$ \q ' + b"'" + b'"', {"a": "x\ty\n\"\\ $ \\q '"}),
        (b"a=\"two\nlines\"\nb='x\ny'\nc=1", {"a": "two\nlines", "b": "x\ny", "c": "1"}),
        (b"a=\nb=''\nc=\"\"", {"a": "", "b": "", "c": ""}),
        (b"a=1\na=2", {"a": "2"}),
        (b"a=${b}\nb=$(id)", {"a": "${b}", "b": "$(id)"}),
        (b"", {}),
    ],
)
def test_dotenv(content: bytes, expected: dict[str, str]) -> None:
    assert FORMATS["env"](content) == expected


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a=1\nhush", "line 2 is not NAME=value"),
        (b"\n\na='hush", "line 3 opens a quote that is never closed"),
        (b"a='x' hush", "line 1 has text behind the closing quote"),
        (b"1a=hush", "line 1 is not NAME=value"),
        (b"a=\xff hush", "not UTF-8"),
    ],
)
def test_dotenv_says_where_it_is_wrong_and_shows_nothing(content: bytes, said: str) -> None:
    with pytest.raises(FormatError, match=said) as caught:
        FORMATS["env"](content)
    assert "hush" not in str(caught.value)


def test_yaml_keeps_spelling_and_makes_no_objects() -> None:
    content = b"""
a: yes
b: 0123
c: 1e3
d: 2026-11-21
e: ~
f: "quoted: x"
g: |
  two
  lines
h: [1, {x: no}]
1: one
"""
    assert FORMATS["yaml"](content) == {
        "a": "yes",
        "b": "0123",
        "c": "1e3",
        "d": "2026-11-21",
        "f": "quoted: x",
        "g": "two\nlines\n",
        "h.0": "1",
        "h.1.x": "no",
        "1": "one",
    }


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a: &x [1]\nb: *x", "aliases"),
        (b"a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]", "aliases"),
        (b"!!python/object/apply:os.system [hush]", "not"),
        (b"a: !!python/name:os.system hush", "not YAML"),
        (b"- hush", "not a YAML mapping"),
        (b"hush", "not a YAML mapping"),
        (b"a: 1\n---\nb: 2", "not YAML"),
        (b"a: [hush", "not YAML, see line"),
        (b"a: {b: 1}\na.b: 2", "two fields"),
    ],
)
def test_yaml_that_is_refused(content: bytes, said: str) -> None:
    with pytest.raises(FormatError, match=said) as caught:
        FORMATS["yaml"](content)
    assert "hush" not in str(caught.value)


def test_toml_values() -> None:
    content = (
        b'a = 0.10\nb = 0x10\nc = true\nd = 2026-11-21\ne = [1, {x = "y"}]\n[f.g]\nh = 1979-05-27T07:32:00Z\n'
    )
    assert FORMATS["toml"](content) == {
        "a": "0.10",
        "b": "16",
        "c": "true",
        "d": "2026-11-21",
        "e.0": "1",
        "e.1.x": "y",
        "f.g.h": "1979-05-27T07:32:00+00:00",
    }


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/a/b.json", "json"),
        ("b.YAML", "yaml"),
        ("b.yml", "yaml"),
        ("b.toml", "toml"),
        ("/x/.env", "env"),
        ("prod.env", "env"),
        ("b.properties", "properties"),
        ("b", "properties"),
        ("/a.json/b", "properties"),
        ("", "properties"),
    ],
)
def test_format_of(path: str, kind: str) -> None:
    assert format_of(path) == kind


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\\\r\n", {}),
        (b"a\n \\\r\n", {"a": ""}),
        (b"\\\n\\\r\n", {}),
        (b"a\\\r\n\\\r\n", {"a": ""}),
        (b"\\\n", {"": ""}),
        (b"\\\r", {"": ""}),
        (b"\\", {"": ""}),
    ],
)
def test_a_backslash_alone_at_the_end_of_properties(content: bytes, expected: dict[str, str]) -> None:
    """As Java's class answers: it sees no line at all only if two characters end the file."""
    assert FORMATS["properties"](content) == expected


@pytest.mark.parametrize(
    "content",
    [
        b"\\" * TWO_MEGABYTES,
        b"a" * TWO_MEGABYTES,
        b"\\a" * (TWO_MEGABYTES // 2),
        b"a\\\n" * (TWO_MEGABYTES // 3),
        b" " * TWO_MEGABYTES,
        b"=" * TWO_MEGABYTES,
        b"\r" * TWO_MEGABYTES,
    ],
    ids=lambda content: repr(content[:4]),
)
@pytest.mark.timeout(60)  # quadratic time would be many minutes
def test_hostile_properties_take_linear_time(content: bytes) -> None:
    FORMATS["properties"](content)
