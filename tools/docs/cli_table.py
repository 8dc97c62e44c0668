"""The list of the commands of the command line, from their modules, for tools/docs/generate.py."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from sparkconfig.cli.main import commands


def lines() -> Iterator[str]:
    """Return the list, line by line."""
    for name, text in commands().items():
        module = importlib.import_module(f"sparkconfig.cli.{name}")
        page = getattr(module, "PAGE", "")
        shown = f"[`{name}`]({page})" if page else f"`{name}`"
        yield f"- {shown}: {text}"
