"""What to install, said so that it is right where it is read."""

from __future__ import annotations

from pathlib import Path

from sparkconfig._base.version import __version__

__all__ = ["install"]


def install(extra: str) -> str:
    """Return the command that brings what an extra names.

    In an environment without the package, which runs from the jar, the wheel has to be named as a file: pip would ask
    PyPI for any other name.
    """
    installed = Path(__file__).is_file()
    package = "sparkconfig" if installed else f"./sparkconfig-{__version__}-py3-none-any.whl"
    return f"pip install '{package}[{extra}]'"
