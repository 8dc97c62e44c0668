"""The README is true: its tour runs, and its links lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.spark


def _tour() -> list[str]:
    """The commands of the console blocks, in order."""
    tour = README.split("## Five-minute tour")[1].split("\n## ")[0]
    blocks = re.findall(r"```console\n(.*?)```", tour, re.DOTALL)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def test_the_tour_runs_as_it_is_written_and_shows_what_it_says() -> None:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(_tour())],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
        env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output[-3000:]
    shown = re.findall(r"```text\n((?:start:|conf  ).*?)```", README, re.DOTALL)
    assert len(shown) == 2
    printed = {line.rstrip() for line in done.stdout.splitlines()}
    assert [line for block in shown for line in block.splitlines() if line not in printed] == []
    assert "correct-horse" not in output
    assert "a-new-and-longer-password" not in output


def test_links_lead_to_files_that_exist() -> None:
    """`make site` checks the links of the pages in docs; the README is not one of them."""
    targets = re.findall(r"\]\(([^)#]+)\)", README)
    assert len(targets) > 10
    assert [target for target in targets if not (ROOT / target).exists()] == []
