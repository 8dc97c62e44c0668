"""The directories whose entries decide what a path leads to."""

from __future__ import annotations

import os
from collections.abc import Iterator

__all__ = ["places"]

_MOST_LINKS = 40
"""As Linux counts them: a path with more leads nowhere."""


def places(path: str) -> Iterator[tuple[str, str]]:
    """Yield directory and name of each link on the way, and in the end of what the path leads to, whether it exists.

    The directories are free of links themselves. After a path with a slash at its end the last name is empty: it stands
    for all that is in that directory.
    """
    # Not for others: the working directory may be gone.
    rest = _parts(path if path.startswith("/") else os.path.join(os.getcwd(), path))  # noqa: PTH109, PTH118 - texts
    at, links = "/", 0
    while rest:
        name = rest.pop()
        if name == "..":
            at = os.path.dirname(at)  # noqa: PTH120
            continue
        here = os.path.join(at, name)  # noqa: PTH118
        target = _target(here) if links < _MOST_LINKS else None
        if target is None:
            at = here
            continue
        yield at, name
        links += 1
        if target.startswith("/"):
            at = "/"
        rest += _parts(target)
    yield (at, "") if path.endswith("/") else os.path.split(at)


def _parts(path: str) -> list[str]:
    """The names in a path, the last one first."""
    return [part for part in reversed(path.split("/")) if part not in ("", ".")]


def _target(path: str) -> str | None:
    """What a link leads to; None: it is none, or there is nothing."""
    try:
        return os.readlink(path)  # noqa: PTH115
    except (OSError, ValueError):
        return None
