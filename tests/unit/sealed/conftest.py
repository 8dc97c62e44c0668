"""A key file and an empty sealed file."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparkconfig.sealed import editor
from sparkconfig.sealed.keys import KeyFile


@pytest.fixture
def key(tmp_path: Path) -> KeyFile:
    source = KeyFile(tmp_path / "shop.key")
    source.create()
    return source


@pytest.fixture
def file(tmp_path: Path, key: KeyFile) -> Path:
    path = tmp_path / "shop.sealed"
    editor.create(path, key)
    return path
