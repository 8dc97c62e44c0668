"""Tracebacks of a notebook: a real kernel shows them masked, and all others as they are."""

import json
import os
import re
from pathlib import Path

from support.notebook import needs_kernel, run_cells

VALUE = "notebook-canary-4c1e-value"
FIRST = f"""
import logging
import sparkconfig.redaction
from sparkconfig.redaction import REGISTRY
sparkconfig.redaction.install()
sparkconfig.redaction.install()
REGISTRY.register(["{VALUE[:9]}" + "{VALUE[9:]}"])
value = "{VALUE[:9]}" + "{VALUE[9:]}"
"""


def plain(messages):
    return re.sub(r"\\u001b\[[0-9;]*m", "", json.dumps(messages))


@needs_kernel
def test_tracebacks_are_masked(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "python")}
    cells = [FIRST, "raise ValueError(f'no connection with {value}')", "1 / 0", "logging.error(value)"]
    messages = run_cells(cells, folder=tmp_path, env=environment)
    text = plain(messages)
    assert VALUE not in text
    assert "no connection with ***" in text, "the rest of the message stays"
    replies = [each for each in messages if each.get("status") in ("ok", "error")]
    assert [each["status"] for each in replies] == ["ok", "error", "error", "ok"]
    assert [each["ename"] for each in replies[1:3]] == ["ValueError", "ZeroDivisionError"]
    assert replies[2]["evalue"] == "division by zero"
