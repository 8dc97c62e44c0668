"""What is a clear text and what is an expression; the same answers as the scanner that resolves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparkconfig.language import references
from sparkconfig.settings.expressions import REPLACED, VARIABLE, is_literal, marked
from sparkconfig.substitution import Command, iter_segments

CASES = json.loads(
    (Path(__file__).resolve().parents[2] / "conformance" / "expressions" / "cases.json").read_text(
        encoding="utf-8"
    )
)["literals"]


@pytest.mark.parametrize("text", CASES["clear"])
def test_clear_texts(text: str) -> None:
    assert is_literal(text)


@pytest.mark.parametrize("text", CASES["replaced"])
def test_expressions_and_variables(text: str) -> None:
    assert not is_literal(text)


def test_marks_keep_places() -> None:
    text = "a${b}c${d:e}f$[g=h]i$[]j$[k]l"
    kinds = {"a": "cfijl", REPLACED: "", VARIABLE: ""}
    shown = marked(text)
    assert len(shown) == len(text)
    assert [each for each in shown if each not in kinds or each == "a"] == list("acfijl")
    assert shown.count(REPLACED) == len("${d:e}$[g=h]")
    assert shown.count(VARIABLE) == len("${b}$[]$[k]")


@pytest.mark.parametrize("piece", CASES["hostile"])
def test_hostile_texts_take_linear_time(piece: str) -> None:
    is_literal(piece * (400_000 // len(piece)))


@given(st.text(alphabet="${}[]:=a", max_size=40))
def test_references_are_those_that_are_resolved(text: str) -> None:
    if "{{" in text:  # a template of another tool stands there
        # In ${{}} the braces are a variable's.
        assert REPLACED in marked(text) or "${" in text or "}}" not in text[text.index("{{") + 2 :]
    elif "$[" not in text:
        assert (REPLACED in marked(text)) == bool(references.scan(text))
    elif any(isinstance(each, Command) for each in iter_segments(text)):
        assert REPLACED in marked(text)
    assert len(marked(text)) == len(text)
