"""Confs that the README, the pages and the files in conf name: nothing else notices one that is misspelt there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sparkconfig.settings.schema import FAMILIES, PREFIX, declared

ROOT = Path(__file__).resolve().parents[3]
PLACES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "conf").rglob("*.*"))]
KNOWN = {each.metadata["name"] for each in declared()} | {"spark.config.substitution.NAMESubstituterType"}
NAME = re.compile(r"spark\.config\.[A-Za-z0-9.]*[A-Za-z0-9]")


@pytest.mark.parametrize("place", [each for each in PLACES if each.is_file()], ids=lambda each: each.name)
def test_every_conf_that_is_named_exists(place: Path) -> None:
    families = tuple(PREFIX + family for family in FAMILIES)
    named = set(NAME.findall(place.read_text(encoding="utf-8")))
    unknown = {name for name in named - KNOWN if not name.startswith(families)}
    # `spark.config.substitution.*` and the like.
    assert {name for name in unknown if not any(each.startswith(f"{name}.") for each in KNOWN)} == set()


def test_what_a_job_sets_fits_on_a_screen() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert len(re.findall(r"^\| `spark\.", page.partition("## The others")[0], re.MULTILINE)) <= 12
