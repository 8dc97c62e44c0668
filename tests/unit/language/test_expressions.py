"""Cases of expressions that the shim's own tests pass too (``ExpressionSuite.scala``)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sparkconfig.agent.application import conf_id
from sparkconfig.resolution.resolver import is_expression
from sparkconfig.substitution import sibling_texts

CASES = json.loads(
    (Path(__file__).resolve().parents[2] / "conformance" / "expressions" / "cases.json").read_text(
        encoding="utf-8"
    )
)


@pytest.mark.parametrize("case", CASES["confs"], ids=lambda case: case["text"])
def test_confs(case) -> None:
    text = case["text"]
    assert is_expression(text, substitution=True) == case["may_hold"]
    assert conf_id("spark.k", text) == (f"{text}\0conf:spark.k" if case["of_place"] else text)


@pytest.mark.parametrize("case", CASES["maps"], ids=lambda case: case["name"])
def test_the_shim_sends_at_least_what_the_evaluation_may_ask_for(case) -> None:
    texts = case["map"]
    assert sorted(sibling_texts(texts[case["of"]], texts)) == case["needs"]
    assert set(case["needs"]) <= set(case["sends"])
