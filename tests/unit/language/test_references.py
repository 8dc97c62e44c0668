"""The KIP-297 scanner: rules, and hostile text in linear time."""

from __future__ import annotations

import pytest

from sparkconfig._base.text import shorten
from sparkconfig.language.references import replace, scan
from sparkconfig.settings.foreign import DEFAULT_FOREIGN, SPARK_EXPANDED


def _parts(text: str) -> list[tuple[str, str, str]]:
    return [reference[:3] for reference in scan(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("plain", []),
        ("${p:k}", [("p", "", "k")]),
        ("${p:path:k}", [("p", "path", "k")]),
        ("${p:a:b:c}", [("p", "a", "b:c")]),
        ("${p::k}", [("p", "", "k")]),
        ("${:}", [("", "", "")]),
        ("${::}", [("", "", "")]),
        ("${p:a::}", [("p", "a", ":")]),
        ("${name}", []),
        ("${}", []),
        ("${p:k", []),
        ("$ {p:k}", []),
        ("a${p:k}b${q:r:s}c", [("p", "", "k"), ("q", "r", "s")]),
        ("${x} ${p:k}", [("p", "", "k")]),
        ("${${p:k}", [("${p", "", "k")]),
        ("$${p:k}}", [("p", "", "k")]),
        ("${p\n:a\r:k\u2028}", [("p\n", "a\r", "k\u2028")]),
        ("${p:\0:\ud800}", [("p", "\0", "\ud800")]),
        ("${ p : a : k }", [(" p ", " a ", " k ")]),
    ],
)
def test_parts(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert _parts(text) == expected


def test_positions_enclose_the_reference() -> None:
    text = "x${p:k}y${q:a:b}"
    assert [text[r.start : r.end] for r in scan(text)] == ["${p:k}", "${q:a:b}"]


def test_replace_keeps_text_and_leaves_what_has_no_value() -> None:
    text = "a ${p:k} b ${p:q} c"
    assert replace(text, scan(text), ["${p:q}", None]) == "a ${p:q} b ${p:q} c"
    assert replace(text, scan(text), ["", "1"]) == "a  b 1 c"


@pytest.mark.parametrize(
    "text",
    [
        "${a" + ":a" * 5_000_000,
        "${" * 5_000_000,
        "${a" * 3_300_000 + "}",
        "${a:" * 2_500_000,
        "$" * 10_000_000,
        "${a:b" + "}" * 10_000_000,
        "${x}" * 2_500_000,
        "${" + ":" * 10_000_000 + "}",
    ],
    ids=lambda text: f"{text[:8]}...",
)
@pytest.mark.timeout(60)  # quadratic time would be hours; bench_transform.py has the numbers
def test_ten_megabytes_of_hostile_text_take_linear_time(text: str) -> None:
    assert len(scan(text)) <= 1


def test_a_hundred_thousand_references() -> None:
    text = "".join(f"${{p:path:{index}}}," for index in range(100_000))
    references = scan(text)
    result = replace(text, references, [reference.key for reference in references])
    assert result == "".join(f"{index}," for index in range(100_000))


def test_spark_names_are_foreign() -> None:
    assert SPARK_EXPANDED < DEFAULT_FOREIGN


def test_shorten_makes_one_printable_line() -> None:
    assert shorten("a\nb\0\ud800\x1b[31m") == r"a\u000ab\u0000\ud800\u001b[31m"
    assert len(shorten("x" * 1000)) == 120
    shorten("\ud800").encode()
