"""Read a whole file of confs, rules or statements: no more than it may have, without waiting for a writer."""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path

__all__ = ["LARGEST", "read"]

LARGEST = 16 << 20
"""Bytes of a file. Without a limit, ``/dev/zero`` would fill the memory."""

# What a shell passes for "<(command)", and standard input: the caller knows who writes.
_OWN = re.compile(r"/dev/stdin|/(?:dev|proc/self)/fd/\d+")


def read(path: Path, most: int = LARGEST) -> bytes:
    """Return all of a file.

    Args:
        path: the file; devices and this process's own descriptors are read, too.
        most: bytes that it may have.

    Raises:
        OSError: it cannot be read. EFBIG: it has more than ``most`` bytes; EINVAL: it is a named pipe, which may
            never have a writer.
    """
    # O_NONBLOCK: opening a named pipe must not wait for a writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with open(descriptor, "rb") as stream:  # noqa: PTH123 - a descriptor, not a path
        kind = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if stat.S_ISFIFO(kind) and _OWN.fullmatch(str(path)) is None:
            raise OSError(errno.EINVAL, "it is a named pipe; name a file", str(path))
        os.set_blocking(descriptor, True)
        content = stream.read(most + 1)
    if len(content) > most:
        size = f"{most >> 20} MiB" if most >= 1 << 20 else f"{most} bytes"
        raise OSError(errno.EFBIG, f"it has more than {size}; is it the right file?", str(path))
    return content
