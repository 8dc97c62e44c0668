"""The tools that say what of a Spark is undecided."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def undecided(tool: Path, spark: Path, *arguments: str) -> list[str]:
    """Lines of Spark that no surface file decides, as a tool prints them."""
    done = subprocess.run(
        [sys.executable, str(tool), "--pyspark", str(spark), *arguments],
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == (1 if done.stdout else 0), done.stderr
    return done.stdout.splitlines()
