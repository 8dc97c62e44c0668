"""The pages on references and on writing a provider say what is so; so does the provider that one of them makes."""

from __future__ import annotations

import doctest
import sys
from pathlib import Path

import pytest

from sparkconfig.testing import ContractCase, ProviderContract

DOCS = Path(__file__).resolve().parents[3] / "docs"


@pytest.fixture(autouse=True)
def _no_module_left():
    yield
    sys.modules.pop("acme_ldif", None)


@pytest.mark.parametrize(("page", "least"), [("references.md", 25), ("writing-a-provider.md", 15)])
def test_the_page_is_true(page: str, least: int) -> None:
    failed, tried = doctest.testfile(str(DOCS / page), module_relative=False, encoding="utf-8")
    assert failed == 0
    assert tried >= least


class TestThePagesProvider(ProviderContract):
    """The suite that the page recommends passes for the provider that it shows."""

    @pytest.fixture
    def case(self) -> ContractCase:
        page = (DOCS / "writing-a-provider.md").read_text(encoding="utf-8")
        names: dict[str, object] = {}
        for example in doctest.DocTestParser().get_examples(page):
            if example.source.startswith(
                ("from sparkconfig import ConfigData", "from sparkconfig.errors import C")
            ):
                exec(example.source, names)
            if example.source.startswith("class LdifConfigProvider"):
                exec(example.source, names)
        return ContractCase(
            names["LdifConfigProvider"],
            params={"entries": "ada:mail=ada@example.org;ada:password=correct-horse"},
            path="ada",
            data={"mail": "ada@example.org", "password": "correct-horse"},
            missing_path="grace",
        )
