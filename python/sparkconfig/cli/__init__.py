"""The command ``sparkconfig``, one module a subcommand. They import what they need when they run."""

from sparkconfig.cli.main import main

__all__ = ["main"]
