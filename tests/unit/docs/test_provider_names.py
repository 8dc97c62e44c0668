"""No provider that we show or write has a name that Spark's own redaction hides."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sparkconfig.cli.main import main
from sparkconfig.settings.schema import PREFIX

ROOT = Path(__file__).parents[3]
PAGES = ("README.md", "docs", "conf", "python/sparkconfig/cli", "python/sparkconfig/data", "bench")
# The default of spark.redaction.regex in Spark 4.3, which applies it to keys and to values.
HIDDEN = re.compile("(?i)secret|password|token|access[.]?key|credential")
NAMED = re.compile(
    r"""\$\{([\w-]+):[^}]*\}|"provider":\s*"([\w-]+)"|\bproviders=\{"([\w-]+)"|"--provider", default="([\w-]+)\""""
    r"""|spark\.config\.providers\.([\w-]+)\.(?:class|param)"""
    r"""|^\s*spark\.config\.providers["']?\s*[=: ]\s*["']?([\w, -]+)""",
    re.MULTILINE,
)
FILES = re.compile(rf"^\s*{re.escape(PREFIX)}providers\.[\w-]+\.param\.(?:key\.)?file\b.*", re.MULTILINE)


def texts() -> dict[str, str]:
    roots = [ROOT / each for each in PAGES]
    files = [
        path for root in roots for path in (root.rglob("*") if root.is_dir() else [root]) if path.is_file()
    ]
    kinds = {
        ".md",
        ".py",
        ".scala",
        ".sql",
        ".json",
        ".toml",
        ".txt",
        ".sh",
        ".template",
        ".properties",
        ".conf",
        ".yaml",
    }
    return {str(path.relative_to(ROOT)): path.read_text() for path in files if path.suffix in kinds}


def hidden(text: str) -> set[str]:
    """The names of providers, and the lines that name a file, of which Spark's pages show nothing."""
    names = {part.strip() for found in NAMED.findall(text) for each in found for part in each.split(",")}
    return {each for each in (*names, *FILES.findall(text)) if HIDDEN.search(each)}


def test_no_page_and_no_template_names_a_provider_that_spark_hides() -> None:
    found = {name: hidden(text) for name, text in texts().items()}
    assert {name: each for name, each in found.items() if each} == {}


@pytest.mark.parametrize("form", ["submit", "defaults", "builder"])
def test_init_prints_none_either(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--for", form]) == 0
    lines = capsys.readouterr().out.replace("--conf ", "\n")
    assert "sealed" in lines
    assert hidden(lines.replace("'spark.", "spark.").replace("={'", '={"')) == set()
