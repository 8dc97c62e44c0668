"""docs/security.md: each promise names a test, and each test that it names is there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


@cache
def functions_in(file: str) -> set[str]:
    """The names of all test functions of a file, those in classes too."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }


def promises() -> list[str]:
    """The items of the lists of promises."""
    return re.findall(r"^- (.+)$", PAGE.split("## What is promised")[1].split("\n## ")[0], re.MULTILINE)


def test_each_promise_names_a_test_that_is_there() -> None:
    assert len(promises()) > 20
    for promise in promises():
        assert NAMED.search(promise), f"no test shows: {promise}"
    missing = [f"{file}::{name}" for file, name in NAMED.findall(PAGE) if name not in functions_in(file)]
    assert missing == []


def test_the_targets_that_it_names_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`make ([a-z-]+)`", PAGE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
