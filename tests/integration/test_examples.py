"""The examples run as they are shipped: `make examples` runs all of them, this the one whose password changes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "examples" / "shop"
PAGE = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")


@pytest.mark.spark
def test_the_password_changes_while_a_stream_writes() -> None:
    done = subprocess.run(
        [sys.executable, FOLDER / "run.py", "orders_stream.py"],
        capture_output=True, text=True, check=False, timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "two batches, and another password between them" in done.stdout
    assert "No output, event log or other file of the examples holds a password." in done.stdout


def test_the_page_names_every_example() -> None:
    examples = {path.name for path in FOLDER.iterdir() if path.suffix in (".py", ".sql", ".scala")}
    assert set(re.findall(r"\(examples/shop/([^)]+)\)", PAGE)) == examples
