"""Paths without symbolic links: where a path really leads, and opening just that."""

from __future__ import annotations

import errno
import os

__all__ = ["is_below", "open_below", "real_path"]

_ATTEMPTS = 10
_MOVED = (errno.EINVAL, errno.ENOENT, errno.ENOTDIR)
"""What ``realpath`` fails with where a link was replaced between its looking at it and following it."""
_STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""O_PATH, where there is one, needs no more than the right to go through a directory."""


def is_below(path: str, root: str) -> bool:
    """Whether a normalised path is ``root``, or lies below it."""
    return path == root or path.startswith(root if root.endswith("/") else root + "/")


def real_path(path: str) -> str:
    """Return a path with all its links followed.

    Raises:
        OSError: a link cannot be followed. ESTALE: links on the way keep changing.
        ValueError: no file can have such a name.
    """
    for _ in range(_ATTEMPTS):
        try:
            return os.path.realpath(path)
        except OSError as error:
            if error.errno not in _MOVED:
                raise
    raise OSError(errno.ESTALE, "changes while it is looked up", path)


def open_below(root: str, real: str, flags: int) -> int:
    """Open what lies at a real path now, unless a link has come to stand on the way from ``root``.

    O_NOFOLLOW alone is about the last name only. So each name is opened in the directory that was opened before it:
    a user who may write below ``root`` cannot lead this out by swapping a directory for a link.

    Args:
        root: the real path of a file or directory.
        real: that path, or one below it.
        flags: as for ``os.open``.

    Raises:
        OSError: as ``os.open``; ENOTDIR or ELOOP: a name is a link.
    """
    names = [name for name in real[len(root) :].split("/") if name]
    if not names:
        return os.open(root, flags | os.O_NOFOLLOW)
    directory = os.open(root, _STEP)
    try:
        for name in names[:-1]:
            inner = os.open(name, _STEP, dir_fd=directory)
            os.close(directory)
            directory = inner
        return os.open(names[-1], flags | os.O_NOFOLLOW, dir_fd=directory)
    finally:
        os.close(directory)
