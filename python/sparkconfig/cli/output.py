"""Results on standard output: lines for people, or one JSON object for machines."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence

from sparkconfig._base.text import escaped

__all__ = ["Output", "UnwritableError", "table"]


class UnwritableError(OSError):
    """Standard output takes no more, for example on a full disk."""


class Output:
    """Where a command puts its result and its errors. Texts of stores and applications are escaped for the terminal.

    Args:
        as_json: whether ``--json`` was given.
    """

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json

    def result(self, data: Mapping[str, object], lines: Iterable[str]) -> None:
        """Print the result once.

        Args:
            data: for machines; ``"ok": true`` is added unless it says otherwise.
            lines: for people, the same in words.
        """
        if self.as_json:
            import json

            _print(json.dumps({"ok": True, **data}, indent=2))
        else:
            for line in lines:
                _print(escaped(line))

    def failure(self, kind: str, message: str) -> None:
        """Report an error: its text on standard error, and with ``--json`` an object on standard output too."""
        if self.as_json:
            import json

            _print(json.dumps({"ok": False, "error": {"type": kind, "message": message}}, indent=2))
        print(f"sparkconfig: {escaped(message)}", file=sys.stderr)


def _print(text: str) -> None:
    try:
        print(text)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UnwritableError(error.errno, error.strerror) from None


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table with columns as wide as needed."""
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    ruled = [header, ["-" * width for width in widths], *rows]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in ruled
    ]
