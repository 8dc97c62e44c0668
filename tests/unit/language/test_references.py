"""The KIP-297 scanner: rules, and hostile text in linear time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz.models import references as model
from sparkconfig._base.text import shorten
from sparkconfig.language.references import replace, scan
from sparkconfig.settings.foreign import DEFAULT_FOREIGN, SPARK_EXPANDED
from support.machines import limits


@given(st.lists(st.sampled_from([*"$:{}a\n\0é", "${", "::", "${p:k}", "\ud800"]), max_size=40).map("".join))
@limits(least=100)
def test_agrees_with_kafkas_expression_and_scans_nothing_again(text: str) -> None:
    found = scan(text)
    assert [tuple(reference) for reference in found] == model(text)
    assert replace(text, found, [None] * len(found)) == text
    assert replace(text, found, [text[each.start : each.end] for each in found]) == text
    assert replace(text, found, ["${p:k}"] * len(found)).count("${p:k}") >= len(found)


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
