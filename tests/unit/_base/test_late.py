"""Expressions that are compiled when they are first asked, and what a start of the side process leaves for later."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from sparkconfig._base.late import late


@pytest.mark.parametrize("pattern", ["(a)b", b"(a)b"], ids=["text", "bytes"])
def test_it_is_what_compile_returns(pattern: str | bytes) -> None:
    made, text = late(pattern, re.IGNORECASE), pattern.upper()[1:2] + pattern[3:4]
    for _ in range(2):
        assert made.pattern == pattern
        assert made.flags & re.IGNORECASE
        found = made.fullmatch(text)
        assert found is not None
        assert found[1] == text[:1]


def test_a_wrong_pattern_is_an_error_where_it_is_used() -> None:
    with pytest.raises(re.error):
        late("(").search("")


def test_the_side_process_imports_nothing_that_its_start_does_not_need() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys, sparkconfig.agent.main; print(*sys.modules)"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    heavy = {
        "tarfile",
        "zipfile",
        "tempfile",
        "hmac",
        "tomllib",
        "yaml",
        "importlib.resources",
        "ssl",
        "asyncio",
        "dataclasses",
        "inspect",
        "difflib",
        "random",
        "py4j",
        "pydantic",
        "http.client",
    }
    assert not heavy & set(done.stdout.split())
