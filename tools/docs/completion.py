"""Write, with shtab, the scripts that ``sparkconfig completion`` prints: ``python tools/docs/completion.py``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import shtab

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))

from sparkconfig.cli.completion import SHELLS  # noqa: E402 - this checkout's
from sparkconfig.cli.main import parser  # noqa: E402 - this checkout's


def with_files(top: argparse.ArgumentParser) -> argparse.ArgumentParser:
    """Let every option that takes a path complete the names of files."""
    for action in top._actions:  # noqa: SLF001 - argparse has no other way to them
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for inner in action.choices.values():
                with_files(inner)
        elif action.type is Path:
            action.complete = shtab.FILE  # type: ignore[attr-defined] # shtab's own
    return top


for shell in SHELLS:
    script = shtab.complete(with_files(parser()), shell=shell)
    target = ROOT / "python" / "sparkconfig" / "data" / f"completion.{shell}.txt"
    target.write_text(script.rstrip("\n") + "\n", encoding="utf-8")
