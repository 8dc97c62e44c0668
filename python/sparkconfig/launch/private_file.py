"""A file in memory, without a name: it is gone with its last holder, also after a kill."""

from __future__ import annotations

import fcntl
import os

from sparkconfig.errors import ConfigurationError

__all__ = ["private_file"]


def private_file(content: bytes) -> str:
    """Put bytes in memory, and return a path for this process, what it becomes, and processes of the same user.

    The path leads through ``/proc/PID/fd``: the file ends with this process, however that ends, and no other user may
    open it. Nothing can change it. It is on no disk, as long as the machine does not swap.

    Raises:
        ConfigurationError: this system has no such files.
    """
    try:
        descriptor = os.memfd_create("sparkconfig", os.MFD_ALLOW_SEALING)
    except (AttributeError, OSError):
        descriptor = -1
    if descriptor < 0:
        raise ConfigurationError(
            "this system has no files in memory (memfd_create), so no values are written"
        )
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    os.fchmod(descriptor, 0o400)
    return f"/proc/{os.getpid()}/fd/{descriptor}"
