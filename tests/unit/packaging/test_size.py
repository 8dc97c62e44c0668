"""The size of files, which no linter of ours limits."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ("bench", "docs", "jvm-shim", "python", "tests", "tools")
MOST_LINES = 400


def test_no_source_is_longer_than_its_limit() -> None:
    files = [
        path
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".scala", ".java"}
    ]
    assert len(files) > 500
    long = {
        path.relative_to(ROOT).as_posix(): lines
        for path in files
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > MOST_LINES
    }
    assert long == {}
