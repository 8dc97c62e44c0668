"""The pictures show the data beside them; none is large."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).resolve().parents[3] / "docs"


def test_the_pictures_are_those_of_their_data() -> None:
    """If not: python tools/docs/pictures.py."""
    made = runpy.run_path(str(DOCS.parent / "tools" / "docs" / "pictures.py"))["pictures"]()
    assert {name: (DOCS / "images" / name).read_text(encoding="utf-8") for name in made} == made


def test_no_picture_is_large() -> None:
    assert {path.name for path in (DOCS / "images").iterdir() if path.stat().st_size > 200_000} == set()
