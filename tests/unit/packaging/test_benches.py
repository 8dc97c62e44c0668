"""The benches, which nobody runs for weeks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHES = sorted((Path(__file__).resolve().parents[3] / "bench").glob("*.py"))


@pytest.mark.parametrize("bench", BENCHES, ids=lambda bench: bench.stem)
def test_what_it_imports_is_there(bench):
    done = subprocess.run([sys.executable, bench, "--help"], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "usage" in done.stdout
