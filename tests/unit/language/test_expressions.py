"""Cases of expressions that the shim's own tests pass too (``ExpressionSuite.scala``)."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

from sparkconfig.agent.application import conf_id
from sparkconfig.errors import SubstitutionError
from sparkconfig.resolution.resolver import is_expression
from sparkconfig.substitution import SubstitutableValues

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
def test_the_shim_sends_what_the_evaluation_asks_for(case) -> None:
    """What a type that is not built in asks for cannot be known: then it sends all."""
    texts = case["map"]
    values = SubstitutableValues(texts, environ={})
    with contextlib.suppress(SubstitutionError):
        values.get_substitution_result(case["of"])
    asked = set().union(*values.dependencies.values())
    assert asked & texts.keys() <= set(case["sends"])
    assert "$[mine" not in str(texts) or texts.keys() == set(case["sends"])
