"""A Python whose wall clock a run sets: a library of forty lines (``clock.c``) in front of the C library.

libfaketime 0.9.10, which Debian has, is not used: with it each ``time.sleep`` of Python 3.11 fails with EINVAL.
"""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
from pathlib import Path

_SOURCE = Path(__file__).with_name("clock.c")


class Clock:
    """The wall clock of side processes; that of schedules, CLOCK_MONOTONIC, stays what it is."""

    def __init__(self, folder: Path) -> None:
        """Make the interpreter; without a C compiler it has the machine's clock."""
        self._file = folder / "clock"
        self._file.write_bytes(bytes(8))
        self.python = folder / "python-with-a-clock"
        library = folder / "clock.so"
        variables = ""
        if compiler := shutil.which("cc"):
            subprocess.run([compiler, "-O2", "-shared", "-fPIC", "-o", library, _SOURCE, "-ldl"], check=True)
            variables = f"LD_PRELOAD={library} HISTORY_CLOCK={self._file} "
        self.python.write_text(f'#!/bin/sh\nexec env {variables}{sys.executable} "$@"\n')
        self.python.chmod(0o700)

    def set(self, seconds: int) -> None:
        """Put it forward by so many seconds, at once."""
        with self._file.open("r+b") as file:
            file.write(struct.pack("=q", seconds))
