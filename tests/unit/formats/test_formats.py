"""Details of the formats that the file provider reads; Java properties are in the conformance cases, too."""

from __future__ import annotations

import pytest

from sparkconfig.formats import FormatError, load

TWO_MEGABYTES = 2_000_000


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
    assert load("yaml", content) == {
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
        load("yaml", content)
    assert "hush" not in str(caught.value)


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
    assert load("properties", content) == expected


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
    load("properties", content)
