"""The page on substitutions says what is so."""

import doctest
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_page_is_true(monkeypatch):
    monkeypatch.chdir(ROOT)
    failed, tried = doctest.testfile(
        str(ROOT / "docs" / "substitution.md"), module_relative=False, encoding="utf-8"
    )
    assert failed == 0
    assert tried > 35
