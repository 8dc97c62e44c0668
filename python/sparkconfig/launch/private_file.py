"""A file in memory, without a name: it is gone with its last holder, also after a kill."""

from __future__ import annotations

import fcntl
import os

from sparkconfig.errors import ConfigurationError

__all__ = ["PrivateFile"]


class PrivateFile:
    """Bytes in memory that this process, and processes of the same user below it, can read by a path.

    The path leads through ``/proc/PID/fd``: the file ends with this process, however that ends, and no other user may
    open it. Nothing can change it. It is on no disk, as long as the machine does not swap.

    Args:
        content: what it holds.

    Raises:
        ConfigurationError: this system has no such files.
    """

    def __init__(self, content: bytes) -> None:
        try:
            self._descriptor = os.memfd_create("sparkconfig", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        except (AttributeError, OSError):
            self._descriptor = -1
        if self._descriptor < 0:
            raise ConfigurationError(
                "this system has no files in memory (memfd_create), so no values are written"
            )
        os.fchmod(self._descriptor, 0o600)
        left = memoryview(content)
        while left:
            left = left[os.write(self._descriptor, left) :]
        seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        fcntl.fcntl(self._descriptor, fcntl.F_ADD_SEALS, seals)
        os.fchmod(self._descriptor, 0o400)

    @property
    def path(self) -> str:
        """Where processes below this one find it."""
        return f"/proc/{os.getpid()}/fd/{self._descriptor}"

    def close(self) -> None:
        """End it."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
