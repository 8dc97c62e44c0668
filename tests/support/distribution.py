"""The wheel and the sdist of a checkout, with the jars that ``make jar`` made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def build(folder: Path, root: Path = ROOT, **environ: str) -> None:
    """Build the wheel and the sdist of a checkout, or of a copy of one."""
    ready = ROOT / "python" / "sparkconfig" / "jars"
    assert list(ready.glob("sparkconfig_*.jar")), "there is no jar to put into the wheel; run 'make jar'"
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--sdist", "--outdir", str(folder), str(root)],
        env={**os.environ, "SPARKCONFIG_READY_JARS": str(ready), **environ},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
