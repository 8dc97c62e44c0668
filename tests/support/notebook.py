"""A real Jupyter kernel, and everything that it tells its notebook."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

_CLIENT = """
import json, sys
from jupyter_client.manager import start_new_kernel

manager, client = start_new_kernel(kernel_name="python3", startup_timeout=120)
try:
    messages = []
    for cell in json.load(sys.stdin):
        reply = client.execute_interactive(cell, timeout=250, output_hook=lambda m: messages.append(m["content"]))
        messages.append(reply["content"])
    print(json.dumps(messages))
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=True)
"""


needs_kernel = pytest.mark.skipif(sys.version_info < (3, 11), reason="ipykernel's newest needs Python 3.11")


def run_cells(cells: Sequence[str], *, folder: Path, env: Mapping[str, str]) -> list[dict[str, Any]]:
    """Run cells one after the other in a kernel of this environment; return the contents of all its messages."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _CLIENT], input=json.dumps(cells), cwd=folder,
        env={**env, "JUPYTER_PLATFORM_DIRS": "1", "IPYTHONDIR": str(folder), "HOME": str(folder)},
        capture_output=True, text=True, timeout=290, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    messages: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return messages
